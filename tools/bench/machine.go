package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// printMachine says where the figures come from.
func printMachine(out io.Writer) {
	fmt.Fprintf(out, "- processor: %s, %d cores\n", cpuModel(), runtime.NumCPU())
	fmt.Fprintf(out, "- system: %s %s\n", runtime.GOOS, fileText("/proc/sys/kernel/osrelease"))
	fmt.Fprintf(out, "- %s, %s\n", runtime.Version(), gitVersion())
	fmt.Fprintf(out, "- load before: %s; scheduling: %s\n", loadAverage(), scheduling())
}

func cpuModel() string {
	for line := range strings.Lines(fileText("/proc/cpuinfo")) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

func gitVersion() string {
	out, err := exec.Command("git", "--version").Output()
	if err != nil {
		return "no git"
	}
	return strings.TrimSpace(string(out))
}

func loadAverage() string {
	if fields := strings.Fields(fileText("/proc/loadavg")); len(fields) > 2 {
		return strings.Join(fields[:3], " ")
	}
	return "unknown"
}

// scheduling tells whether the measured programs go before all others.
func scheduling() string {
	fields := strings.Fields(fileText("/proc/self/sched"))
	for i, f := range fields {
		if f == "policy" && i+2 < len(fields) {
			if policy := fields[i+2]; policy == "1" || policy == "2" {
				return "real-time (other programs of the machine wait)"
			}
		}
	}
	return "normal"
}

func fileText(path string) string {
	raw, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}
