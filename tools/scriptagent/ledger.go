package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"syscall"
	"time"
)

// note is one line of the ledger.
type note struct {
	// What is start or end.
	What string `json:"what"`
	As   string `json:"as"`
	// Role, Run, Round, Seat, Lens, Evidence and Findings stand in the prompt's first line.
	Role     string `json:"role"`
	Run      string `json:"run"`
	Round    string `json:"round"`
	Seat     string `json:"seat"`
	Lens     string `json:"lens"`
	Evidence string `json:"evidence"`
	Findings string `json:"findings"`
	// Step is the key of the script's step that was played, "" where none fits.
	Step string `json:"step"`
	// Model is what the CLI was called with, "" for its default.
	Model string `json:"model"`
	PID   int    `json:"pid"`
	// At is in milliseconds since 1970.
	At int64 `json:"at"`
}

func (c call) line(what string, s step, head header) ([]byte, error) {
	raw, err := json.Marshal(note{
		What: what, As: c.as, Role: head["role"], Run: head["run"], Round: head["round"], Seat: head["seat"], Lens: head["lens"],
		Evidence: head["evidence"], Findings: head["findings"], Step: s.key, Model: c.model(), PID: os.Getpid(), At: time.Now().UnixMilli(),
	})
	return append(raw, '\n'), err
}

func (c call) model() string {
	i := slices.IndexFunc(c.rest, func(arg string) bool { return arg == "--model" || arg == "-m" })
	if i < 0 || i+1 >= len(c.rest) {
		return ""
	}
	return c.rest[i+1]
}

// begin chooses the step to play and writes down that it starts. The lock makes
// that one action, so that parallel agents count each other.
func (c call) begin(t turn) (step, error) {
	steps, err := c.steps()
	if err != nil {
		return step{}, err
	}
	if c.ledger == "" {
		return c.choose(steps, t, nil)
	}
	file, err := os.OpenFile(c.ledger, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return step{}, err
	}
	defer file.Close()
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		return step{}, err
	}
	played, err := count(file)
	if err != nil {
		return step{}, err
	}
	chosen, missing := c.choose(steps, t, played)
	text, err := c.line("start", chosen, t.head)
	if err != nil {
		return step{}, err
	}
	_, err = file.Write(text)
	return chosen, errors.Join(missing, err)
}

// count says how often each step was started.
func count(ledger io.Reader) (map[string]int, error) {
	raw, err := io.ReadAll(ledger)
	if err != nil {
		return nil, err
	}
	played := map[string]int{}
	for line := range bytes.Lines(raw) {
		var n note
		if err := json.Unmarshal(line, &n); err != nil {
			return nil, err
		}
		if n.What == "start" {
			played[n.Step]++
		}
	}
	return played, nil
}

// end appends the line that the step has ended. Whoever counts under the lock finds whole lines.
func (c call) end(s step, t turn) error {
	if c.ledger == "" {
		return nil
	}
	text, err := c.line("end", s, t.head)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(c.ledger, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	_, err = file.Write(text)
	return err
}
