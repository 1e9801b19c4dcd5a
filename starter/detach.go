package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"conclave/config"
	"conclave/internal/process"
)

const (
	detachPatience = 30 * time.Second
	detachLook     = 20 * time.Millisecond
	// logTail is how much of a failed background starter's output is shown, in bytes.
	logTail = 800
)

// detach hands the started run to a background starter and returns when that one carries it.
func (c *carriage) detach(ctx context.Context, cmd *cobra.Command, asJSON bool) error {
	log := filepath.Join(c.index.Dir(c.entry.RunID), "background.log")
	c.lock.Release() // first: a background starter that finds it taken only watches
	child, err := c.background(cmd, log)
	if err != nil {
		return &fault{code: exitStep, what: "the background starter did not start: " + err.Error(), remedy: "`starter resume " + c.entry.RunID + "` carries the run here"}
	}
	gone := make(chan error, 1)
	go func() { gone <- child.Wait() }()
	patience := time.After(detachPatience)
	for !c.index.Carried(c.entry.RunID) {
		select {
		case err := <-gone:
			if run, missing := readRecord(c.entry); missing == nil && run.Stop.Final() {
				return c.detached(child.Process.Pid, asJSON) // a short run may have ended by now
			}
			return &fault{code: exitStep, what: fmt.Sprintf("the background starter ended (%v): %s", err, process.StderrTail(log, logTail)),
				remedy: "`starter resume " + c.entry.RunID + "` carries the run here"}
		case <-patience:
			return &fault{code: exitStep, what: "the background starter does not take the run; its output is " + log}
		case <-ctx.Done():
			return &fault{code: exitInterrupt, what: "interrupted; the background starter goes on with run " + c.entry.RunID}
		case <-time.After(detachLook):
		}
	}
	return c.detached(child.Process.Pid, asJSON)
}

func (c *carriage) detached(pid int, asJSON bool) error {
	if asJSON {
		return c.app.printJSON(map[string]any{"run_id": c.entry.RunID, "pid": pid, "bundle": c.entry.Bundle})
	}
	c.app.print("%s", c.entry.RunID)
	c.app.say("process %d carries the run; `starter watch %s` shows it, `starter show %s` its report", pid, c.entry.RunID, c.entry.RunID)
	return nil
}

// background starts `starter resume` in a session of its own.
func (c *carriage) background(cmd *cobra.Command, log string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	output, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = output.Close() }()
	child := exec.Command(self, append([]string{"resume", "--no-progress"}, append(hostArgs(cmd.Flags()), c.entry.RunID)...)...)
	child.Stdout, child.Stderr, child.SysProcAttr = output, output, ownSession()
	child.Env = append(os.Environ(), "CONCLAVE_STATE_DIR="+c.index.StateDir())
	return child, child.Start()
}

// hostArgs repeats the flags that say what runs the loop.
func hostArgs(fs *pflag.FlagSet) []string {
	known := pflag.NewFlagSet("host", pflag.ContinueOnError)
	config.HostFlags(known)
	known.String("config", "", "")
	var args []string
	fs.Visit(func(f *pflag.Flag) {
		if known.Lookup(f.Name) != nil {
			args = append(args, "--"+f.Name+"="+f.Value.String())
		}
	})
	return args
}
