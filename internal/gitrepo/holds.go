package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
)

// Holds reports which of some texts, of one line each, stand in a file of a commit, whatever kind of file it is.
func (r *RunRepo) Holds(ctx context.Context, commit string, lines []string) (map[string]bool, error) {
	found := &lineSet{has: map[string]bool{}}
	var patterns strings.Builder
	for _, line := range lines {
		if line == "" || strings.ContainsAny(line, "\x00\n") { // git would read another pattern
			continue
		}
		patterns.WriteString(line + "\n")
	}
	tree, err := r.TreeOf(ctx, commit)
	if err != nil || patterns.Len() == 0 {
		return nil, err
	}
	c := r.call()
	c.heavy, c.stdin, c.stdout = true, strings.NewReader(patterns.String()), found
	// The patterns come by standard input: nobody sees them among git's arguments.
	_, err = r.runner.run(ctx, c, "grep", "-F", "-a", "-h", "-o", "--no-color", "-f", "-", tree)
	var failed *GitError
	if errors.As(err, &failed) && failed.Exit == 1 && failed.Stderr == "" { // nothing was found
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for texts in %s: %w", short(commit), missing(err))
	}
	holds := map[string]bool{}
	for _, line := range lines {
		for there := range found.has { // one that is part of another is found as that one
			holds[line] = holds[line] || line != "" && strings.Contains(there, line)
		}
	}
	return holds, nil
}

// lineSet is what is written to it, each line once.
type lineSet struct {
	has  map[string]bool
	rest []byte
}

func (s *lineSet) Write(part []byte) (int, error) {
	s.rest = append(s.rest, part...)
	for {
		line, rest, whole := bytes.Cut(s.rest, []byte("\n"))
		if !whole {
			return len(part), nil
		}
		s.has[string(line)] = true
		s.rest = rest
	}
}
