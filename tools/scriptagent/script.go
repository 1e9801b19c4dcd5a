package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// step is what to do in one turn. The first one that matches is played; a field
// that is empty matches everything.
type step struct {
	// As is the CLI that is played, the others are fields of the prompt's first line.
	As    string `json:"as"`
	Role  string `json:"role"`
	Round string `json:"round"`
	Seat  string `json:"seat"`
	Lens  string `json:"lens"`
	// Finding is one of the findings that the turn is about.
	Finding string `json:"finding"`
	// Contains is a part of the prompt.
	Contains string `json:"contains"`
	// Times is how often the step is played before later ones get their turn, 0 for ever.
	// A turn that is started again after a kill counts again.
	Times int `json:"times"`

	// What is done in the workspace, in this order.
	Write  map[string]string `json:"write"`
	Link   map[string]string `json:"link"`
	Delete []string          `json:"delete"`
	Shell  string            `json:"shell"`

	// Say is the last message. It may hold {{evidence}}, {{findings}}, {{run}},
	// {{round}}, {{seat}}, {{lens}} from the prompt's first line, {{reviewed}}, the
	// JSON list of changed paths, and {{answer}}, what the short forms below give;
	// without {{answer}} that follows.
	Say string `json:"say"`
	short

	Model   string `json:"model"`
	Stderr  string `json:"stderr"`
	Exit    int    `json:"exit"`
	Silent  bool   `json:"silent"`
	SleepMS int    `json:"sleep_ms"`
	// Hang ignores TERM and INT, leaves children in sessions of their own, and never ends.
	Hang bool `json:"hang"`

	// key identifies the step over scripts: the digest of its text.
	key string
}

func (c call) steps() ([]step, error) {
	raw, err := os.ReadFile(c.script)
	if err != nil {
		return nil, err
	}
	var texts []json.RawMessage
	if err := json.Unmarshal(raw, &texts); err != nil {
		return nil, fmt.Errorf("%s: %w", c.script, err)
	}
	steps := make([]step, len(texts))
	for i, text := range texts {
		if err := json.Unmarshal(text, &steps[i]); err != nil {
			return nil, fmt.Errorf("%s: step %d: %w", c.script, i+1, err)
		}
		sum := sha256.Sum256(text)
		steps[i].key = hex.EncodeToString(sum[:4])
	}
	return steps, nil
}

// choose returns the first step that fits and is not used up. Without a ledger nothing is ever used up.
func (c call) choose(steps []step, t turn, played map[string]int) (step, error) {
	for _, s := range steps {
		if s.fits(c.as, t) && (s.Times == 0 || played[s.key] < s.Times) {
			return s, nil
		}
	}
	return step{}, fmt.Errorf("%s has no step for %s %v", c.script, c.as, t.head)
}

func (s step) fits(as string, t turn) bool {
	head := t.head
	return fits(s.As, as) && fits(s.Role, head["role"]) && fits(s.Round, head["round"]) && fits(s.Seat, head["seat"]) && fits(s.Lens, head["lens"]) &&
		(s.Finding == "" || slices.Contains(head.findings(), s.Finding)) && strings.Contains(t.prompt, s.Contains)
}

func fits(want, got string) bool { return want == "" || want == got }
