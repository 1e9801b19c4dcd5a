package gitrepo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
)

// GlobTree gives a digest (sha256, hex) over the entries of a commit whose paths match one of the globs: mode, id and
// path of each. It changes exactly when a matching file appears, goes or changes. In a glob `*` and `?` stay within one
// folder, `**` crosses folders, `[...]` is a class, and a glob that names a folder (with or without a final slash) takes
// all below it.
func (r *RunRepo) GlobTree(ctx context.Context, commit string, globs []string) (string, error) {
	match, err := compileGlobs(globs)
	if err != nil {
		return "", err
	}
	tree, err := r.TreeOf(ctx, commit)
	if err != nil {
		return "", err
	}
	out, err := r.runner.run(ctx, r.call(), "ls-tree", "-r", "-z", "--full-tree", tree)
	if err != nil {
		return "", fmt.Errorf("list %s: %w", short(commit), err)
	}
	digest := sha256.New()
	for _, entry := range parseTree(out) {
		if match(entry.path) {
			_, _ = fmt.Fprintf(digest, "%s %s\t%s\x00", entry.mode, entry.id, entry.path)
		}
	}
	return hex.EncodeToString(digest.Sum(nil)), nil
}

// compileGlobs gives the predicate of a list of globs.
func compileGlobs(globs []string) (func(path string) bool, error) {
	var patterns []*regexp.Regexp
	for _, glob := range globs {
		expression, err := globExpression(glob)
		if err != nil {
			return nil, err
		}
		pattern, err := regexp.Compile(expression)
		if err != nil {
			return nil, fmt.Errorf("glob %q: %w", glob, err)
		}
		patterns = append(patterns, pattern)
	}
	return func(path string) bool {
		for _, pattern := range patterns {
			if pattern.MatchString(path) {
				return true
			}
		}
		return false
	}, nil
}

// globExpression translates one glob. Paths are matched as bytes would be: a name that is not UTF-8 matches `*` and `?`.
func globExpression(glob string) (string, error) {
	trimmed := strings.TrimPrefix(strings.TrimPrefix(glob, "./"), "/")
	trimmed = strings.TrimSuffix(trimmed, "/")
	if trimmed == "" {
		return "", fmt.Errorf("glob %q: it is empty", glob)
	}
	var b strings.Builder
	b.WriteString(`(?s)^`)
	for i := 0; i < len(trimmed); {
		piece, width, err := globPiece(trimmed, i)
		if err != nil {
			return "", fmt.Errorf("glob %q: %w", glob, err)
		}
		b.WriteString(piece)
		i += width
	}
	b.WriteString(`(/.*)?$`)
	return b.String(), nil
}

// globPiece translates what begins at position i and says how many bytes it took.
func globPiece(glob string, i int) (piece string, width int, err error) {
	rest := glob[i:]
	atStart := i == 0 || glob[i-1] == '/'
	switch {
	case atStart && strings.HasPrefix(rest, "**/"):
		return `(.*/)?`, 3, nil
	case strings.HasPrefix(rest, "**"):
		return `.*`, 2, nil
	case rest[0] == '*':
		return `[^/]*`, 1, nil
	case rest[0] == '?':
		return `[^/]`, 1, nil
	case rest[0] == '[':
		return globClass(rest)
	case rest[0] == '\\' && len(rest) > 1:
		return regexp.QuoteMeta(rest[1:2]), 2, nil
	}
	end := strings.IndexAny(rest, `*?[\`)
	switch {
	case end < 0:
		end = len(rest)
	case end == 0: // a lone backslash at the end
		end = 1
	}
	return regexp.QuoteMeta(rest[:end]), end, nil
}

// globClass translates [abc], [a-z] and [!abc].
func globClass(rest string) (piece string, width int, err error) {
	end := strings.IndexByte(rest[1:], ']')
	if end <= 0 {
		return "", 0, fmt.Errorf("the class at %q has no end", rest)
	}
	body := rest[1 : end+1]
	negated := strings.HasPrefix(body, "!") || strings.HasPrefix(body, "^")
	if negated {
		body = body[1:]
	}
	body = strings.NewReplacer(`\`, `\\`, `[`, `\[`, `^`, `\^`).Replace(body)
	if negated {
		return `[^/` + body + `]`, end + 2, nil
	}
	return `[` + body + `]`, end + 2, nil
}
