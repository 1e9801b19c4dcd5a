package main

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// twiceVariable makes a test process one that Ctrl-C reaches again when it has done what the first one asked for.
const twiceVariable = "CONCLAVE_TEST_TWICE"

func interruptedTwice() {
	i := watchInterrupts()
	_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
	<-i.first
	i.stop()
	_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
	time.Sleep(300 * time.Millisecond) // in which it would die
	os.Exit(7)
}

// The second Ctrl-C may come when the first one has done its work. It killed the program then, and the exit code told nothing.
func TestALateInterruptDoesNotChangeHowTheProgramEnds(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), twiceVariable+"=1")
	_ = cmd.Run()
	require.Equal(t, 7, cmd.ProcessState.ExitCode(), cmd.ProcessState)
}
