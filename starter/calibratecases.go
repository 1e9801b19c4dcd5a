package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"conclave/config"
	"conclave/internal/calibration"
	"conclave/internal/gitrepo"
)

const (
	// caseBytes bounds the files of one case.
	caseBytes = 16 << 20
	// caseTimeout bounds one call of git.
	caseTimeout = time.Minute
)

// labelled is a case with the repository that holds its change as two commits.
type labelled struct {
	calibration.Case
	dir        string
	source     *gitrepo.Source
	base, head gitrepo.Commit
}

// readCases reads the cases of some folders, each of which is one or holds some.
func readCases(folders []string) ([]labelled, error) {
	var cases []labelled
	var problems []error
	seen := map[string]string{}
	for _, folder := range folders {
		dirs, err := caseFolders(folder)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		for _, dir := range dirs {
			c, err := readCase(dir)
			if err != nil {
				problems = append(problems, faultsOf(err)...)
				continue
			}
			if other, ok := seen[c.Name]; ok {
				problems = append(problems, config.Problem{What: fmt.Sprintf("%s: the name %s is that of %s", filepath.Join(dir, calibration.CaseFile), c.Name, other), Remedy: "give each case a name of its own"})
				continue
			}
			seen[c.Name] = dir
			cases = append(cases, c)
		}
	}
	return cases, errors.Join(problems...)
}

// caseFolders is the folder itself where it is a case, else the cases in it.
func caseFolders(folder string) ([]string, error) {
	if _, err := os.Stat(filepath.Join(folder, calibration.CaseFile)); err == nil {
		return []string{folder}, nil
	}
	found, _ := filepath.Glob(filepath.Join(escapeGlob(folder), "*", calibration.CaseFile))
	var dirs []string
	for _, file := range found {
		dirs = append(dirs, filepath.Dir(file))
	}
	if len(dirs) == 0 {
		return nil, config.Problem{What: folder + " is no case and holds none: there is no " + calibration.CaseFile, Remedy: "name a folder with a " + calibration.CaseFile + ", or one of such folders"}
	}
	return dirs, nil
}

// escapeGlob takes the meaning from the marks of a pattern. A backslash parts folders on some systems, so it stays.
func escapeGlob(path string) string {
	return strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]").Replace(path)
}

func readCase(dir string) (labelled, error) {
	file := filepath.Join(dir, calibration.CaseFile)
	content, err := os.ReadFile(file)
	if err != nil {
		return labelled{}, err
	}
	c, err := calibration.Parse(file, content)
	if err != nil {
		return labelled{}, err
	}
	files := map[string][]byte{calibration.CaseFile: content}
	for _, part := range []string{c.Base, c.Head, c.Diff} {
		if part == "" {
			continue
		}
		if err := collect(dir, part, files); err != nil {
			return labelled{}, fmt.Errorf("%s: %w", file, err)
		}
	}
	c.Digest = calibration.Digest(files)
	return labelled{Case: c, dir: dir}, nil
}

// collect reads every file below a part of a case.
func collect(dir, part string, into map[string][]byte) error {
	size := 0
	return filepath.WalkDir(filepath.Join(dir, filepath.FromSlash(part)), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("%s cannot be read: %w", part, err)
		case entry.IsDir():
			return nil
		case !entry.Type().IsRegular():
			return fmt.Errorf("%s is no plain file", path)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if size += len(content); size > caseBytes {
			return fmt.Errorf("%s holds more than %d bytes", part, caseBytes)
		}
		name, err := filepath.Rel(dir, path)
		into[filepath.ToSlash(name)] = content
		return err
	})
}

// build makes a repository of the case: one commit before the change, one after it.
func (c *labelled) build(ctx context.Context, below string) error {
	dir := filepath.Join(below, c.Name)
	g := caseGit{dir: dir}
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(c.dir, filepath.FromSlash(c.Base)))); err != nil {
		return fmt.Errorf("case %s: %w", c.Name, err)
	}
	g.run(ctx, "init", "-q", "--template=")
	g.commit(ctx, "base")
	if c.Diff != "" {
		patch, err := filepath.Abs(filepath.Join(c.dir, filepath.FromSlash(c.Diff)))
		if err != nil {
			return err
		}
		g.run(ctx, "apply", "--index", "--whitespace=nowarn", patch)
	} else if g.err == nil {
		g.err = replaceTree(dir, filepath.Join(c.dir, filepath.FromSlash(c.Head)))
	}
	g.commit(ctx, "change")
	if g.err != nil {
		return usage("correct the case: its change has to apply to its base", "case %s (%s): %v", c.Name, c.dir, g.err)
	}
	return c.open(ctx, dir)
}

func (c *labelled) open(ctx context.Context, dir string) error {
	var err error
	if c.source, err = gitrepo.OpenSource(ctx, dir); err != nil {
		return sourceFault(err)
	}
	if c.head, err = c.source.Resolve(ctx, "HEAD"); err != nil {
		return sourceFault(err)
	}
	if c.base, err = c.source.Resolve(ctx, "HEAD~1"); err != nil {
		return sourceFault(err)
	}
	if c.base.Tree == c.head.Tree {
		return usage("let the change change something", "case %s (%s): base and change have the same files", c.Name, c.dir)
	}
	return c.checkExpected(dir)
}

// checkExpected refuses faults at places that do not exist: nobody can find them, and a good reviewer would look blind.
// dir holds the tree after the change.
func (c *labelled) checkExpected(dir string) error {
	for i, e := range c.Expected {
		where := fmt.Sprintf("%s: expect[%d]", filepath.Join(c.dir, calibration.CaseFile), i)
		content, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(e.Path)))
		if err != nil { // what the change deletes
			content, err = os.ReadFile(filepath.Join(c.dir, filepath.FromSlash(c.Base), filepath.FromSlash(e.Path)))
		}
		if err != nil {
			return usage("name a file of the case, relative to its tree", "%s.path: %s is neither in the tree after the change nor in the one before it", where, e.Path)
		}
		if lines := bytes.Count(append(bytes.TrimSuffix(content, []byte("\n")), '\n'), []byte("\n")); e.From > lines {
			return usage("count the lines of the changed file", "%s.lines: %s has %d lines", where, e.Path, lines)
		}
	}
	return nil
}

// replaceTree puts a tree in place of what a repository has checked out.
func replaceTree(dir, with string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == ".git" {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return os.CopyFS(dir, os.DirFS(with))
}

// caseGit runs git in a case's repository, without the user's configuration and hooks. After an error it does nothing.
type caseGit struct {
	dir string
	err error
}

func (g *caseGit) run(ctx context.Context, args ...string) {
	if g.err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, caseTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.hooksPath=" + os.DevNull, "-c", "core.autocrlf=false", "-c", "commit.gpgSign=false", "-c", "gc.auto=0"}, args...)...)
	cmd.Dir = g.dir
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "GIT_") {
			cmd.Env = append(cmd.Env, entry)
		}
	}
	cmd.Env = append(cmd.Env, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CEILING_DIRECTORIES="+filepath.Dir(g.dir),
		"GIT_AUTHOR_NAME=conclave", "GIT_AUTHOR_EMAIL=conclave@localhost", "GIT_COMMITTER_NAME=conclave", "GIT_COMMITTER_EMAIL=conclave@localhost")
	if out, err := cmd.CombinedOutput(); err != nil {
		g.err = fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
	}
}

// commit commits everything, also what an ignore file names: the case's author put it there.
func (g *caseGit) commit(ctx context.Context, message string) {
	g.run(ctx, "add", "-A", "--force")
	g.run(ctx, "commit", "-q", "--allow-empty", "-m", message)
}
