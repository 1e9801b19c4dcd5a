package guard

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// runners are programs that take what they do from a file that the command does not name.
var runners = map[string][]string{
	"make": {"Makefile", "makefile", "GNUmakefile"}, "gmake": {"Makefile", "makefile", "GNUmakefile"},
	"just": {"justfile", "Justfile", ".justfile"}, "task": {"Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml"},
	"mage": {"magefile.go"}, "rake": {"Rakefile", "rakefile", "Rakefile.rb"}, "ninja": {"build.ninja"},
	"bazel": {"BUILD", "BUILD.bazel", ".bazelrc"}, "go": {"go.work"}, "cargo": {".cargo/config.toml", ".cargo/config", ".config/nextest.toml"},
	"tox": toxFiles, "nox": {"noxfile.py"}, "pytest": pytestFiles, "py.test": pytestFiles,
	"npm": nodeFiles, "npx": nodeFiles, "yarn": nodeFiles, "pnpm": nodeFiles, "bun": append([]string{"bunfig.toml"}, nodeFiles...),
	"deno": {"deno.json", "deno.jsonc"},
	"jest": configOf("jest.config"), "vitest": append(configOf("vitest.config"), append(configOf("vitest.workspace"), configOf("vite.config")...)...),
	"playwright": configOf("playwright.config"), "cypress": configOf("cypress.config"), "ava": configOf("ava.config"), "karma": configOf("karma.conf"),
	"mocha":   {".mocharc.js", ".mocharc.cjs", ".mocharc.mjs", ".mocharc.json", ".mocharc.jsonc", ".mocharc.yml", ".mocharc.yaml"},
	"jasmine": {"spec/support/jasmine.json", "spec/support/jasmine.js", "spec/support/jasmine.mjs"}, "tap": {".taprc"},
	"rspec": {".rspec", ".rspec-local"}, "phpunit": {"phpunit.xml", "phpunit.xml.dist"},
	"gradle": gradleFiles, "gradlew": gradleFiles, "mvn": mavenFiles, "mvnw": mavenFiles,
	"dotnet": {"Directory.Build.props", "Directory.Build.targets"},
}

var (
	pytestFiles = []string{"pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini"}
	toxFiles    = []string{"tox.ini", "tox.toml"}
	nodeFiles   = []string{".npmrc", ".yarnrc", ".yarnrc.yml"}
	gradleFiles = []string{"settings.gradle", "settings.gradle.kts"}
	mavenFiles  = []string{".mvn/maven.config", ".mvn/jvm.config", ".mvn/extensions.xml"}
)

// linters are runners that many commands mention beside the tests: they count only where the verify command names them
// itself.
var linters = map[string][]string{
	"golangci-lint": {".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"}, "pre-commit": {".pre-commit-config.yaml"},
	"eslint": append(configOf("eslint.config"), ".eslintrc", ".eslintrc.js", ".eslintrc.cjs", ".eslintrc.json", ".eslintrc.yml", ".eslintrc.yaml", ".eslintignore"),
	"ruff":   {"ruff.toml", ".ruff.toml"}, "mypy": {"mypy.ini", ".mypy.ini"}, "flake8": {".flake8"},
}

func configOf(name string) []string {
	var files []string
	for _, ending := range []string{".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".json"} {
		files = append(files, name+ending)
	}
	return files
}

// settled are programs that take what they do from a part of a file that holds much else.
var settled = map[string][]string{
	"npm": {"package.json"}, "yarn": {"package.json"}, "pnpm": {"package.json"}, "bun": {"package.json"}, "npx": {"package.json"}, "node": {"package.json"},
	"pytest": {"pyproject.toml", "setup.cfg"}, "py.test": {"pyproject.toml", "setup.cfg"}, "tox": {"pyproject.toml", "setup.cfg"},
}

// take adds the files of the runners that a verify command names itself: in the folders that it changes into, and in
// those that it names.
func (r *Rules) take(command string) {
	words := shellWords(command)
	dirs := commandDirs(words)
	for _, word := range words {
		r.add(dirs, word, linters)
	}
	for _, word := range words {
		if !strings.HasPrefix(word, "-") {
			dirs = append(dirs, word) // pytest reads what it finds beside the tests that it is given
		}
	}
	r.reach(dirs, words)
}

func (r *Rules) reach(dirs, words []string) {
	for _, word := range words {
		r.add(dirs, word, runners)
		for _, file := range below(dirs, settled[path.Base(word)]...) {
			r.settings[file] = true
		}
		r.scripts = r.scripts || slices.Contains(scripted, path.Base(word))
	}
}

func (r *Rules) add(dirs []string, word string, table map[string][]string) {
	for _, file := range below(dirs, table[path.Base(word)]...) {
		r.command[file], r.taken[file] = true, true
	}
}

// Reach takes in a file of the base that the command runs, such as a Makefile: the runners that it names are the
// command's too. Files that it names are not: most of them are what is built and tested.
func (r *Rules) Reach(name string, content []byte) {
	script := bytes.HasPrefix(content, []byte("#!")) || r.taken[name] || !sources[path.Ext(name)]
	if !script || bytes.IndexByte(content, 0) >= 0 {
		return
	}
	words := strings.FieldsFunc(string(content), func(c rune) bool { return strings.ContainsRune(" \t\r\n\"'`;:,=|&()[]{}<>@+", c) })
	for i, word := range words {
		if word != "-C" {
			words[i] = strings.TrimLeft(word, "-") // make goes on behind a recipe's "-"
		}
	}
	r.reach(append([]string{path.Dir(name)}, commandDirs(words)...), words)
}

// Settings reports whether a path holds, beside much else, what the verify command does: a change of that part is one of
// the command. An added file counts where the command would read it.
func (r *Rules) Settings(c Change) bool {
	return r.settings[c.Path] || c.Existed && r.scripts && path.Base(c.Path) == "package.json"
}
