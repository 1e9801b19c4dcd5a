// Package report renders the bundle of a run: everything that the run left, as
// files for people and programs, made from one run record and the store.
package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"time"

	"conclave/internal/record"
)

// Option changes how Write works.
type Option func(*settings)

type settings struct{ copy Copy }

// WithCopy lets Write stream artifacts instead of holding each in memory.
func WithCopy(c Copy) Option { return func(s *settings) { s.copy = c } }

// runs is where bundles stand below the root of a repository.
const runs = ".conclave/runs"

// Write rebuilds the whole bundle of a run. dir is its folder,
// <root>/.conclave/runs/<run id>; nothing is written outside <root>.
// requirement is the whole text; nil leaves what the record holds. Files that
// are right already are not touched, each other one is replaced atomically. An
// artifact that the store does not have (fs.ErrNotExist) or has damaged becomes
// a note in the report; another error of get is returned after everything else
// was written. run.json is written last.
func Write(ctx context.Context, dir string, s record.Status, get Get, requirement []byte, options ...Option) error {
	set := settings{copy: copyBy(get)}
	for _, option := range options {
		option(&set)
	}
	run := complete(s.Run, requirement)
	root, err := rootOf(dir, run.RunID)
	if err != nil {
		return err
	}
	out, err := openFolder(root, runs+"/"+run.RunID)
	if err != nil {
		return err
	}
	defer out.close()
	out.sweep(time.Now())
	if err := ignoreAll(out); err != nil {
		return err
	}
	artifacts := &collector{folder: out, copy: set.copy}
	if err := artifacts.run(ctx, run); err != nil {
		return err
	}
	claims, notes, failed := wholeClaims(ctx, get, run)
	if err := writeOwn(out, run, s.Events, append(artifacts.notes, notes...), claims); err != nil {
		return err
	}
	return errors.Join(append(artifacts.failed, failed...)...)
}

// rootOf is the repository's root for a bundle's folder.
func rootOf(dir, runID string) (string, error) {
	if !fs.ValidPath(runID) || runID == "." || strings.ContainsAny(runID, "/\\") {
		return "", fmt.Errorf("bundle: the run id %q is no file name", runID)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("bundle: %w", err)
	}
	root, ok := strings.CutSuffix(abs, string(filepath.Separator)+filepath.FromSlash(runs+"/"+runID))
	if !ok {
		return "", fmt.Errorf("bundle: %s is not a folder %s/%s of a repository", dir, runs, runID)
	}
	return root + string(filepath.Separator), nil
}

// ignoreAll keeps bundles out of the user's `git status`.
func ignoreAll(out *folder) error {
	up := &folder{root: out.root, dir: path.Dir(path.Dir(out.dir))}
	return up.write(".gitignore", []byte("*\n"))
}

// writeOwn writes the files that are rendered from the record.
func writeOwn(out *folder, run record.Run, events []json.RawMessage, missing []string, claims map[string][]claim) error {
	log, err := eventLines(events)
	if err != nil {
		return err
	}
	files := []struct {
		name    string
		content []byte
	}{
		{"events.jsonl", log},
		{"findings.json", asJSON(run.Findings)},
		{"rulings.json", asJSON(run.Rulings)},
		{"changed-files.txt", changedFiles(run.Changed)},
		{"plan.md", plan(run, out.definition())},
		{"report.md", markdown(run, missing, excerpts(out, run), claims)},
		{"run.json", asJSON(run)},
	}
	if _, ok := run.Artifacts["changes.diff"]; !ok {
		if err := out.write("changes.diff", nil); err != nil {
			return err
		}
	}
	for _, file := range files {
		if err := out.write(file.name, file.content); err != nil {
			return err
		}
	}
	return nil
}

// complete is the record as run.json holds it: with the whole requirement, and
// lists that are empty rather than null.
func complete(run record.Run, requirement []byte) record.Run {
	if requirement != nil {
		run.Requirement = strings.ToValidUTF8(string(requirement), "\uFFFD")
	}
	run.Steps = list(run.Steps)
	run.Rulings = list(run.Rulings)
	run.Refused = list(run.Refused)
	run.Changed = list(run.Changed)
	findings := make([]record.Finding, len(run.Findings))
	for i, f := range run.Findings {
		f.Evidence, f.RaisedBy, f.History = list(f.Evidence), list(f.RaisedBy), list(f.History)
		findings[i] = f
	}
	run.Findings = findings
	return run
}

func list[T any](in []T) []T {
	if in == nil {
		return []T{}
	}
	return in
}

// asJSON is v indented for readers. Records hold nothing that cannot be written.
func asJSON(v any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(v); err != nil {
		panic(fmt.Sprintf("record: %v", err))
	}
	return out.Bytes()
}

func eventLines(events []json.RawMessage) ([]byte, error) {
	var out bytes.Buffer
	for i, event := range events {
		if err := json.Compact(&out, event); err != nil {
			return nil, fmt.Errorf("bundle: event %d is not JSON: %w", i+1, err)
		}
		out.WriteByte('\n')
	}
	return out.Bytes(), nil
}

// changedFiles lists the paths, one a line, with added and removed lines:
// `git diff --numstat` with the status in front.
func changedFiles(changes []record.Change) []byte {
	var out bytes.Buffer
	for _, c := range changes {
		added, removed := fmt.Sprint(c.Added), fmt.Sprint(c.Removed)
		if c.Binary {
			added, removed = "-", "-"
		}
		fmt.Fprintf(&out, "%s\t%s\t%s\t%s\n", c.Status, added, removed, pathLine(c.Path))
	}
	return out.Bytes()
}

// pathLine is a path on one line: quoted when it holds anything unusual.
func pathLine(p string) string {
	for _, r := range p {
		if r < ' ' || r == '"' || r == '\\' || r == 0x7f || r == '\uFFFD' {
			return fmt.Sprintf("%q", p)
		}
	}
	return p
}
