package process

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// emptyMeansGone: with a subreaper every descendant ends up as our child, so "no children" proves that nothing is left.
const emptyMeansGone = true

// becomeSubreaper makes orphans of the tree our children.
func becomeSubreaper() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// renameSelf keeps "killall starter" from reaching the supervisors, which then could not clean up.
func renameSelf() { _ = os.WriteFile("/proc/self/comm", []byte("conclave-super"), 0) }

// listProcesses reads the process table; zombies are left out.
func listProcesses() []process {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	names, _ := dir.Readdirnames(-1)
	all := make([]process, 0, len(names))
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, ok := lookProcess(pid); ok {
			all = append(all, p)
		}
	}
	return all
}

// lookProcess reads one process; false when there is none, or only a zombie.
func lookProcess(pid int) (process, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false
	}
	// pid (name, which may contain anything) state ppid pgrp session ... starttime is field 22.
	i := bytes.LastIndexByte(b, ')')
	if i < 0 {
		return process{}, false
	}
	f := strings.Fields(string(b[i+1:]))
	if len(f) < 20 || f[0] == "Z" || f[0] == "X" {
		return process{}, false
	}
	p := process{pid: pid}
	p.parent, _ = strconv.Atoi(f[1])
	p.group, _ = strconv.Atoi(f[2])
	p.start, _ = strconv.ParseUint(f[19], 10, 64)
	return p, true
}

// bootID tells one boot of the machine from another: process ids and start times begin anew.
func bootID() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b))
}

// marked says whether a process carries the mark of a turn in its environment.
func marked(pid int, mark string) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	want := []byte(MarkVariable + "=" + mark)
	for _, e := range bytes.Split(b, []byte{0}) {
		if bytes.Equal(e, want) {
			return true
		}
	}
	return false
}

// signalProcess signals exactly this process: not a later one that got its number.
func signalProcess(p process, sig unix.Signal) {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err == nil {
		defer func() { _ = unix.Close(fd) }()
	}
	if now, ok := lookProcess(p.pid); !ok || now.start != p.start {
		return
	}
	if err != nil || unix.PidfdSendSignal(fd, sig, nil, 0) == unix.ENOSYS {
		_ = unix.Kill(p.pid, sig)
	}
}
