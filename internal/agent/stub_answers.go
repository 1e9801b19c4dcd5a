package agent

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// StubFile is what the stub's writing turns leave in the workspace.
const StubFile = "CONCLAVE_DRY_RUN.md"

// runStub is one turn: it reads the prompt, perhaps writes StubFile into dir, and prints its stream.
func runStub(turn string, in io.Reader, out io.Writer, dir string) error {
	var t stubTurn
	if err := json.Unmarshal([]byte(turn), &t); err != nil {
		return fmt.Errorf("%s: %w", stubVariable, err)
	}
	prompt, err := io.ReadAll(in)
	if err != nil {
		return fmt.Errorf("read the prompt: %w", err)
	}
	h := stubHeader(string(prompt))
	role := h["role"]
	if role == "" {
		role = t.Role
	}
	w := bufio.NewWriter(out)
	lines := json.NewEncoder(w)
	say := func(e stubEvent) { _ = lines.Encode(e) }
	say(stubEvent{Type: "start", Target: &t.Target})
	if t.Writing {
		text := stubChange(role, h, requirementOf(string(prompt)))
		if err := writeWhole(filepath.Join(dir, StubFile), text); err != nil {
			return err
		}
		say(stubEvent{Type: "edit", Path: StubFile})
	}
	say(stubEvent{Type: "message", Text: stubAnswer(role, h)})
	say(stubEvent{Type: "end"})
	return w.Flush()
}

// stubHeader reads the words of a prompt's first line; a dash is no value.
func stubHeader(prompt string) map[string]string {
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

var requirementBegin = regexp.MustCompile(`(?m)^\[begin (requirement [0-9a-f]+)\]\n`)

// requirementOf takes the requirement out of its fence; "" when there is none.
func requirementOf(prompt string) string {
	at := requirementBegin.FindStringSubmatchIndex(prompt)
	if at == nil {
		return ""
	}
	label, rest := prompt[at[2]:at[3]], prompt[at[1]:]
	text, _, ok := strings.Cut(rest, "\n[end "+label+"]")
	if !ok {
		return ""
	}
	return text
}

// stubChange is the content of StubFile: it depends on what was asked and on the round, not on the run.
func stubChange(role string, h map[string]string, requirement string) string {
	sum := sha256.Sum256([]byte(requirement))
	round := h["round"]
	if round == "" {
		round = "0"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Dry run\n\nNo agent worked here. A stub left this file so that there is a change to review.\n\n- turn: %s\n- round: %s\n", role, round)
	if h["findings"] != "" {
		fmt.Fprintf(&b, "- findings: %s\n", h["findings"])
	}
	fmt.Fprintf(&b, "- requirement: %x\n", sum[:8])
	if first := short(requirement, 200); first != "" {
		fmt.Fprintf(&b, "\n    %s\n", first)
	}
	return b.String()
}

// stubAnswer is the final message for a role.
func stubAnswer(role string, h map[string]string) string {
	switch role {
	case "design":
		return "# Design contract\n\nDry run: a stub stands for the designer.\n\n## Acceptance criteria\n\n- AC1: `" + StubFile + "` exists.\n"
	case "implement":
		return "Dry run: a stub wrote " + StubFile + "."
	case "repair":
		return "Dry run: a stub updated " + StubFile + ".\n\n" + jsonBlock(map[string]any{"fix_report": fixReport(h)})
	case "confirm":
		return jsonBlock(map[string]any{"finding": firstFinding(h), "confirmed": false, "reason": "dry run: a stub stands for the confirmer", "evidence": h["evidence"]})
	case "arbitrate":
		rulings := []any{}
		for _, f := range findings(h) {
			rulings = append(rulings, map[string]any{"finding": f, "decision": "stand", "reason": "dry run: a stub stands for the arbiter"})
		}
		return jsonBlock(map[string]any{"rulings": rulings})
	}
	return "Dry run: a stub stands for this reviewer and has read nothing.\n\nVERDICT: PASS"
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
