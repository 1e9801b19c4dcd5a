//go:build linux || darwin

package process

import "golang.org/x/sys/unix"

// process is one entry of the process table. pid and start together name it for ever (within one boot).
type process struct {
	pid, parent, group int
	start              uint64 // Linux: clock ticks since boot; macOS: microseconds since 1970
}

// descendants are the processes below root, root itself excluded.
func descendants(all []process, root int) []process {
	children := make(map[int][]process, len(all))
	for _, p := range all {
		children[p.parent] = append(children[p.parent], p)
	}
	var found []process
	seen := map[int]bool{root: true}
	for queue := []int{root}; len(queue) > 0; queue = queue[1:] {
		for _, p := range children[queue[0]] {
			if !seen[p.pid] {
				seen[p.pid] = true
				found = append(found, p)
				queue = append(queue, p.pid)
			}
		}
	}
	return found
}

// killAll kills the processes, and first their groups: the kernel kills a group at once, which also ends a chain of
// processes that fork faster than one can look. Groups of our own session's leader are spared.
func killAll(found []process, ownGroup int) {
	done := map[int]bool{ownGroup: true, 0: true, 1: true}
	for _, p := range found {
		if done[p.group] {
			continue
		}
		done[p.group] = true
		if now, ok := lookProcess(p.pid); ok && now.start == p.start && now.group == p.group {
			_ = unix.Kill(-p.group, unix.SIGKILL)
		}
	}
	for _, p := range found {
		signalProcess(p, unix.SIGKILL)
	}
}
