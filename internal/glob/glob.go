// Package glob matches paths of a tree. In a glob `*` and `?` stay within one folder, `**` crosses folders, `[...]` is a
// class, and a glob that names a folder (with or without a final slash) takes all below it.
package glob

import (
	"fmt"
	"regexp"
	"strings"
)

// Compile gives the predicate of a list of globs. It is anchored at the root: `*.lock` is a file of the root only,
// `**/*.lock` one of any folder. Errors name the glob.
func Compile(globs []string) (func(path string) bool, error) { return compile(globs, "(?s)^") }

// CompileFold is Compile without regard to upper and lower case, as some file systems read names.
func CompileFold(globs []string) (func(path string) bool, error) { return compile(globs, "(?is)^") }

func compile(globs []string, start string) (func(path string) bool, error) {
	var patterns []*regexp.Regexp
	for _, glob := range globs {
		expression, err := expressionOf(glob, start)
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

// expressionOf translates one glob. Paths are matched as bytes would be: a name that is not UTF-8 matches `*` and `?`.
func expressionOf(glob, start string) (string, error) {
	trimmed := strings.TrimPrefix(strings.TrimPrefix(glob, "./"), "/")
	trimmed = strings.TrimSuffix(trimmed, "/")
	if trimmed == "" {
		return "", fmt.Errorf("glob %q: it is empty", glob)
	}
	var b strings.Builder
	b.WriteString(start)
	for i := 0; i < len(trimmed); {
		piece, width, err := pieceOf(trimmed, i)
		if err != nil {
			return "", fmt.Errorf("glob %q: %w", glob, err)
		}
		b.WriteString(piece)
		i += width
	}
	b.WriteString(`(/.*)?$`)
	return b.String(), nil
}

// pieceOf translates what begins at position i and says how many bytes it took.
func pieceOf(glob string, i int) (piece string, width int, err error) {
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
		return classOf(rest)
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

// classOf translates [abc], [a-z] and [!abc].
func classOf(rest string) (piece string, width int, err error) {
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
