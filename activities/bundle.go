package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"conclave/internal/artifact"
	"conclave/internal/gitrepo"
	"conclave/internal/loop"
	"conclave/internal/record"
	"conclave/internal/report"
)

// bundleFolder holds what runs left, at the root of their source.
const bundleFolder = ".conclave"

// BundleDir is where a run's bundle stands below the root of its source.
func BundleDir(root, runID string) string {
	return filepath.Join(root, bundleFolder, "runs", runID)
}

// BundleNow writes the bundle from a record, and clears the workspaces of a run
// that has ended.
func (a *Activities) BundleNow(ctx context.Context, req *loop.BundleRequest, status record.Status) error {
	if err := a.admitSource(req.RunID, req.Source); err != nil {
		return err
	}
	source, err := gitrepo.OpenSource(ctx, req.Source.Dir)
	if err != nil {
		return err
	}
	requirement, err := a.Store.Get(ctx, req.Requirement)
	if err != nil {
		return err
	}
	requirement = a.secrets.Redact(requirement)
	if err := a.Complete(ctx, &status); err != nil {
		return err
	}
	if err := report.Write(ctx, BundleDir(source.Root(), req.RunID), status, a.Store.Get, requirement, report.WithCopy(a.CopyArtifact)); err != nil {
		return fmt.Errorf("bundle: %w", err)
	}
	if status.Run.Stop.Final() {
		a.clearWork(req.RunID)
	}
	return nil
}

// Complete adds to a run's status what its workflow holds by name only, or elsewhere: the changed paths, the definition's file.
func (a *Activities) Complete(ctx context.Context, status *record.Status) error {
	if err := a.fillChanged(ctx, &status.Run); err != nil {
		return err
	}
	var err error
	status.Run.Artifacts["definition.json"], err = a.Store.Put(ctx, status.Definition)
	return err
}

// CopyArtifact writes an artifact without holding it in memory. Its digest is not checked.
func (a *Activities) CopyArtifact(ctx context.Context, ref artifact.Ref, w io.Writer) error {
	content, err := a.Store.Open(ctx, ref)
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }()
	_, err = io.Copy(w, content)
	return err
}

// fillChanged reads the list of changed paths back: it may be long, so the
// workflow holds its name only.
func (a *Activities) fillChanged(ctx context.Context, run *record.Run) error {
	if run.Artifacts == nil {
		run.Artifacts = map[string]artifact.Ref{}
	}
	ref, ok := run.Artifacts["changed.json"]
	if !ok || ref.IsZero() {
		return nil
	}
	raw, err := a.Store.Get(ctx, ref)
	if err != nil {
		return err
	}
	delete(run.Artifacts, "changed.json")
	return json.Unmarshal(raw, &run.Changed)
}

// clearWork removes the workspaces and streams of an ended run; its repository
// stays for `apply`. Trouble with it is no reason to lose a bundle that is
// written: `starter doctor` lists leftovers.
func (a *Activities) clearWork(runID string) {
	a.clearTemporary(runID)
	for _, name := range []string{"work", "turns", homeFolder} {
		_ = gitrepo.RemoveTree(filepath.Join(RunDir(a.StateDir, runID), name))
	}
	streams, _ := filepath.Glob(filepath.Join(RunDir(a.StateDir, runID), streamPrefix+"*")) // of killed workers
	for _, stream := range streams {
		_ = os.Remove(stream)
	}
	_ = os.Remove(a.writerStateFile(runID))
	_ = os.Remove(a.sessionFile(runID))
}
