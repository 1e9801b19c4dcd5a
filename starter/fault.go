package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"conclave/config"
	"conclave/internal/localserver"
	"conclave/internal/report/text"
	"conclave/internal/runindex"
)

// Exit codes that are not a run's outcome; record.Stop knows the others.
const (
	exitFailed = 1
	exitUsage  = 2
	// exitStep is for what failed while a run was at work.
	exitStep      = 4
	exitInterrupt = 130
)

// fault ends the program with a code, one line that says what and one that
// says what to do. Without a line the program has said it already.
type fault struct {
	code         int
	what, remedy string
}

func (f *fault) Error() string { return f.what }

func usage(remedy, format string, args ...any) error {
	return &fault{code: exitUsage, what: fmt.Sprintf(format, args...), remedy: remedy}
}

// silent ends the program with a code that the output explains already.
func silent(code int) error {
	if code == 0 {
		return nil
	}
	return &fault{code: code}
}

// explain prints what ended the program and gives its exit code.
func explain(w io.Writer, err error) int {
	if err == nil {
		return 0
	}
	var f *fault
	if errors.As(err, &f) {
		complain(w, f.what, f.remedy)
		return f.code
	}
	var missing *runindex.NotFoundError
	if errors.As(err, &missing) {
		complain(w, missing.Error(), missing.Remedy())
		return exitUsage
	}
	var p config.Problem
	if errors.As(err, &p) {
		for _, p := range config.Problems(err) {
			complain(w, p.What, p.Remedy)
		}
		return exitUsage
	}
	if errors.Is(err, localserver.ErrEndedAtOnce) {
		complain(w, err.Error(), "the server's program has to fit the starter: `make build` builds both, `starter doctor` names the one that is used")
		return exitUsage
	}
	if errors.Is(err, context.Canceled) {
		complain(w, "interrupted", "")
		return exitInterrupt
	}
	complain(w, err.Error(), "")
	return exitUsage
}

func complain(w io.Writer, what, remedy string) {
	if what == "" {
		return
	}
	fmt.Fprintf(w, "starter: %s\n", oneLine(what))
	if remedy != "" {
		fmt.Fprintf(w, "  %s\n", oneLine(remedy))
	}
}

func oneLine(s string) string { return text.OneLine(s, 0) }
