package sandbox

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// mostInterpreters bounds scripts whose interpreters are scripts.
const mostInterpreters = 4

// interpreters are what wrappers start without saying so in their first line.
var interpreters = []string{"node", "python3", "bun", "deno", "ruby"}

// Installation are the files and folders that a program consists of: the folder in which it is named, the folder of each
// link on the way, its package's root, the same of its interpreters, and the files that its arguments name. Paths need
// not be free of links. No home is ever among them, nor a folder that holds one.
func Installation(program string, args []string, path string, homes []string) []string {
	f := &finder{path: path, homes: homes, seen: map[string]bool{}}
	f.program(program, mostInterpreters)
	for _, name := range interpreters {
		if file := lookUp(name, path); file != "" {
			f.program(file, 1)
		}
	}
	for _, a := range args {
		if info, err := os.Stat(a); err == nil && filepath.IsAbs(a) && !info.IsDir() {
			f.program(a, 1)
		}
	}
	return f.found
}

type finder struct {
	path  string
	homes []string
	seen  map[string]bool
	found []string
}

// program takes the chain of links of one program, and its interpreter.
func (f *finder) program(name string, depth int) {
	real, links, err := resolve(name)
	if err != nil || depth == 0 || f.seen[name] {
		return
	}
	f.seen[name] = true
	for _, hop := range append([]Link{{Path: name}}, append(links, Link{Path: real})...) {
		f.file(hop.Path)
	}
	f.root(real)
	shell := false
	for _, interpreter := range f.firstLine(real) {
		f.program(interpreter, depth-1)
		shell = shell || slices.Contains(shells, filepath.Base(interpreter))
	}
	if shell {
		for _, named := range f.namedIn(real) {
			f.program(named, depth-1)
		}
	}
}

var shells = []string{"sh", "bash", "dash", "zsh", "ksh"}

// sources are the endings of programs that need not be executable.
var sources = []string{".js", ".mjs", ".cjs", ".ts", ".py", ".rb", ".sh", ".jar"}

// longestWrapper bounds the scripts that are read for what they start, in bytes.
const longestWrapper = 64 << 10

var absolutePath = regexp.MustCompile(`(?:\$HOME|\$\{HOME\}|~)?(?:/[\w.@+:-]+){2,}`)

// namedIn are the programs that a shell script names by their path, as a user's wrapper of an agent does.
func (f *finder) namedIn(script string) []string {
	if info, err := os.Stat(script); err != nil || info.Size() > longestWrapper {
		return nil
	}
	content, err := os.ReadFile(script)
	if err != nil {
		return nil
	}
	var out []string
	for _, path := range absolutePath.FindAllString(string(content), -1) {
		if i := strings.IndexByte(path, '/'); i > 0 {
			if len(f.homes) == 0 {
				continue
			}
			path = f.homes[0] + path[i:]
		}
		switch info, err := os.Stat(path); {
		case err != nil || !info.Mode().IsRegular():
		case info.Mode()&0o111 != 0 || slices.Contains(sources, filepath.Ext(path)):
			out = append(out, path)
		case f.secret(path): // naming a key does not make it a part of the program
		default: // settings that it hands on
			f.take(path)
		}
	}
	return out
}

// secret reports whether a path is one of a home's secrets, or inside of one.
func (f *finder) secret(path string) bool {
	return slices.ContainsFunc(f.homes, func(home string) bool {
		return slices.ContainsFunc(homeSecrets, func(name string) bool { return within(filepath.Join(home, name), path) })
	})
}

// file takes the folder of a file. Where that would be the home, or a folder that holds it, or everybody's temporary
// folder, it takes the file alone.
func (f *finder) file(path string) {
	dir := filepath.Dir(path)
	if f.tooWide(dir) {
		f.take(path)
		return
	}
	f.take(dir)
}

func (f *finder) take(path string) {
	if !slices.Contains(f.found, path) {
		f.found = append(f.found, path)
	}
}

func (f *finder) tooWide(dir string) bool {
	if dir == "/" || dir == tempPlace || dir == "/var/tmp" || dir == filepath.Clean(os.TempDir()) {
		return true
	}
	return holdsOne(dir, f.homes)
}

// root takes the folder of the package that a resolved program belongs to.
func (f *finder) root(real string) {
	if root := f.packageRoot(real); root != "" && !f.tooWide(root) {
		f.take(root)
	}
}

func (f *finder) packageRoot(real string) string {
	dir := filepath.Dir(real)
	if before, _, ok := strings.Cut(real, "/node_modules/"); ok {
		return before + "/node_modules"
	}
	for up := dir; up != "/"; up = filepath.Dir(up) {
		if _, err := os.Lstat(filepath.Join(up, "pyvenv.cfg")); err == nil {
			return up
		}
	}
	if root := f.belowHome(real); root != "" {
		return root
	}
	if base := filepath.Base(dir); base == "bin" || base == "sbin" || base == "libexec" {
		if up := filepath.Dir(dir); up != "/usr" && up != "/" && up != "/usr/local" {
			return up
		}
	}
	return dir
}

// belowHome is a version manager's or an installer's folder: ~/.nvm, ~/.local/share/claude.
func (f *finder) belowHome(real string) string {
	for _, home := range f.homes {
		if root := installer(home, real); root != "" {
			return root
		}
	}
	return ""
}

func installer(home, real string) string {
	if !within(home, real) || home == real {
		return ""
	}
	parts := strings.Split(strings.TrimPrefix(real, home+"/"), "/")
	depth := 1
	switch {
	case !strings.HasPrefix(parts[0], "."):
		return ""
	case parts[0] == ".local" && len(parts) > 1 && (parts[1] == "share" || parts[1] == "lib" || parts[1] == "opt"):
		depth = 3
	case parts[0] == ".local":
		return ""
	case parts[0] == ".config", parts[0] == ".cache":
		depth = 2
	}
	if len(parts) <= depth {
		return ""
	}
	return filepath.Join(append([]string{home}, parts[:depth]...)...)
}

// firstLine are the programs that a script's first line names.
func (f *finder) firstLine(file string) []string {
	script, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer func() { _ = script.Close() }()
	line, _ := bufio.NewReaderSize(script, 512).ReadSlice('\n')
	rest, ok := bytes.CutPrefix(line, []byte("#!"))
	if !ok {
		return nil
	}
	var out []string
	for i, word := range strings.Fields(string(rest)) {
		if i == 0 || filepath.Base(out[0]) == "env" {
			if at := lookUp(word, f.path); at != "" {
				out = append(out, at)
				if i > 0 {
					break
				}
			}
		}
	}
	return out
}
