package activities

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"conclave/internal/gitrepo"
	"conclave/internal/guard"
	"conclave/internal/loop"
)

// seatWorkspace is a throw-away checkout for one reader: the snapshot, in which agents' instruction files, their folders
// of settings and conclave.yaml are the base's. A writer's words never instruct its reviewer; the diff shows them.
func (a *Activities) seatWorkspace(ctx context.Context, ws loop.Workspace, step string, attempt int, at time.Time) (*workspace, error) {
	repo, err := a.repository(ctx, ws)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(RunDir(a.StateDir, ws.RunID), "work", fmt.Sprintf("seat-%s-%d-%d", step, attempt, time.Now().UnixNano()))
	out := &workspace{repo: repo, dir: dir, fresh: true, commit: ws.From.Commit}
	if ws.From.Commit != ws.Base.Commit {
		if out.changed, err = repo.Changes(ctx, ws.Base.Commit, ws.From.Commit); err != nil {
			return nil, err
		}
		foreign, err := instructions(ctx, repo, ws.Base.Commit, out.changed)
		if err != nil {
			return nil, err
		}
		if out.commit, err = repo.Undo(ctx, ws.From.Commit, foreign, at); err != nil {
			return nil, err
		}
	}
	git := agentGit(ws)
	if out.commit != ws.From.Commit { // what the writer made of those files can still be read
		git.AgentRefs["refs/heads/change"] = ws.From.Commit
	}
	err = repo.Checkout(ctx, out.commit, dir, git)
	if err == nil {
		err = a.putContract(ctx, ws, out)
	}
	if err != nil {
		_ = repo.Discard(dir)
		return nil, err
	}
	return out, nil
}

// instructions picks the changes that would instruct an agent: those of instruction files, and of what the base's
// instruction files of the root link to or import.
func instructions(ctx context.Context, repo *gitrepo.RunRepo, base string, changed []gitrepo.Change) ([]gitrepo.Change, error) {
	var out []gitrepo.Change
	var rest []gitrepo.Change
	for _, c := range changed {
		if guard.Instructs(c.Path) {
			out = append(out, c)
		} else {
			rest = append(rest, c)
		}
	}
	if len(rest) == 0 {
		return out, nil
	}
	named, err := imports(ctx, repo, base)
	if err != nil {
		return nil, err
	}
	for _, c := range rest {
		if named[c.Path] {
			out = append(out, c)
		}
	}
	return out, nil
}

// importers are the files of the root that agents read first.
var importers = []string{"CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", "AGENTS.md", "GEMINI.md"}

// importDepth is how deep agents follow imports.
const importDepth = 5

// imported is "@path" at the start of a word, as claude and gemini read it.
var imported = regexp.MustCompile(`(?:^|\s)@(\.{0,2}/?[\w.+-][\w./+-]*)`)

// imports are the paths that the base's instruction files take in, by a link or by an import.
func imports(ctx context.Context, repo *gitrepo.RunRepo, base string) (map[string]bool, error) {
	named := map[string]bool{}
	next, err := repo.Files(ctx, base, importers)
	for depth := 0; err == nil && depth < importDepth && len(next) > 0; depth++ {
		var names []string
		for _, file := range next {
			for _, name := range takenIn(file) {
				name = path.Join(path.Dir(file.Path), name)
				if filepath.IsLocal(name) && !named[name] {
					named[name] = true
					names = append(names, name)
				}
			}
		}
		if next = nil; len(names) > 0 {
			next, err = repo.Files(ctx, base, names)
		}
	}
	return named, err
}

// prose are the endings of files that instruct; an import of code only shows it, and a reviewer needs the change's.
var prose = []string{".md", ".mdc", ".mdx", ".txt", ".rst", ".adoc", ""}

// takenIn are the names that a file takes in, relative to its folder.
func takenIn(file gitrepo.TreeFile) []string {
	if file.Link {
		return []string{string(file.Content)}
	}
	var names []string
	for _, match := range imported.FindAllSubmatch(file.Content, mostImports) {
		if name := string(match[1]); slices.Contains(prose, strings.ToLower(path.Ext(name))) {
			names = append(names, name)
		}
	}
	return names
}

// mostImports bounds the imports of one file.
const mostImports = 200
