//go:build linux || darwin

package realagents

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"conclave/internal/fakemodel"
)

// called is how a program was called in a role, as the kernel told it while the program waited for its model.
type called struct {
	argv        []string
	environment []string // names
	problems    []string
}

// ownNames are what each run, turn and session calls its own.
var ownNames = regexp.MustCompile(`((?:state/runs/|work/|turns/))[^/]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|ses_[0-9A-Za-z]+`)

// who is a program in a role.
type who struct{ engine, role string }

var (
	calledMutex sync.Mutex
	calls       = map[who]called{}
)

// witness looks at the process that waits for the answer to a request, once for each program and role, in whole runs.
func (w *world) witness(r fakemodel.Request) {
	if !r.Main || !w.whole.Load() {
		return
	}
	for _, e := range engines {
		key := who{e.name, r.Header.Role}
		if e.api != r.API || known(key) {
			continue
		}
		if c, ok := w.caller(e.name); ok {
			calledMutex.Lock()
			calls[key] = c
			calledMutex.Unlock()
		}
	}
}

func known(key who) bool {
	calledMutex.Lock()
	defer calledMutex.Unlock()
	_, ok := calls[key]
	return ok
}

// caller finds the first process of a program in this world. Its interpreter, where it has one, is no argument of ours.
func (w *world) caller(engine string) (called, bool) {
	entries, _ := filepath.Glob("/proc/[0-9]*")
	slices.SortFunc(entries, func(a, b string) int { return number(a) - number(b) })
	for _, entry := range entries {
		args, env := texts(entry, "cmdline"), texts(entry, "environ")
		at := slices.IndexFunc(args[:min(2, len(args))], func(a string) bool { return strings.HasSuffix(a, "/.bin/"+engine) })
		if at < 0 || !strings.Contains(strings.Join(env, "\n"), w.dir) {
			continue
		}
		c := called{argv: append([]string{engine}, args[at+1:]...)}
		for _, variable := range env {
			name, value, _ := strings.Cut(variable, "=")
			c.environment = append(c.environment, name)
			if value == unrelated {
				c.problems = append(c.problems, "it sees "+name)
			}
		}
		if slices.ContainsFunc(c.argv, func(a string) bool { return strings.Contains(a, dummyKey) }) {
			c.problems = append(c.problems, "a key is among its arguments, where every user of the machine reads it")
		}
		slices.Sort(c.environment)
		for i, arg := range c.argv {
			c.argv[i] = ownNames.ReplaceAllString(w.neutral(arg), "${1}NAME")
		}
		return c, true
	}
	return called{}, false
}

func number(entry string) int {
	n, _ := strconv.Atoi(filepath.Base(entry))
	return n
}

// texts reads a file of /proc that holds texts with a NUL after each.
func texts(parts ...string) []string {
	raw, _ := os.ReadFile(filepath.Join(parts...))
	return strings.Split(strings.TrimSuffix(string(raw), "\x00"), "\x00")
}

// printCalls prints how the programs were called, and says what is wrong with it. Roles for which one was called alike
// stand together.
func printCalls() (problems []string) {
	keys := slices.SortedFunc(maps.Keys(calls), func(a, b who) int { return strings.Compare(a.engine+a.role, b.engine+b.role) })
	roles, order := map[string][]string{}, []string{}
	for _, key := range keys {
		c := calls[key]
		for _, p := range c.problems {
			problems = append(problems, fmt.Sprintf("%s, %s: %s", key.engine, key.role, p))
		}
		text := fmt.Sprintf("  argv: %s\n  environment: %s\n", quoted(c.argv), strings.Join(c.environment, " "))
		if whole := key.engine + "\n" + text; roles[whole] == nil {
			order = append(order, whole)
		}
		roles[key.engine+"\n"+text] = append(roles[key.engine+"\n"+text], key.role)
	}
	for _, whole := range order {
		engine, text, _ := strings.Cut(whole, "\n")
		fmt.Printf("\n%s as the kernel saw it in a whole run: %s\n%s", engine, strings.Join(roles[whole], ", "), text)
	}
	return problems
}
