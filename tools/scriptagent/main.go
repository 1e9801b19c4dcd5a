// Command scriptagent plays a coding agent from a script. It speaks the stream
// formats of claude and codex, so that whole runs can be tested without a
// model: a wrapper named by CONCLAVE_CLAUDE_BIN or CONCLAVE_CODEX_BIN calls it
//
//	scriptagent --as claude --script S.json --ledger L.jsonl -- <the CLI's own arguments>
//
// Under any other name it says its words as plain text, for the command adapter.
//
// It appends a line to the ledger when it starts and when it ends, so that a
// test can count what was started. Script (script.go) and ledger (ledger.go) are
// described where they are read.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "scriptagent:", err)
		os.Exit(3)
	}
}

func run(args []string) error {
	call, err := parse(args)
	if err != nil {
		return err
	}
	if slices.Contains(call.rest, "--version") {
		fmt.Println("0.0.0 (scriptagent)")
		return nil
	}
	prompt, err := io.ReadAll(bufio.NewReader(os.Stdin))
	if err != nil {
		return err
	}
	head, err := parseHeader(string(prompt))
	if err != nil {
		return err
	}
	t := turn{head: head, prompt: string(prompt)}
	step, err := call.begin(t)
	if err != nil {
		return err
	}
	if step.Say, err = step.answer(t); err != nil {
		return err
	}
	return call.play(step, t)
}

// turn is what we were asked.
type turn struct {
	head   header
	prompt string
}

// call is how we were called.
type call struct {
	as, script, ledger string
	rest               []string
}

func parse(args []string) (call, error) {
	var c call
	for i := 0; i < len(args); i += 2 {
		if args[i] == "--" {
			c.rest = args[i+1:]
			return c, nil
		}
		if i+1 == len(args) {
			break
		}
		switch args[i] {
		case "--as":
			c.as = args[i+1]
		case "--script":
			c.script = args[i+1]
		case "--ledger":
			c.ledger = args[i+1]
		}
	}
	return c, errors.New("want --as NAME --script FILE -- ARGUMENTS")
}

// header is the first line of a prompt: `conclave role=... run=...`.
type header map[string]string

func parseHeader(prompt string) (header, error) {
	first, _, _ := strings.Cut(prompt, "\n")
	fields := strings.Fields(first)
	if len(fields) == 0 || fields[0] != "conclave" {
		return nil, fmt.Errorf("the prompt does not begin with a conclave header: %.80q", first)
	}
	head := header{}
	for _, field := range fields[1:] {
		name, value, _ := strings.Cut(field, "=")
		head[name] = value
	}
	return head, nil
}

func (c call) play(s step, t turn) error {
	speak := speaker(c)
	if !s.Silent {
		speak.begin(s)
	}
	if s.Hang {
		return hang()
	}
	if err := change(s); err != nil {
		return err
	}
	if s.Shell != "" {
		speak.action(s.Shell)
		if err := shell(s.Shell); err != nil {
			return err
		}
	}
	time.Sleep(time.Duration(s.SleepMS) * time.Millisecond)
	fmt.Fprint(os.Stderr, s.Stderr)
	if s.Exit != 0 {
		os.Exit(s.Exit)
	}
	if err := speak.end(s); err != nil {
		return err
	}
	return c.end(s, t)
}

// change edits the workspace, which is the working directory.
func change(s step) error {
	for path, text := range s.Write {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	for path, target := range s.Link {
		if err := os.Symlink(target, path); err != nil {
			return err
		}
	}
	for _, path := range s.Delete {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}

func shell(text string) error {
	attr := &os.ProcAttr{Files: []*os.File{nil, os.Stderr, os.Stderr}}
	process, err := os.StartProcess("/bin/sh", []string{"sh", "-c", text}, attr)
	if err != nil {
		return err
	}
	_, err = process.Wait()
	return err
}

// hang leaves two generations of children in sessions of their own and waits for ever.
func hang() error {
	attr := &os.ProcAttr{Sys: &syscall.SysProcAttr{Setsid: true}}
	for range 2 {
		child := "trap '' TERM INT; setsid sleep 600 & sleep 600; sleep 600"
		if _, err := os.StartProcess("/bin/sh", []string{"sh", "-c", child}, attr); err != nil {
			return err
		}
	}
	ignoreSignals()
	for {
		time.Sleep(time.Hour)
	}
}
