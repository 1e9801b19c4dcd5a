package activities

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	if repo.Has(ctx, ws.From.Commit) && repo.Has(ctx, ws.Base.Commit) {
		return repo, nil
	}
	if !ws.Shared {
		return nil, fmt.Errorf("the run's repository %s has lost the snapshot %s", RepoDir(a.StateDir, ws.RunID), ws.From.Commit)
	}
	return repo, a.fetch(ctx, repo, ws.RunID)
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

// packKey is where the objects of a step stand in the store.
func packKey(runID, step string) string { return "runs/" + runID + "/git/" + step }

// fetch imports every pack of the run, in step order.
func (a *Activities) fetch(ctx context.Context, repo *gitrepo.RunRepo, runID string) error {
	keys, err := a.Store.Keys(ctx, "runs/"+runID+"/git")
	if err != nil {
		return err
	}
	if len(keys) == 0 {
		return errors.New("the store holds no objects of this run: starter and workers must name the same store (--store or CONCLAVE_STORE)")
	}
	for _, key := range keys {
		var ref artifact.Ref
		if err := a.readKey(ctx, key, &ref); err != nil {
			return err
		}
		pack, err := a.Store.Get(ctx, ref)
		if err != nil {
			return err
		}
		if err := repo.Import(ctx, bytes.NewReader(pack)); err != nil {
			return err
		}
	}
	return nil
}

// publish puts a step's new objects into the store, for workers elsewhere.
func (a *Activities) publish(ctx context.Context, repo *gitrepo.RunRepo, runID, step string, want, have []string) error {
	var pack bytes.Buffer
	if err := repo.Pack(ctx, &pack, want, have); err != nil {
		return err
	}
	ref, err := a.Store.Put(ctx, pack.Bytes())
	if err != nil {
		return err
	}
	return a.writeKey(ctx, packKey(runID, step), ref)
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

// seatWorkspace is a throw-away checkout for one reviewer.
func (a *Activities) seatWorkspace(ctx context.Context, ws loop.Workspace, step string, attempt int) (*workspace, error) {
	repo, err := a.repository(ctx, ws)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(RunDir(a.StateDir, ws.RunID), "work", fmt.Sprintf("seat-%s-%d-%d", step, attempt, time.Now().UnixNano()))
	out := &workspace{repo: repo, dir: dir, fresh: true}
	err = repo.Checkout(ctx, ws.From.Commit, dir, agentGit(ws))
	if err == nil {
		err = a.putContract(ctx, ws, out)
	}
	if err != nil {
		_ = repo.Discard(dir)
		return nil, err
	}
	return out, nil
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
