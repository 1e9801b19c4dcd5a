package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"conclave/internal/artifact"
	"conclave/internal/gitrepo"
	"conclave/internal/loop"
)

// contractFile is the design contract's place in a workspace.
const contractFile = "DESIGN_CONTRACT.md"

// workspace is one checkout of the run on this machine.
type workspace struct {
	repo *gitrepo.RunRepo
	dir  string
	// commit is what a reader's workspace holds: the snapshot, with the base's instruction files.
	commit string
	// changed is what a reader's snapshot changes against the base.
	changed []gitrepo.Change
	// fresh says that it holds nothing but the snapshot: no caches, no setup yet.
	fresh bool
	// ours are files that we put there and that are no part of the change.
	ours []string
}

// repository opens the run's own repository on this machine, and fetches what
// it lacks from the store when the run's objects travel through it.
func (a *Activities) repository(ctx context.Context, ws loop.Workspace) (*gitrepo.RunRepo, error) {
	repo, err := a.openRepository(ctx, ws)
	if err != nil {
		return nil, err
	}
	if ws.Shared {
		return repo, a.fetch(ctx, repo, ws)
	}
	if !repo.Has(ctx, ws.From.Commit) || !repo.Has(ctx, ws.Base.Commit) {
		return nil, fmt.Errorf("the run's repository %s has lost the snapshot %s", RepoDir(a.StateDir, ws.RunID), ws.From.Commit)
	}
	return repo, nil
}

// openRepository opens what PrepareRun made on this machine, or makes a
// repository that borrows from nobody.
func (a *Activities) openRepository(ctx context.Context, ws loop.Workspace) (*gitrepo.RunRepo, error) {
	dir := RepoDir(a.StateDir, ws.RunID)
	if isDir(dir) {
		return gitrepo.OpenRunRepo(ctx, dir)
	}
	excludes, err := a.Store.Get(ctx, ws.Excludes)
	if err != nil {
		return nil, err
	}
	return gitrepo.CreateRunRepo(ctx, gitrepo.RunRepoOptions{Dir: dir, Excludes: excludes, ObjectFormat: ws.ObjectFormat})
}

// packKey is where the objects of a step's commit stand in the store. An
// attempt that was given up may publish another commit of the same step: it
// hides nothing.
func packKey(runID, step, commit string) string {
	return "runs/" + runID + "/git/" + step + "-" + commit
}

// heldRef marks a commit whose objects are complete on this machine: whoever was
// killed while it fetched them may have left the commit without its files.
func heldRef(runID, commit string) string { return "refs/conclave/" + runID + "/held/" + commit }

// fetch imports the packs of the run that this machine lacks.
func (a *Activities) fetch(ctx context.Context, repo *gitrepo.RunRepo, ws loop.Workspace) error {
	held, err := heldCommits(ctx, repo, ws.RunID)
	if err != nil || held[ws.From.Commit] && held[ws.Base.Commit] {
		return err
	}
	keys, err := a.Store.Keys(ctx, "runs/"+ws.RunID+"/git")
	if err != nil {
		return err
	}
	for _, key := range keys {
		_, commit, _ := strings.Cut(path.Base(key), "-")
		if held[commit] {
			continue
		}
		if err := a.fetchPack(ctx, repo, key); err != nil {
			return err
		}
		if err := repo.SetRef(ctx, heldRef(ws.RunID, commit), commit); err != nil {
			return err
		}
		held[commit] = true
	}
	if !held[ws.From.Commit] || !held[ws.Base.Commit] {
		return fmt.Errorf("the store lacks objects of the snapshot %s: starter and workers must name the same store (--store or CONCLAVE_STORE)", ws.From.Commit)
	}
	return nil
}

// heldCommits are those that this machine made or fetched.
func heldCommits(ctx context.Context, repo *gitrepo.RunRepo, runID string) (map[string]bool, error) {
	refs, err := repo.Refs(ctx, "refs/conclave/"+runID+"/")
	held := map[string]bool{}
	for _, commit := range refs {
		held[commit] = true
	}
	return held, err
}

func (a *Activities) fetchPack(ctx context.Context, repo *gitrepo.RunRepo, key string) error {
	var ref artifact.Ref
	if err := a.readKey(ctx, key, &ref); err != nil {
		return err
	}
	pack, err := a.Store.Open(ctx, ref)
	if err != nil {
		return err
	}
	defer func() { _ = pack.Close() }()
	return repo.Import(ctx, pack)
}

// publish puts a step's new objects into the store, for workers elsewhere.
func (a *Activities) publish(ctx context.Context, repo *gitrepo.RunRepo, runID, step, commit string, have []string) error {
	ref, err := a.putStream(ctx, runID, func(w io.Writer) error { return repo.Pack(ctx, w, []string{commit}, have) })
	if err != nil {
		return err
	}
	return a.writeKey(ctx, packKey(runID, step, commit), ref)
}

// streamPrefix begins the name of a file that is on its way into the store.
const streamPrefix = "put-"

// putStream stores what is too long to be held in memory.
func (a *Activities) putStream(ctx context.Context, runID string, write func(io.Writer) error) (artifact.Ref, error) {
	file, err := os.CreateTemp(RunDir(a.StateDir, runID), streamPrefix)
	if err != nil {
		return artifact.Ref{}, err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	if err := errors.Join(write(file), file.Close()); err != nil {
		return artifact.Ref{}, err
	}
	return a.Store.PutFile(ctx, file.Name())
}

// agentGit is the .git that an agent sees: disposable, with the base as a branch.
func agentGit(ws loop.Workspace) gitrepo.CheckoutOptions {
	return gitrepo.CheckoutOptions{AgentGit: true, AgentRefs: map[string]string{"refs/heads/base": ws.Base.Commit}}
}

// writerState remembers the kept workspace between steps of one machine.
type writerState struct {
	Dir    string `json:"dir"`
	Commit string `json:"commit"`
	// Writing is set while the workspace is being made and set up, and while an
	// agent may be changing it: whoever finds it set must not trust the folder.
	Writing bool `json:"writing,omitempty"`
}

func (a *Activities) writerStateFile(runID string) string {
	return filepath.Join(RunDir(a.StateDir, runID), "writer.json")
}

// writerWorkspace is the run's kept workspace at the snapshot that the step
// starts from. It is rebuilt from the snapshot under a new name when it is not
// known to be clean, so that a writer that was given up cannot reach it.
func (a *Activities) writerWorkspace(ctx context.Context, ws loop.Workspace, step string, attempt int) (*workspace, error) {
	repo, err := a.repository(ctx, ws)
	if err != nil {
		return nil, err
	}
	file := a.writerStateFile(ws.RunID)
	var state writerState
	if err := readJSON(file, &state); err != nil {
		state = writerState{} // nothing is known of a workspace then; the snapshot is the truth
	}
	out := &workspace{repo: repo, dir: state.Dir}
	if state.Dir == "" || state.Writing || state.Commit != ws.From.Commit || !isDir(state.Dir) {
		if state.Dir != "" {
			if err := repo.Discard(state.Dir); err != nil {
				return nil, err
			}
		}
		out.dir = filepath.Join(RunDir(a.StateDir, ws.RunID), "work", fmt.Sprintf("writer-%s-%d-%d", step, attempt, time.Now().UnixNano()))
		out.fresh = true
		if err := a.markWriting(ws.RunID, out, ws.From.Commit, true); err != nil {
			return nil, err
		}
		if err := repo.Checkout(ctx, ws.From.Commit, out.dir, agentGit(ws)); err != nil {
			return nil, err
		}
	}
	if err := a.putContract(ctx, ws, out); err != nil {
		return nil, err
	}
	// Without its set-up a fresh workspace is not done.
	return out, a.markWriting(ws.RunID, out, ws.From.Commit, out.fresh && ws.Setup != "")
}

// markWriting notes that the workspace is about to change, or that it is now
// the given snapshot, set up.
func (a *Activities) markWriting(runID string, w *workspace, commit string, writing bool) error {
	return writeJSON(a.writerStateFile(runID), writerState{Dir: w.dir, Commit: commit, Writing: writing})
}

// putContract puts the design contract where agents and the verifier expect it.
// It is ours, and no part of the change, unless the base tracks such a file.
func (a *Activities) putContract(ctx context.Context, ws loop.Workspace, w *workspace) error {
	if ws.Contract.IsZero() {
		return nil
	}
	if _, tracked, err := w.repo.File(ctx, ws.Base.Commit, contractFile); err != nil || tracked {
		return err
	}
	text, err := a.Store.Get(ctx, ws.Contract)
	if err != nil {
		return err
	}
	w.ours = append(w.ours, contractFile)
	// Replaced, not written through: an agent may have left a link there.
	path := filepath.Join(w.dir, contractFile)
	if err := gitrepo.RemoveTree(path); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

func (a *Activities) readKey(ctx context.Context, key string, into any) error {
	raw, err := a.Store.Key(ctx, key)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("store key %s: %w", key, err)
	}
	return nil
}

func (a *Activities) writeKey(ctx context.Context, key string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("store key %s: %w", key, err)
	}
	return a.Store.SetKey(ctx, key, raw)
}

func readJSON(path string, into any) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%s is damaged: %w", path, err)
	}
	return nil
}

func writeJSON(path string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, raw, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}
