package e2e

import (
	"cmp"
	"fmt"

	"conclave/internal/scripted"
)

// object is any JSON object.
type object = map[string]any

type step = scripted.Step

const (
	flawed   = "package calc\n\n// Sum adds the first n numbers.\nfunc Sum(n int) int {\n\ts := 0\n\tfor i := 0; i < n; i++ {\n\t\ts += i\n\t}\n\treturn s\n}\n"
	mended   = "package calc\n\n// Sum adds the first n numbers.\nfunc Sum(n int) int {\n\ts := 0\n\tfor i := 1; i <= n; i++ {\n\t\ts += i\n\t}\n\treturn s\n}\n"
	objected = "Sum stops before n: the loop is off by one."
)

// together makes the two seats of each iteration wait for each other, for two minutes at most.
func together(script []step) []step {
	const meet = `d="$HOME/met-%s"; mkdir -p "$d"; : > "$d/$$"; n=0; while [ "$(ls "$d" | wc -l)" -lt 2 ] && [ $n -lt 1200 ]; do n=$((n+1)); sleep 0.1; done`
	for i, s := range script {
		if s.Role == "review" {
			script[i].Shell = fmt.Sprintf(meet, cmp.Or(s.Round, "later"))
		}
	}
	return script
}

// twoIterations is a flawed draft that both seats block, a repair that answers
// their words, and two passes.
func twoIterations() []step {
	return []step{
		{Role: "implement", Write: map[string]string{"calc.go": flawed}, Say: "Sum is there."},
		{Role: "repair", Contains: objected, Write: map[string]string{"calc.go": mended}, Say: "Sum includes n now."},
		{Role: "review", Round: "0", As: "codex", SleepMS: 700, Say: objected + "\n\nVERDICT: BLOCK"},
		{Role: "review", Round: "0", As: "claude", SleepMS: 700, Say: "Claude agrees: " + objected + "\n\nVERDICT: BLOCK"},
		{Role: "review", SleepMS: 700, Say: "Nothing left to object to.\n\nVERDICT: PASS"},
	}
}
