package activities

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"conclave/internal/agent"
	"conclave/internal/convergence"
	"conclave/internal/process"
	"conclave/internal/record"
	"conclave/internal/verifier"
)

// command is one of the user's shell commands (setup, verify, lint), run in the
// workspace under the same supervisor as an agent.
type command struct {
	*Activities
	runID, step string
	// name is setup, verify or lint; its output goes to <name>.log.
	name, text string
	timeout    time.Duration
	env        []string
}

// commandEnd is how a command ended, with its output on disk.
type commandEnd struct {
	process.Result
	limit  time.Duration
	output []byte
	log    string
	// sandbox is what held it; note says why nothing did. temp is the folder for temporary files as it saw it.
	sandbox, note, temp string
}

// Exit codes by which a shell says that it could not run a command at all.
const (
	shellCannotRun = 126
	shellNotFound  = 127
)

// outputKept bounds what is read back of a command's output; all of it is stored.
const outputKept = 8 << 20

func (c command) run(ctx context.Context, w *workspace, scratch string) (commandEnd, error) {
	log := filepath.Join(scratch, c.name+".log")
	env := append(agent.CommandEnviron(c.Environ), c.env...)
	if len(w.ours) > 0 {
		env = append(env, "CONCLAVE_DESIGN_CONTRACT="+filepath.Join(w.dir, contractFile))
	}
	held, err := c.contain(ctx, w, scratch, env)
	defer held.clean()
	if err != nil {
		return c.refused(err, log)
	}
	end, err := process.Run(ctx, process.Spec{
		Sandbox: held.Confinement,
		// Both streams in one file, in the order in which they were written.
		Name: c.name + " command", Path: shell, Args: []string{"-c", "exec 2>&1\n" + c.text}, Env: env, Dir: w.dir,
		Stdout: log, Stderr: filepath.Join(scratch, c.name+".supervisor"), Timeout: c.timeout,
		RegistryDir: RegistryDir(c.StateDir, c.runID), Labels: map[string]string{"run": c.runID, "turn": c.step},
	}, nil)
	if err != nil {
		return commandEnd{}, err
	}
	if end.Cause == process.CauseStartFailed { // there is no output then
		return c.refused(errors.New(end.Message), log)
	}
	if err := c.cleanFile(log); err != nil {
		return commandEnd{}, err
	}
	output, err := readTail(log, outputKept)
	return commandEnd{Result: end, limit: c.timeout, output: output, log: log, sandbox: held.kind(), note: held.note, temp: held.tempSeen()}, err
}

// problem says why the command is not a success; empty when it is one.
func (e commandEnd) problem() string {
	switch {
	case e.Cause == process.CauseTimeout:
		return fmt.Sprintf("timed out after %s", e.limit)
	case e.Cause != process.CauseExited:
		return fmt.Sprintf("ended early (%s) %s", e.Cause, e.Message)
	case e.Signal != "":
		return "was ended by " + e.Signal
	case e.ExitCode != 0:
		return fmt.Sprintf("failed with exit code %d", e.ExitCode)
	default:
		return ""
	}
}

// unjudged says why the command gives no answer at all: it never ran, or we
// ended it. A red test is an answer.
func (e commandEnd) unjudged() string {
	switch {
	case e.Cause != process.CauseExited:
		return e.problem()
	case e.ExitCode == shellCannotRun, e.ExitCode == shellNotFound:
		return fmt.Sprintf("could not be run (exit code %d): %s", e.ExitCode, e.tail())
	default:
		return ""
	}
}

// class is the outcome class and code of a command that gives no answer.
func (e commandEnd) class() (record.Class, string) {
	switch e.Cause {
	case process.CauseTimeout, process.CauseIdle:
		return record.ClassTimeout, convergence.FailTimeout
	case process.CauseStopped:
		return record.ClassAborted, convergence.FailAborted
	default:
		return record.ClassPermanent, convergence.FailEffect
	}
}

// firstCheck is the first failing check of the output, to stand behind the problem.
func (e commandEnd) firstCheck() string {
	first, _, _ := strings.Cut(strings.TrimSpace(verifier.Extract(e.output).Checks), "\n")
	if first == "" {
		return ""
	}
	return ": " + first
}

func (e commandEnd) failure() string { return verifier.Extract(e.output).Text() }

func (e commandEnd) tail() string { return clip(verifier.Extract(e.output).Tail, claimLimit) }

// wordsKept bounds what a prompt shows of a command's output, in bytes.
const wordsKept = 64 << 10

// words is the end of an output of size bytes, from the beginning of a line.
func (e commandEnd) words(size int64) []byte {
	kept := e.output
	if len(kept) > wordsKept {
		kept = kept[len(kept)-wordsKept:]
		if _, rest, cut := bytes.Cut(kept, []byte("\n")); cut {
			kept = rest
		}
	}
	if left := size - int64(len(kept)); left > 0 {
		kept = append(fmt.Appendf(nil, "(the first %d bytes are left out)\n", left), kept...)
	}
	return kept
}

func readTail(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	size := min(info.Size(), most)
	content := make([]byte, size)
	n, err := file.ReadAt(content, info.Size()-size)
	if size == int64(n) {
		return content, nil
	}
	return content[:n], err
}

// longestMessage bounds a final message, in bytes.
const longestMessage = 16 << 20

// readOptional reads what an agent left for us. It may have left anything: a link to a file that only we can read is not
// followed, a pipe is not waited for.
func readOptional(path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENXIO) {
			return nil, nil
		}
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(file, longestMessage))
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
