package guard

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
)

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

// wordFiles are the paths that the words of a shell command may mean: each word by itself, behind an equals sign, and
// below every folder that the command changes into. What one word may mean stands together.
func wordFiles(command string) [][]string {
	words := shellWords(command)
	dirs := commandDirs(words)
	var groups [][]string
	for _, word := range words {
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
		var group []string
		for _, name := range names {
			group = append(group, below(dirs, name)...)
		}
		groups = append(groups, group)
	}
	return groups
}

// commandDirs are the folders that a command changes into, and the one where it begins.
func commandDirs(words []string) []string {
	dirs := []string{"."}
	for i, word := range words {
		if (word == "cd" || word == "pushd" || word == "-C") && i+1 < len(words) {
			dirs = append(dirs, words[i+1])
			dirs = append(dirs, path.Join(dirs[len(dirs)-2], words[i+1]))
		}
	}
	return dirs
}

// below are names in folders, as paths of a tree.
func below(dirs []string, names ...string) []string {
	var files []string
	for _, dir := range dirs {
		for _, name := range names {
			if file := path.Join(dir, name); name != "" && file != "." && file != ".." && !strings.HasPrefix(file, "../") && !path.IsAbs(file) {
				files = append(files, file)
			}
		}
	}
	return files
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
