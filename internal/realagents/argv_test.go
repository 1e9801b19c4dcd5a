//go:build linux || darwin

package realagents

import (
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/agent"
	"conclave/internal/fakemodel"
)

// TestArgumentsAndEnvironment prints how each program is called in each role, as it was called, and the names of its
// variables. What is not on the adapter's list is not among them.
func TestArgumentsAndEnvironment(t *testing.T) {
	bins(t)
	for _, e := range engines {
		for _, writing := range []bool{true, false} {
			for _, own := range []agent.CLISandbox{agent.CLISandboxOff, agent.CLISandboxAuto} {
				role := map[bool]string{true: "implement", false: "review"}[writing]
				held := map[agent.CLISandbox]string{agent.CLISandboxOff: "inside our sandbox", agent.CLISandboxAuto: "without our sandbox"}[own]
				w := newWorld(t, fakemodel.Script{})
				inv := w.invocation(turn{engine: e, writing: writing, own: own}, w.workspace(nil))
				var names []string
				for _, variable := range inv.Env {
					name, value, _ := strings.Cut(variable, "=")
					require.NotContains(t, value, unrelated)
					names = append(names, name)
				}
				sort.Strings(names)
				require.NotContains(t, names, "CONCLAVE_UNRELATED_SECRET")
				require.NotContains(t, strings.Join(inv.Args, " "), dummyKey, "no key in arguments: every user of the machine reads them")
				fmt.Printf("\n%s, %s, %s\n  argv: %s %s\n  environment: %s\n  standard input: the prompt's file; stop signal: %s; prompt limit: %d\n", e.name, role, held,
					e.name, w.neutral(quoted(inv.Args)), strings.Join(names, " "), inv.StopSignal, inv.PromptLimit)
				for _, f := range inv.Files {
					fmt.Printf("  file of ours: %s (%d bytes)\n", w.neutral(f.Path), len(f.Content))
				}
			}
		}
	}
}

// quoted writes arguments as a shell takes them.
func quoted(args []string) string {
	var out []string
	for _, a := range args {
		if a == "" || strings.ContainsAny(a, " \"'{}*$;<>|&()[]") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		out = append(out, a)
	}
	return strings.Join(out, " ")
}

// neutral leaves this machine's places out of a text.
func (w *world) neutral(text string) string {
	words := strings.Split(strings.NewReplacer(w.address, "HOST:PORT", w.dir, "DIR").Replace(text), "/")
	for i, word := range words {
		for _, kind := range []string{"workspace-", "scratch-"} {
			if rest, ok := strings.CutPrefix(word, kind); ok {
				words[i] = strings.ToUpper(strings.TrimSuffix(kind, "-")) + strings.TrimLeft(rest, "0123456789")
			}
		}
	}
	return strings.Join(words, "/")
}
