package guard

import (
	"bytes"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
)

// runners are programs that take what they do from a file that the command does not name.
var runners = map[string][]string{
	"make": {"Makefile", "makefile", "GNUmakefile"}, "gmake": {"Makefile", "makefile", "GNUmakefile"},
	"just": {"justfile", "Justfile", ".justfile"}, "task": {"Taskfile.yml", "Taskfile.yaml"}, "mage": {"magefile.go"},
	"rake": {"Rakefile"}, "tox": {"tox.ini"}, "nox": {"noxfile.py"}, "ninja": {"build.ninja"}, "bazel": {"BUILD", "BUILD.bazel"},
	"pytest": {"pytest.ini", ".pytest.ini", "tox.ini"}, "py.test": {"pytest.ini", ".pytest.ini", "tox.ini"},
	"jest": configOf("jest.config"), "vitest": configOf("vitest.config"), "playwright": configOf("playwright.config"),
	"cypress": configOf("cypress.config"), "mocha": {".mocharc.js", ".mocharc.cjs", ".mocharc.json", ".mocharc.jsonc", ".mocharc.yml", ".mocharc.yaml"},
	"rspec": {".rspec"}, "phpunit": {"phpunit.xml", "phpunit.xml.dist"}, "cargo": {".cargo/config.toml", ".cargo/config"},
	"gradle": {"settings.gradle", "settings.gradle.kts"}, "gradlew": {"settings.gradle", "settings.gradle.kts"},
}

func configOf(name string) []string {
	var files []string
	for _, ending := range []string{".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".json"} {
		files = append(files, name+ending)
	}
	return files
}

// scripted are programs that run what stands under "scripts" in package.json.
var scripted = []string{"npm", "yarn", "pnpm", "bun", "npx", "node"}

// RunsScripts reports whether a command runs scripts of a package.json.
func RunsScripts(command string) bool {
	return slices.ContainsFunc(shellWords(command), func(word string) bool { return slices.Contains(scripted, path.Base(word)) })
}

// mostScripts bounds how deep scripts call scripts.
const mostScripts = 5

// WithScripts is a verify command together with the scripts that it runs of a package.json: what those name is the
// command's too. Without such a file it is the command alone.
func WithScripts(command string, packageJSON []byte) string {
	var file struct {
		Scripts map[string]string `json:"scripts"`
	}
	if !RunsScripts(command) || json.Unmarshal(packageJSON, &file) != nil {
		return command
	}
	taken := map[string]bool{}
	for all, depth := command, 0; depth < mostScripts; depth++ {
		var next []string
		for _, word := range shellWords(all) {
			for _, name := range []string{"pre" + word, word, "post" + word} {
				if text, ok := file.Scripts[name]; ok && !taken[name] {
					taken[name] = true
					next = append(next, text)
				}
			}
		}
		if len(next) == 0 {
			break
		}
		all = strings.Join(next, "\n")
		command += "\n" + all
	}
	return command
}

// SameScripts reports whether two versions of a package.json run the same scripts. What cannot be read differs.
func SameScripts(before, after []byte) bool {
	var old, now struct {
		Scripts map[string]string `json:"scripts"`
		Jest    json.RawMessage   `json:"jest"`
	}
	if json.Unmarshal(before, &old) != nil || json.Unmarshal(after, &now) != nil {
		return bytes.Equal(before, after)
	}
	return maps.Equal(old.Scripts, now.Scripts) && bytes.Equal(old.Jest, now.Jest)
}

// commandFiles are the paths that the words of a shell command may mean: each word by itself, behind an equals sign,
// and below every folder that the command changes into.
func commandFiles(command string) map[string]bool {
	files := map[string]bool{}
	for _, group := range commandGroups(command) {
		for _, file := range group {
			files[file] = true
		}
	}
	return files
}

// commandGroups are those paths, and together stand the names of one folder among which a runner chooses.
func commandGroups(command string) [][]string {
	words := shellWords(command)
	dirs := []string{"."}
	for i, word := range words {
		if (word == "cd" || word == "pushd" || word == "-C") && i+1 < len(words) {
			dirs = append(dirs, words[i+1])
			dirs = append(dirs, path.Join(dirs[len(dirs)-2], words[i+1]))
		}
	}
	var groups [][]string
	add := func(names ...string) {
		for _, dir := range dirs {
			var group []string
			for _, name := range names {
				if file := path.Join(dir, name); name != "" && file != "." && file != ".." && !strings.HasPrefix(file, "../") && !path.IsAbs(file) {
					group = append(group, file)
				}
			}
			groups = append(groups, group)
		}
	}
	for _, word := range words {
		add(runners[path.Base(word)]...)
		names := []string{word}
		if _, value, ok := strings.Cut(word, "="); ok {
			names = append(names, value)
		}
		if _, below, ok := strings.Cut(word, "/"); ok && word[0] == '$' { // $PWD/check.sh
			names = append(names, below)
		}
		if len(word) > 2 && word[0] == '-' && word[1] != '-' { // -fMakefile.ci
			names = append(names, word[2:])
		}
		for _, name := range names {
			add(name)
		}
	}
	return groups
}

// shellWords splits a command at blanks and at what separates commands, and takes quotes and escapes away. What stands
// in quotes counts as one word and as its words: sh -c has commands there.
func shellWords(command string) []string {
	return append(split(command, true), split(command, false)...)
}

func split(command string, whole bool) []string {
	var words []string
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			words = append(words, word.String())
			word.Reset()
		}
	}
	quote := rune(0)
	escaped := false
	for _, c := range command {
		switch {
		case escaped:
			word.WriteRune(c)
			escaped = false
		case c == '\\' && quote != '\'':
			escaped = true
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case (quote == 0 || !whole) && strings.ContainsRune(" \t\r\n;&|()<>`", c):
			end()
		default:
			word.WriteRune(c)
		}
	}
	end()
	return words
}
