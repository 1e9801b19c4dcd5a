package guard

import "strings"

// IsExample reports whether a file shows what a setting looks like, which its name says: the values there are made up.
func IsExample(path string) bool {
	name := strings.ToLower(path[strings.LastIndexByte(path, '/')+1:])
	for _, word := range []string{"example", "sample", "template", ".dist"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}
