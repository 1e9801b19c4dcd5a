package prompt

import "strings"

// name reads a path from a line of a part's header. Those lines are exact where the first one is ambiguous.
func (p *FilePart) name(line string) {
	for _, field := range []struct {
		key  string
		side string
		into *string
	}{
		{"--- ", "a/", &p.Path}, {"+++ ", "b/", &p.Path}, {"rename from ", "", &p.OldPath}, {"copy from ", "", &p.OldPath},
		{"rename to ", "", &p.Path}, {"copy to ", "", &p.Path},
	} {
		value, ok := strings.CutPrefix(line, field.key)
		if !ok {
			continue
		}
		path, ok := strings.CutPrefix(unquote(strings.TrimSuffix(value, "\t")), field.side)
		if ok { // not so for /dev/null: the other line names the file
			*field.into = path
		}
	}
}

// headerPath reads the path from behind "diff --git ": twice the same one, unless later lines name it.
func headerPath(header string) string {
	if strings.HasPrefix(header, `"`) {
		if first, _, ok := cutQuoted(header); ok {
			return strings.TrimPrefix(first, "a/")
		}
	}
	half := len(header) / 2
	if len(header)%2 == 1 && header[half] == ' ' {
		return strings.TrimPrefix(header[:half], "a/")
	}
	return strings.TrimPrefix(header, "a/")
}

// unquote undoes git's quoting of a path; one without quotes stands for itself.
func unquote(s string) string {
	if path, rest, ok := cutQuoted(s); ok && rest == "" {
		return path
	}
	return s
}

// cutQuoted reads a quoted path from the beginning of s.
func cutQuoted(s string) (path, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		return "", s, false
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), s[i+1:], true
		case c != '\\':
			b.WriteByte(c)
		case i+3 < len(s) && octal(s[i+1:i+4]):
			b.WriteByte((s[i+1]-'0')<<6 | (s[i+2]-'0')<<3 | (s[i+3] - '0'))
			i += 3
		case i+1 < len(s):
			i++
			b.WriteByte(unescape(s[i]))
		}
	}
	return "", s, false
}

func octal(s string) bool { return s[0] >= '0' && s[0] <= '3' && s[1]&^7 == '0' && s[2]&^7 == '0' }

func unescape(c byte) byte {
	const letters, bytes = "abtnvfr", "\a\b\t\n\v\f\r"
	if i := strings.IndexByte(letters, c); i >= 0 {
		return bytes[i]
	}
	return c
}
