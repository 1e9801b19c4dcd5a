package main

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"conclave/internal/agent"
	"conclave/internal/process"
)

func main() {
	process.Main()   // does not return in a supervisor of an agent
	agent.StubMain() // does not return in a stub agent
	if runtime.GOOS == "windows" {
		fmt.Fprintln(os.Stderr, "starter: Windows is not supported yet")
		fmt.Fprintln(os.Stderr, "  use Linux or macOS, for instance in a virtual machine or a container")
		os.Exit(exitUsage)
	}
	a := &app{in: os.Stdin, out: os.Stdout, err: os.Stderr}
	os.Exit(a.run(context.Background(), os.Args[1:]))
}
