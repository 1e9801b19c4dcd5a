package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// probing bounds the look at bubblewrap.
const probing = 20 * time.Second

// Detect is what this machine has, found by use. It is looked for once in a process.
func Detect(ctx context.Context) Support { return detected(ctx) }

var (
	detecting sync.Mutex
	detection *Support
)

func detected(ctx context.Context) Support {
	detecting.Lock()
	defer detecting.Unlock()
	if detection == nil {
		found := look(ctx, os.Getenv("PATH"))
		if ctx.Err() != nil {
			return found
		}
		detection = &found
	}
	return *detection
}

func look(ctx context.Context, path string) Support {
	var s Support
	s.Bwrap, s.BwrapWhy = bubblewrap(ctx, path)
	if info, err := os.Stat(s.Bwrap); err == nil {
		s.Privileged = info.Mode()&os.ModeSetuid != 0
	}
	abi, err := ll.LandlockGetABIVersion()
	if err != nil {
		s.LandlockWhy = "is not in this kernel, or switched off (" + err.Error() + ")"
		return s
	}
	s.ABI = abi
	return s
}

// bubblewrap finds the program and has it do what a turn will need.
func bubblewrap(ctx context.Context, path string) (program, why string) {
	program = lookUp("bwrap", path)
	if program == "" {
		return "", "is not installed: install the package bubblewrap"
	}
	ctx, cancel := context.WithTimeout(ctx, probing)
	defer cancel()
	p := Policy{}
	b := &builder{linked: map[string]bool{}}
	b.add(Read, system...)
	p.Rules, p.Links = order(b.policy.Rules), b.policy.Links
	cmd := exec.CommandContext(ctx, program, append(p.Bubblewrap("/"), "/bin/sh", "-c", "echo contained")...)
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	if err := cmd.Run(); err != nil || strings.TrimSpace(out.String()) != "contained" {
		first, _, _ := strings.Cut(strings.TrimSpace(problem.String()), "\n")
		return "", fmt.Sprintf("is refused here (%v: %s)", err, first)
	}
	return program, ""
}
