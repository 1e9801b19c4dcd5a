//go:build linux || darwin

package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// entry is one file of a registry: it exists while a supervisor lives.
type entry struct {
	Pid          int    `json:"pid"`
	StartTime    uint64 `json:"start_time"` // clock ticks since boot (Linux)
	Boot         string `json:"boot,omitempty"`
	Run          string `json:"run"`
	Turn         string `json:"turn"`
	Name         string `json:"name"`
	Command      int    `json:"command,omitempty"` // the agent's process
	CommandStart uint64 `json:"command_start_time,omitempty"`
	Mark         string `json:"mark"`
	path         string
}

func newEntry(j job) entry {
	e := entry{
		Pid: os.Getpid(), Boot: bootID(), Run: j.Labels["run"], Turn: j.Labels["turn"], Name: j.Name, Mark: j.Mark,
	}
	if self, ok := lookProcess(e.Pid); ok {
		e.StartTime = self.start
	}
	if j.RegistryDir != "" {
		e.path = filepath.Join(j.RegistryDir, strconv.Itoa(e.Pid)+".json")
	}
	return e
}

// write replaces the file at once, so that a reader never sees half of it.
func (e entry) write() error {
	if e.path == "" {
		return nil
	}
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	fresh := e.path + ".new"
	if err := os.WriteFile(fresh, append(b, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(fresh, e.path)
}

func (e entry) remove() {
	if e.path != "" {
		_ = os.Remove(e.path)
	}
}

func (e *entry) setCommand(pid int) {
	if e.path == "" {
		return
	}
	e.Command = pid
	if p, ok := lookProcess(pid); ok {
		e.CommandStart = p.start
	}
	_ = e.write() // the first version already names the supervisor
}

// How long KillRegistered waits for a supervisor that cleans up by itself, and then for what it killed.
const (
	waitSupervisor = 12 * time.Second
	waitKilled     = 10 * time.Second
)

// KillRegistered ends what the registry of a dead starter or worker names: whole trees, recognised by process id and
// start time. It returns the supervisors that were still alive, after they are gone, and removes their files. A
// supervisor whose worker died kills its tree at once by itself, so this mostly waits. A missing folder is no error.
func KillRegistered(dir string) ([]int, error) {
	files, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the registry of processes: %w", err)
	}
	var pids []int
	var problems []error
	for _, f := range files {
		path := filepath.Join(dir, f.Name())
		switch {
		case strings.HasSuffix(f.Name(), ".json.new"):
			_ = os.Remove(path) // a supervisor that died while writing had not started anything
		case strings.HasSuffix(f.Name(), ".json"):
			alive, err := endEntry(path)
			if alive != 0 {
				pids = append(pids, alive)
			}
			if err != nil {
				problems = append(problems, err)
			}
		}
	}
	return pids, errors.Join(problems...)
}

// endEntry kills what one file names; the pid when its supervisor was alive.
func endEntry(path string) (int, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil // its supervisor has just ended
	}
	if err != nil {
		return 0, fmt.Errorf("read the registry of processes: %w", err)
	}
	var e entry
	if err := json.Unmarshal(b, &e); err != nil || e.Pid <= 1 {
		return 0, fmt.Errorf("%s names no process: check for agents that still run, then delete the file", path)
	}
	e.path = path
	if e.Boot != bootID() {
		e.remove()
		return 0, nil
	}
	pid := 0
	if p, ok := e.supervisor(); ok {
		pid = p.pid
		signalProcess(p, syscall.SIGTERM) // means "kill your tree now"
		if !waitFor(waitSupervisor, func() bool { _, ok := e.supervisor(); return !ok }) {
			killAll(append(descendants(listProcesses(), p.pid), p), syscall.Getpgrp())
		}
	}
	if !waitFor(waitKilled, func() bool { return e.sweep() == 0 }) {
		return pid, fmt.Errorf("processes of turn %s cannot be killed: see %s", e.Turn, path)
	}
	e.remove()
	return pid, nil
}

func (e entry) supervisor() (process, bool) {
	p, ok := lookProcess(e.Pid)
	return p, ok && p.start == e.StartTime
}

// sweep kills what a supervisor left that could not clean up: the command, what is below it, and whatever carries the
// mark of the turn. It returns how many processes it found.
func (e entry) sweep() int {
	all := listProcesses()
	var found []process
	have := map[int]bool{os.Getpid(): true}
	add := func(p process) {
		if !have[p.pid] {
			have[p.pid] = true
			found = append(found, p)
		}
	}
	for _, p := range all {
		if p.pid == e.Pid && p.start == e.StartTime || p.pid == e.Command && p.start == e.CommandStart || marked(p.pid, e.Mark) {
			add(p)
			for _, d := range descendants(all, p.pid) {
				add(d)
			}
		}
	}
	killAll(found, unix.Getpgrp())
	return len(found)
}

// waitFor asks until the answer is yes; false when the time is over.
func waitFor(limit time.Duration, ok func() bool) bool {
	deadline := time.Now().Add(limit)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		if ok() {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(pause)
	}
}
