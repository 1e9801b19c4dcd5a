package activities

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path"

	"conclave/internal/gitrepo"
)

// code answers for the lines that a reviewer may name: of the snapshot, then of the base, then of the tree that a
// recheck's diff starts from.
type code struct {
	ctx     context.Context
	repo    *gitrepo.RunRepo
	commits []string
	files   map[string][][][]byte
	// digests tell the snapshot's files.
	digests map[string]string
	// err is trouble with git; a place is then taken for missing.
	err error
}

func (t *turn) code(ctx context.Context) *code {
	return &code{
		ctx: ctx, repo: t.space.repo, commits: []string{t.req.From.Commit, t.req.Base.Commit, t.since()}, files: map[string][][][]byte{}, digests: map[string]string{},
	}
}

// has reports whether a line of a path stands in one of the commits; line 0 asks for the path alone.
func (c *code) has(path string, line int) bool {
	for _, lines := range c.versions(path) {
		if line <= max(len(lines), 1) {
			return true
		}
	}
	return false
}

// line is the text of a line, of the first commit that has it; "" for none and for line 0.
func (c *code) line(path string, line int) string {
	for _, lines := range c.versions(clean(path)) {
		if line > 0 && line <= len(lines) {
			return string(lines[line-1])
		}
	}
	return ""
}

// digestBytes of a digest tell the versions of one file in one run from each other.
const digestBytes = 8

// content tells the snapshot's version of a path from every other one; "" where it has none.
func (c *code) content(path string) string {
	path = clean(path)
	c.versions(path)
	return c.digests[path]
}

// versions are the lines of a path in the commits that hold it.
func (c *code) versions(path string) [][][]byte {
	if found, ok := c.files[path]; ok {
		return found
	}
	var found [][][]byte
	for i, commit := range c.commits {
		if i > 0 && commit == c.commits[i-1] {
			continue
		}
		content, ok, err := c.repo.File(c.ctx, commit, path)
		switch {
		case err != nil:
			c.err = err
		case ok:
			found = append(found, linesOf(content))
			if i == 0 {
				digest := sha256.Sum256(content)
				c.digests[path] = hex.EncodeToString(digest[:digestBytes])
			}
		}
	}
	c.files[path] = found
	return found
}

// linesOf splits content; a last line without a line feed counts.
func linesOf(content []byte) [][]byte {
	if len(content) == 0 {
		return nil
	}
	return bytes.Split(bytes.TrimSuffix(content, []byte("\n")), []byte("\n"))
}

func clean(name string) string { return path.Clean(name) }
