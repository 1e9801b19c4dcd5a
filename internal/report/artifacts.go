package report

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"conclave/internal/artifact"
	"conclave/internal/record"
)

// Get returns an artifact's content, or an error that wraps fs.ErrNotExist
// when the store does not have it.
type Get func(ctx context.Context, ref artifact.Ref) ([]byte, error)

// Copy writes an artifact's content without holding it in memory.
type Copy func(ctx context.Context, ref artifact.Ref, w io.Writer) error

// ownNames are the files of the bundle that are rendered here; no artifact may take their place.
var ownNames = []string{"plan.md", "report.md", "run.json", "changed-files.txt", "findings.json", "rulings.json", "events.jsonl", "agents"}

// collector copies artifacts into the bundle and keeps what it could not.
type collector struct {
	folder *folder
	copy   Copy
	// notes are for the report: artifacts that the bundle lacks.
	notes []string
	// failed are errors that a repetition may cure.
	failed []error
}

// run copies the run's and every step's artifacts. It returns an error when
// the bundle cannot be written or ctx ends; an artifact that cannot be had is noted.
func (c *collector) run(ctx context.Context, r record.Run) error {
	for _, name := range slices.Sorted(maps.Keys(r.Artifacts)) {
		if !fs.ValidPath(name) || strings.Contains(name, "/") || name == "." || slices.Contains(ownNames, name) {
			c.note("the run's artifact", name, errors.New("its name is not allowed"))
			continue
		}
		if err := c.artifact(ctx, name, r.Artifacts[name]); err != nil {
			return err
		}
	}
	for _, step := range r.Steps {
		if err := c.step(ctx, step); err != nil {
			return err
		}
	}
	return nil
}

func (c *collector) step(ctx context.Context, step record.Step) error {
	dir, ok := stepDir(step)
	if !ok {
		c.note("the folder of step", step.ID, errors.New("its name is not allowed"))
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(step.Artifacts)) {
		if !validName(name) {
			c.note(dir+"/", name, errors.New("its name is not allowed"))
			continue
		}
		if err := c.artifact(ctx, path.Join(dir, name), step.Artifacts[name]); err != nil {
			return err
		}
	}
	return nil
}

// stepDir is the step's folder in the bundle, if its name is one plain path element.
func stepDir(step record.Step) (string, bool) {
	name := step.Folder()
	if !fs.ValidPath(name) || name == "." || strings.ContainsAny(name, "/\\\x00") {
		return "", false
	}
	return "agents/" + name, true
}

// validName allows a file name, or one folder and a file name.
func validName(name string) bool {
	return fs.ValidPath(name) && name != "." && strings.Count(name, "/") <= 1 && !strings.ContainsAny(name, "\\\x00")
}

func (c *collector) artifact(ctx context.Context, name string, ref artifact.Ref) error {
	if _, err := ref.Hex(); err != nil {
		c.note("", name, err)
		return nil
	}
	if c.folder.holds(name, ref) {
		return nil
	}
	var source error // the store's part of a failure; the rest is the bundle's
	err := c.folder.fill(name, func(w io.Writer) error {
		sum := sha256.New()
		sink := &sink{w: io.MultiWriter(w, sum)}
		source = c.copy(ctx, ref, sink)
		if sink.err != nil {
			source = nil
			return sink.err
		}
		if source == nil && ref.Digest != "sha256:"+hex.EncodeToString(sum.Sum(nil)) {
			source = errDamaged
		}
		return source
	})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("bundle: %w", ctx.Err())
	case source == nil:
		return err
	}
	c.note("", name, source)
	if !errors.Is(source, fs.ErrNotExist) && !errors.Is(source, errDamaged) {
		c.failed = append(c.failed, fmt.Errorf("bundle file %s: %w", name, source))
	}
	return nil
}

func (c *collector) note(what, name string, err error) {
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("the store does not have it")
	}
	c.notes = append(c.notes, fmt.Sprintf("%s is missing in this bundle: %v", strings.TrimSpace(what+" "+name), err))
}

// sink remembers that writing failed, so that a full disk is not taken for a store without the artifact.
type sink struct {
	w   io.Writer
	err error
}

func (s *sink) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	if err != nil {
		s.err = err
	}
	return n, err
}

// copyBy makes a Copy of a Get.
func copyBy(get Get) Copy {
	return func(ctx context.Context, ref artifact.Ref, w io.Writer) error {
		content, err := get(ctx, ref)
		if err != nil {
			return err
		}
		_, err = io.Copy(w, bytes.NewReader(content))
		return err
	}
}
