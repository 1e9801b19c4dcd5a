// Package stubrun is what the stub agent does. It is apart from package agent because it runs in a process of its own,
// and imports little so that this process is quick: see init.
package stubrun

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// The stub is recognised by its only argument together with the variable that describes its turn.
const (
	Argument = "conclave-stub-agent"
	Variable = "CONCLAVE_STUB_TURN"
)

// File is what writing turns leave in the workspace.
const File = "CONCLAVE_DRY_RUN.md"

// Turn is what the stub must know, as JSON in Variable.
type Turn struct {
	Writing bool   `json:"writing"`
	Role    string `json:"role"`
}

// Event is a line of the stub's stream.
type Event struct {
	Type string `json:"type"` // start, edit, message, end
	Text string `json:"text,omitempty"`
	Path string `json:"path,omitempty"`
}

// init and not main: the rest of this program takes far longer to get ready than the stub to answer.
func init() { Main() }

// Main runs the stub, and does not return, when this process was started as one. Otherwise it returns at once.
func Main() {
	if len(os.Args) != 2 || os.Args[1] != Argument || os.Getenv(Variable) == "" {
		return
	}
	if err := run(os.Getenv(Variable), os.Stdin, os.Stdout, "."); err != nil {
		fmt.Fprintln(os.Stderr, "stub:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// run is one turn: it reads the prompt, perhaps writes File into dir, and prints its stream.
func run(turn string, in io.Reader, out io.Writer, dir string) error {
	var t Turn
	if err := json.Unmarshal([]byte(turn), &t); err != nil {
		return fmt.Errorf("%s: %w", Variable, err)
	}
	prompt, err := io.ReadAll(in)
	if err != nil {
		return fmt.Errorf("read the prompt: %w", err)
	}
	h := header(string(prompt))
	role := h["role"]
	if role == "" {
		role = t.Role
	}
	w := bufio.NewWriter(out)
	lines := json.NewEncoder(w)
	say := func(e Event) { _ = lines.Encode(e) }
	say(Event{Type: "start"})
	if t.Writing {
		text := change(role, h, requirementOf(string(prompt)))
		if err := writeWhole(dir+"/"+File, text); err != nil {
			return err
		}
		say(Event{Type: "edit", Path: File})
	}
	say(Event{Type: "message", Text: answer(role, h, string(prompt))})
	say(Event{Type: "end"})
	return w.Flush()
}

// header reads the words of a prompt's first line; a dash is no value.
func header(prompt string) map[string]string {
	line, _, _ := strings.Cut(prompt, "\n")
	words := strings.Fields(line)
	h := map[string]string{}
	if len(words) == 0 || words[0] != "conclave" {
		return h
	}
	for _, w := range words[1:] {
		if k, v, ok := strings.Cut(w, "="); ok && v != "-" {
			h[k] = v
		}
	}
	return h
}

// requirementOf takes the requirement out of its fence; "" when there is none.
func requirementOf(prompt string) string { return fenced(prompt, "requirement") }

// change is the content of File: it depends on what was asked and on the round, not on the run.
func change(role string, h map[string]string, requirement string) string {
	round := h["round"]
	if round == "" {
		round = "0"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Dry run\n\nNo agent worked here. A stub left this file so that there is a change to review.\n\n- turn: %s\n- round: %s\n", role, round)
	if h["findings"] != "" {
		fmt.Fprintf(&b, "- findings: %s\n", h["findings"])
	}
	fmt.Fprintf(&b, "- requirement: %016x\n", checksum(requirement))
	if first := firstLine(requirement); first != "" {
		fmt.Fprintf(&b, "\n    %s\n", first)
	}
	return b.String()
}

// checksum is FNV-1a; the hash packages would make the start slower than the work.
func checksum(text string) uint64 {
	sum := uint64(14695981039346656037)
	for i := range len(text) {
		sum = (sum ^ uint64(text[i])) * 1099511628211
	}
	return sum
}

// firstLine is the first line with text, cut at 200 characters.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			if runes := []rune(line); len(runes) > 200 {
				line = string(runes[:200])
			}
			return line
		}
	}
	return ""
}

// answer is the final message for a role.
func answer(role string, h map[string]string, prompt string) string {
	switch role {
	case "design":
		return "# Design contract\n\nDry run: a stub stands for the designer.\n\n## Acceptance criteria\n\n- AC1: `" + File + "` exists.\n"
	case "implement":
		return "Dry run: a stub wrote " + File + "."
	case "repair":
		return "Dry run: a stub updated " + File + ".\n\n" + jsonBlock(map[string]any{"fix_report": fixReport(h)})
	case "confirm":
		return jsonBlock(map[string]any{"finding": firstFinding(h), "confirmed": false, "reason": "dry run: a stub stands for the confirmer", "evidence": h["evidence"]})
	case "arbitrate":
		rulings := []any{}
		for _, f := range findings(h) {
			rulings = append(rulings, map[string]any{"finding": f, "decision": "stand", "reason": "dry run: a stub stands for the arbiter"})
		}
		return jsonBlock(map[string]any{"rulings": rulings})
	}
	return reviewAnswer(role, h, prompt)
}

func fixReport(h map[string]string) []any {
	report := []any{}
	for _, f := range findings(h) {
		report = append(report, map[string]any{"finding": f, "status": "fixed", "evidence": "dry run"})
	}
	return report
}

func findings(h map[string]string) []string {
	if h["findings"] == "" {
		return nil
	}
	return strings.Split(h["findings"], ",")
}

func firstFinding(h map[string]string) string {
	if f := findings(h); len(f) > 0 {
		return f[0]
	}
	return ""
}

func jsonBlock(v any) string {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return ""
	}
	return "```json\n" + string(b) + "\n```\n"
}

// writeWhole replaces a file at once.
func writeWhole(path, text string) error {
	fresh := path + ".new"
	if err := os.WriteFile(fresh, []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(fresh, path)
}
