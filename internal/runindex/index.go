package runindex

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// schema is the version of run.json that this code writes.
const schema = 1

// Entry is what a starter must know to find a run again.
type Entry struct {
	Schema     int    `json:"schema"`
	RunID      string `json:"run_id"`
	WorkflowID string `json:"workflow_id"`
	// Source is the root of the user's repository or folder, Bundle the run's folder below it.
	Source  string    `json:"source"`
	Bundle  string    `json:"bundle"`
	Title   string    `json:"title,omitempty"`
	Preset  string    `json:"preset,omitempty"`
	Created time.Time `json:"created"`
	// Address is empty for the local server of this state folder.
	Address   string `json:"address,omitempty"`
	Namespace string `json:"namespace"`
	TaskQueue string `json:"task_queue,omitempty"`
	// Store is the artifact store's folder, Config the file that was named by --config.
	Store  string `json:"store,omitempty"`
	Config string `json:"config,omitempty"`
}

// Local says that the run lives on the local server of its state folder.
func (e Entry) Local() bool { return e.Address == "" }

// Index is the runs of one state folder.
type Index struct{ state string }

// Open names the index of a state folder, which need not exist yet.
func Open(stateDir string) Index { return Index{state: stateDir} }

// StateDir is the state folder.
func (x Index) StateDir() string { return x.state }

// Dir is the folder of one run in the state folder.
func (x Index) Dir(runID string) string { return filepath.Join(x.state, "runs", runID) }

// Reserve makes a run's folder. The run is no run before Write.
func (x Index) Reserve(runID string) error {
	if err := os.MkdirAll(x.Dir(runID), 0o700); err != nil {
		return fmt.Errorf("state folder: %w", err)
	}
	return nil
}

// Write records a run, atomically: from now on it can be found.
func (x Index) Write(e Entry) error {
	e.Schema = schema
	dir := x.Dir(e.RunID)
	if err := x.Reserve(e.RunID); err != nil {
		return err
	}
	content, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return err
	}
	return replace(filepath.Join(dir, "run.json"), append(content, '\n'))
}

// startFile holds what a run is started with.
const startFile = "start.json"

// WriteStart keeps what the workflow is started with, so that a run whose
// starter died before that can still be started.
func (x Index) WriteStart(runID string, input any) error {
	content, err := json.Marshal(input)
	if err != nil {
		return err
	}
	return replace(filepath.Join(x.Dir(runID), startFile), content)
}

// ReadStart reads what WriteStart kept.
func (x Index) ReadStart(runID string, into any) error {
	path := filepath.Join(x.Dir(runID), startFile)
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Forget removes a run's folder from the state folder, for a run that never started.
func (x Index) Forget(runID string) error { return os.RemoveAll(x.Dir(runID)) }

func replace(path string, content []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return fmt.Errorf("state folder: %w", err)
	}
	_, err = tmp.Write(content)
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
		return fmt.Errorf("state folder: %w", err)
	}
	return nil
}

// Read reads one run's entry.
func (x Index) Read(runID string) (Entry, error) {
	return read(filepath.Join(x.Dir(runID), "run.json"))
}

func read(path string) (Entry, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return Entry{}, err
	}
	var e Entry
	if err := json.Unmarshal(content, &e); err != nil {
		return Entry{}, fmt.Errorf("%s: %w", path, err)
	}
	if e.Schema > schema {
		return Entry{}, fmt.Errorf("%s was written by a newer starter (schema %d, this one reads %d): use that one", path, e.Schema, schema)
	}
	if e.RunID == "" {
		return Entry{}, fmt.Errorf("%s names no run", path)
	}
	return e, nil
}

// List gives every run, newest first. Folders without a readable entry are left out.
func (x Index) List() ([]Entry, error) {
	dirs, err := os.ReadDir(filepath.Join(x.state, "runs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	var all []Entry
	for _, dir := range dirs {
		if e, err := x.Read(dir.Name()); err == nil {
			all = append(all, e)
		}
	}
	newestFirst(all)
	return all, nil
}

// Bundles gives the runs whose bundles lie below root, newest first. What
// their server was is not known.
func Bundles(root string) []Entry {
	base := filepath.Join(root, ".conclave", "runs")
	dirs, err := os.ReadDir(base)
	if err != nil {
		return nil
	}
	var all []Entry
	for _, dir := range dirs {
		bundle := filepath.Join(base, dir.Name())
		content, err := os.ReadFile(filepath.Join(bundle, "run.json"))
		if err != nil {
			continue
		}
		var run struct {
			RunID     string    `json:"run_id"`
			Workflow  string    `json:"workflow_id"`
			Preset    string    `json:"preset"`
			StartedAt time.Time `json:"started_at"`
		}
		if json.Unmarshal(content, &run) == nil && run.RunID == dir.Name() {
			all = append(all, Entry{RunID: run.RunID, WorkflowID: run.Workflow, Source: root, Bundle: bundle, Preset: run.Preset, Created: run.StartedAt})
		}
	}
	newestFirst(all)
	return all
}

func newestFirst(all []Entry) {
	slices.SortFunc(all, func(a, b Entry) int {
		return cmp.Or(b.Created.Compare(a.Created), strings.Compare(a.RunID, b.RunID))
	})
}
