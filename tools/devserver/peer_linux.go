package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
)

// supervisorName is what the process above every agent is called; internal/process names it.
const supervisorName = "conclave-supervisor"

// guardSupported says whether this system tells who is behind a connection.
func guardSupported() error { return nil }

// trustedPeer says whether the process that connected from one address to another is this user's, and below no
// supervisor of an agent. What cannot be told is not trusted.
func trustedPeer(from, to netip.AddrPort) error {
	s, err := findSocket(from, to)
	if err != nil {
		return err
	}
	if uid := uint64(os.Getuid()); s.uid != uid {
		return fmt.Errorf("it is user %d's, this server is user %d's", s.uid, uid)
	}
	return trustedHolder(s.inode, holderOf)
}

// retakes is how often another holder is looked for where one has let the socket go meanwhile: what a client starts holds
// the client's sockets from its fork until it is a program of its own.
const retakes = 50

// trustedHolder judges the process that has a socket open.
func trustedHolder(inode uint64, holderOf func(uint64) (int, error)) error {
	for n := 0; ; n++ {
		pid, err := holderOf(inode)
		if err != nil {
			return err
		}
		if err = belowNoSupervisor(pid); err == nil || n == retakes || holds(pid, inode) {
			return err
		}
	}
}

// belowNoSupervisor says why a process is not trusted; nil when no agent started it.
func belowNoSupervisor(pid int) error {
	theirs, err := supervisorsAbove(pid)
	if err != nil {
		return fmt.Errorf("process %d: %w", pid, err)
	}
	ours, err := supervisorsAbove(os.Getpid()) // a run inside of an agent's turn has its own server there
	if err != nil {
		return err
	}
	for _, s := range theirs {
		if !slices.Contains(ours, s) {
			return fmt.Errorf("process %d belongs to an agent's turn (supervisor %d)", pid, s)
		}
	}
	return nil
}

// socket is a line of the kernel's table of TCP connections.
type socket struct{ uid, inode uint64 }

// findSocket finds the client's end of a connection.
func findSocket(from, to netip.AddrPort) (socket, error) {
	for _, table := range []struct {
		file string
		wide bool
	}{{"/proc/net/tcp", false}, {"/proc/net/tcp6", true}} {
		if s, ok, err := lookIn(table.file, inTable(from, table.wide), inTable(to, table.wide)); err != nil || ok {
			return s, err
		}
	}
	return socket{}, errors.New("no process of this machine is behind it")
}

func lookIn(file, local, remote string) (socket, bool, error) {
	f, err := os.Open(file)
	if errors.Is(err, os.ErrNotExist) {
		return socket{}, false, nil // a kernel without that protocol
	}
	if err != nil {
		return socket{}, false, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		columns := strings.Fields(lines.Text())
		if len(columns) < 10 || columns[1] != local || columns[2] != remote {
			continue
		}
		uid, err := strconv.ParseUint(columns[7], 10, 64)
		inode, errToo := strconv.ParseUint(columns[9], 10, 64)
		return socket{uid, inode}, true, errors.Join(err, errToo)
	}
	return socket{}, false, lines.Err()
}

// inTable is how the kernel's tables write an address; "" for one that is in the other table. A client may have reached
// an IPv4 address by a socket for both.
func inTable(a netip.AddrPort, wide bool) string {
	ip := a.Addr().Unmap()
	var raw []byte
	switch {
	case wide:
		sixteen := ip.As16()
		raw = sixteen[:]
	case ip.Is4():
		raw = ip.AsSlice()
	default:
		return ""
	}
	var b strings.Builder
	for word := range slices.Chunk(raw, 4) {
		fmt.Fprintf(&b, "%08X", binary.NativeEndian.Uint32(word))
	}
	fmt.Fprintf(&b, ":%04X", a.Port())
	return b.String()
}

// holderOf finds a process that has the socket open. The newest come first: a client connects soon after it started.
func holderOf(inode uint64) (int, error) {
	if inode == 0 {
		return 0, errors.New("the client has closed it already")
	}
	if holds(os.Getpid(), inode) {
		return os.Getpid(), nil
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, err
	}
	var pids []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	for _, pid := range slices.Backward(pids) {
		if holds(pid, inode) {
			return pid, nil
		}
	}
	return 0, errors.New("no process that can be looked at has it open")
}

func holds(pid int, inode uint64) bool {
	dir := fmt.Sprintf("/proc/%d/fd/", pid)
	d, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	want := fmt.Sprintf("socket:[%d]", inode)
	for _, name := range names {
		if target, err := os.Readlink(dir + name); err == nil && target == want {
			return true
		}
	}
	return false
}

// supervisorsAbove are the supervisors among a process and those above it. A supervisor adopts what its tree leaves
// behind, so nothing that it started gets out of its tree.
func supervisorsAbove(pid int) ([]int, error) {
	var found []int
	for pid > 1 {
		args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil {
			return nil, err
		}
		if name, _, _ := strings.Cut(string(args), "\x00"); name == supervisorName {
			found = append(found, pid)
		}
		if pid, err = parentOf(pid); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func parentOf(pid int) (int, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The name stands in parentheses and may hold anything, also those.
	after := string(stat[strings.LastIndexByte(string(stat), ')')+1:])
	columns := strings.Fields(after)
	if len(columns) < 2 {
		return 0, fmt.Errorf("the state of process %d cannot be read", pid)
	}
	return strconv.Atoi(columns[1])
}
