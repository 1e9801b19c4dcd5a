package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"conclave/config"
	"conclave/internal/gitrepo"
	"conclave/internal/prompt"
)

// promptBytes bounds a lens or a template of a user's: it stands in every prompt.
const promptBytes = 64 << 10

// promptText is a user's file that becomes part of prompts.
type promptText struct {
	name string
	// file is how messages call it.
	file string
	text []byte
}

// readPrompts reads the user's lenses and templates, and refuses those that would decide a review before it is done.
func (p *plan) readPrompts(ctx context.Context, _ *cobra.Command) error {
	reader := baseReader{source: p.source, base: p.base}
	defer reader.close()
	var err error
	if p.lenses, err = reader.promptTexts(ctx, "lens", p.config.LensFiles); err != nil {
		return err
	}
	if p.templates, err = reader.promptTexts(ctx, "template", p.config.PromptFiles); err != nil {
		return err
	}
	return errors.Join(append(refuseLenses(p.lenses), refuseTemplates(p.templates)...)...)
}

// notToBeFound is the remedy for a text that decides a review before it is done.
const notToBeFound = "say what to look for, not what to find; `starter lint-prompts` checks a file"

func refuseLenses(lenses []promptText) []error {
	var refused []error
	for _, t := range lenses {
		if steering := steeringIn(t); len(steering) > 0 {
			refused = append(refused, steering...)
		} else if err := prompt.CheckLens(t.name, t.file, t.text); err != nil {
			refused = append(refused, config.Problem{What: "lenses." + t.name + ": " + oneLine(err.Error()), Remedy: "write what a reviewer shall look for, as text"})
		}
	}
	return refused
}

func refuseTemplates(templates []promptText) []error {
	var refused []error
	for _, t := range templates {
		if steering := steeringIn(t); len(steering) > 0 {
			refused = append(refused, steering...)
		} else if _, err := prompt.ParseOverrides(map[string]string{t.name: string(t.text)}); err != nil {
			refused = append(refused, config.Problem{What: "prompts." + t.name + ": " + t.file + ": " + firstLines(err.Error()), Remedy: "begin with the built-in template: `starter lint-prompts` shows what is wrong with yours"})
		}
	}
	return refused
}

// shownFaults is how many faults of one template an error lists.
const shownFaults = 3

// firstLines is a list of faults in one line, without its tail.
func firstLines(text string) string {
	lines := strings.Split(text, "\n")
	if more := len(lines) - shownFaults; more > 0 {
		return strings.Join(lines[:shownFaults], "; ") + fmt.Sprintf("; and %d more", more)
	}
	return strings.Join(lines, "; ")
}

func steeringIn(t promptText) []error {
	var found []error
	for _, s := range prompt.Lint(t.file, t.text) {
		found = append(found, config.Problem{What: fmt.Sprintf("%s:%d: %q decides a review before it is done", s.File, s.Line, s.Phrase), Remedy: notToBeFound})
	}
	return found
}

// promptTexts reads files in their order.
func (r *baseReader) promptTexts(ctx context.Context, what string, files []config.PromptFile) ([]promptText, error) {
	var texts []promptText
	for _, f := range files {
		t := promptText{name: f.Name, file: f.Path}
		var err error
		found := true
		if f.Repository {
			t.text, found, err = r.file(ctx, f.Path)
		} else {
			t.text, err = os.ReadFile(f.Path)
		}
		whose := fmt.Sprintf("%s: the file of the %s %s, %s,", f.Where, what, f.Name, f.Path)
		switch {
		case err != nil:
			return nil, usage("name a readable file", "%s cannot be read: %v", whose, err)
		case !found:
			return nil, usage("commit it, or correct the name: it is read from the commit that the run starts from", "%s is not in the base", whose)
		case len(bytes.TrimSpace(t.text)) == 0 || !utf8.Valid(t.text) || len(t.text) > promptBytes:
			return nil, usage(fmt.Sprintf("write a text of at most %d bytes, in UTF-8", promptBytes), "%s is no text for a prompt (%d bytes)", whose, len(t.text))
		}
		texts = append(texts, t)
	}
	return texts, nil
}

// baseReader reads files as the base has them.
type baseReader struct {
	source *gitrepo.Source
	base   gitrepo.Commit
	dir    string
	repo   *gitrepo.RunRepo
}

// file reads one file of the base commit, or of a directory that is no repository; false where there is none.
func (r *baseReader) file(ctx context.Context, path string) ([]byte, bool, error) {
	if !r.source.IsRepository() {
		return r.onDisk(path)
	}
	if r.repo == nil {
		dir, err := os.MkdirTemp("", "conclave-base-")
		if err != nil {
			return nil, false, err
		}
		r.dir = dir
		if r.repo, err = gitrepo.CreateRunRepo(ctx, gitrepo.RunRepoOptions{
			Dir: filepath.Join(dir, "repo.git"), Alternates: []string{r.source.ObjectsDir()}, ObjectFormat: r.source.ObjectFormat(),
		}); err != nil {
			return nil, false, err
		}
	}
	return r.repo.File(ctx, r.base.ID, path)
}

// onDisk follows no link out of the directory.
func (r *baseReader) onDisk(path string) ([]byte, bool, error) {
	root, err := os.OpenRoot(r.source.Root())
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = root.Close() }()
	content, err := root.ReadFile(filepath.FromSlash(path))
	if errors.Is(err, os.ErrNotExist) {
		return nil, false, nil
	}
	return content, err == nil, err
}

func (r *baseReader) close() {
	if r.dir != "" {
		_ = os.RemoveAll(r.dir)
	}
}
