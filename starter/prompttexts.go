package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	var refused []error
	for _, t := range slices.Concat(p.lenses, p.templates) {
		for _, s := range prompt.Lint(t.file, t.text) {
			refused = append(refused, config.Problem{What: fmt.Sprintf("%s:%d: %q decides a review before it is done", s.File, s.Line, s.Phrase),
				Remedy: "say what to look for, not what to find; `starter lint-prompts` checks a file"})
		}
	}
	return errors.Join(refused...)
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
