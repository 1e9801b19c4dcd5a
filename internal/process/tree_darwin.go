package process

import (
	"golang.org/x/sys/unix"
)

// emptyMeansGone: there is no subreaper on macOS, orphans go to launchd.
const emptyMeansGone = false

func becomeSubreaper() error { return nil }

func renameSelf() {}

const zombie = 5 // SZOMB

// listProcesses reads the process table; zombies are left out.
func listProcesses() []process {
	kinfos, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil
	}
	all := make([]process, 0, len(kinfos))
	for i := range kinfos {
		if kinfos[i].Proc.P_stat != zombie {
			all = append(all, fromKinfo(&kinfos[i]))
		}
	}
	return all
}

// lookProcess reads one process; false when there is none, or only a zombie.
func lookProcess(pid int) (process, bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid || k.Proc.P_stat == zombie {
		return process{}, false
	}
	return fromKinfo(k), true
}

func fromKinfo(k *unix.KinfoProc) process {
	start := k.Proc.P_starttime
	return process{
		pid:    int(k.Proc.P_pid),
		parent: int(k.Eproc.Ppid),
		group:  int(k.Eproc.Pgid),
		start:  uint64(start.Sec)*1_000_000 + uint64(start.Usec),
	}
}

// bootID is empty: start times are absolute here.
func bootID() string { return "" }

// marked is always false: other processes' environments cannot be read reliably.
func marked(int, string) bool { return false }

// signalProcess signals exactly this process, as far as the system allows.
func signalProcess(p process, sig unix.Signal) {
	if now, ok := lookProcess(p.pid); ok && now.start == p.start {
		_ = unix.Kill(p.pid, sig)
	}
}
