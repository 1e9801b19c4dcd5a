package guard

import (
	"bytes"
	"encoding/json"
	"path"
	"strings"
)

// SameSettings reports whether two versions of a file that Settings named let the verify command do the same. One that
// does not exist is empty. What cannot be read differs.
func SameSettings(name string, before, after []byte) bool {
	if path.Base(name) == "package.json" {
		return sameScripts(before, after)
	}
	return bytes.Equal(testSections(before), testSections(after))
}

// scriptKeys are the keys of a package.json that say what tests do.
var scriptKeys = []string{"scripts", "jest", "mocha", "ava", "tap", "vitest"}

func sameScripts(before, after []byte) bool {
	var versions [2]map[string]json.RawMessage
	for i, raw := range [][]byte{before, after} {
		if len(bytes.TrimSpace(raw)) > 0 && json.Unmarshal(raw, &versions[i]) != nil {
			return bytes.Equal(before, after)
		}
	}
	for _, key := range scriptKeys {
		if !sameJSON(versions[0][key], versions[1][key]) {
			return false
		}
	}
	return true
}

func sameJSON(a, b json.RawMessage) bool {
	var left, right bytes.Buffer
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	return json.Compact(&left, a) == nil && json.Compact(&right, b) == nil && bytes.Equal(left.Bytes(), right.Bytes())
}

// testSections are the lines of a pyproject.toml or a setup.cfg that pytest or tox read.
func testSections(content []byte) []byte {
	var kept bytes.Buffer
	read := testKey("")
	for line := range bytes.Lines(content) {
		trimmed := string(bytes.TrimSpace(line))
		if header, ok := strings.CutPrefix(trimmed, "["); ok && !strings.Contains(header, "=") {
			read = testKey(header)
		}
		if trimmed != "" && trimmed[0] != '#' && (read || testKey(trimmed)) {
			kept.WriteString(trimmed + "\n")
		}
	}
	return kept.Bytes()
}

// testKey reports whether a section or a dotted key is one of a test runner: "[tool.pytest.ini_options]",
// "[tool:pytest]", "tool.tox.env = ...". Of a key with an escape nobody knows.
func testKey(key string) bool {
	key = strings.NewReplacer(" ", "", "\t", "", `"`, "", "'", "", "[", "").Replace(key)
	if name, _, _ := strings.Cut(key, "="); strings.Contains(name, `\`) {
		return true
	}
	for _, start := range []string{"tool.pytest", "tool.tox", "tool:pytest", "tool]", "pytest]", "pytest.", "tox", "testenv"} {
		if strings.HasPrefix(key, start) {
			return true
		}
	}
	return false
}
