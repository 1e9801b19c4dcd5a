//go:build linux

package sandbox_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"conclave/internal/sandbox"
)

// The test binary is also the attacker: with attackVariable set it tries everything and says what it could do.
const attackVariable = "CONCLAVE_TEST_ATTACK"

func TestMain(m *testing.M) {
	if target := os.Getenv(attackVariable); target != "" {
		attack(target)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// try prints an attack's success; silence is failure.
func try(name string, err error) {
	if err == nil {
		fmt.Println("SUCCESS", name)
	}
}

// attack tries to reach a process of the worker, described as "pid abstract-socket socket-file secret-file".
func attack(target string) {
	words := strings.Fields(target)
	pid, _ := strconv.Atoi(words[0])
	try("started", nil)
	readsProcesses(pid)
	try("ptrace", syscall.PtraceAttach(pid))
	buffer := make([]byte, 8)
	local := []unix.Iovec{{Base: &buffer[0], Len: 8}}
	_, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: 0x400000, Len: 8}}, 0)
	try("process_vm_readv", err)
	try("signal", unix.Kill(pid, unix.SIGCONT))
	try("signal the supervisor", signalOthers(os.Getppid()))
	if status, _ := os.ReadFile("/proc/self/status"); strings.Contains(string(status), "CapEff:\t0000000000000000") {
		privileged(words[3])
	} else {
		try("capabilities", nil) // what follows would harm the machine
	}
	connection, err := net.Dial("unix", words[1])
	try("abstract socket", err)
	if err == nil {
		_ = connection.Close()
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	try("terminal", err)
	if err == nil {
		try("TIOCSTI", unix.IoctlSetPointerInt(int(tty.Fd()), unix.TIOCSTI, 'x'))
	}
	_, err = os.ReadFile(words[3])
	try("secret", err)
	opensKernel()
	if status, _ := os.ReadFile("/proc/self/status"); strings.Contains(string(status), "NoNewPrivs:\t1") {
		namespaces(words[3])
	}
	writesLinks(words[3])
}

// privileged tries what only root may. It is only called where there is nothing of root left.
func privileged(secret string) {
	try("mount", unix.Mount("none", os.TempDir(), "tmpfs", 0, ""))
	try("remount", unix.Mount("none", "/usr", "", unix.MS_REMOUNT|unix.MS_BIND, ""))
	try("unmount", unix.Unmount(filepath.Dir(secret), unix.MNT_DETACH))
	try("chroot", unix.Chroot("/"))
	try("device", unix.Mknod(filepath.Join(os.TempDir(), "disk"), unix.S_IFBLK|0o600, int(unix.Mkdev(8, 0))))
	try("set user", unix.Setresuid(12345, 12345, 12345))
	try("module", unix.InitModule([]byte("x"), ""))
	try("host name", unix.Sethostname([]byte("owned")))
}

// signalOthers asks for a signal to a process that is not of this turn.
func signalOthers(parent int) error {
	if parent <= 1 {
		return syscall.ESRCH
	}
	name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", parent))
	if !strings.HasPrefix(string(name), "conclave-super") {
		return syscall.ESRCH // bubblewrap's own first process
	}
	return unix.Kill(parent, 0)
}

// opensKernel tries to open for writing, and writes nothing, what lets root out of a container.
func opensKernel() {
	files := []string{"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sysrq-trigger", "/sys/kernel/uevent_helper", "/sys/power/state", "/etc/passwd", "/usr/bin/env", "/dev/mem", "/dev/vda", "/dev/sda"}
	agents, _ := filepath.Glob("/sys/fs/cgroup/*/release_agent")
	for _, name := range append(files, agents...) {
		file, err := os.OpenFile(name, os.O_WRONLY, 0)
		try("open "+name, err)
		if err == nil {
			_ = file.Close()
		}
	}
}

func readsProcesses(pid int) {
	self := os.Getpid()
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		other, err := strconv.Atoi(e.Name())
		if err != nil || other == self {
			continue
		}
		for _, what := range []string{"environ", "maps", "mem"} {
			content := make([]byte, 1<<16)
			if f, err := os.Open(fmt.Sprintf("/proc/%d/%s", other, what)); err == nil {
				n, err := f.Read(content)
				if err == nil && strings.Contains(string(content[:n]), "WORKERS_SECRET") || what == "mem" && err == nil {
					try(fmt.Sprintf("%s of %d", what, other), nil)
				}
				_ = f.Close()
			}
		}
	}
	for _, what := range []string{"environ", "root/etc/passwd", "cwd/.", "exe"} {
		_, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, what))
		if what == "cwd/." {
			_, err = os.ReadDir(fmt.Sprintf("/proc/%d/cwd/", pid))
		}
		try(what+" of the worker", err)
	}
}

// namespaces tries to get at what is hidden from a namespace of the attacker's own.
func namespaces(secret string) {
	script := fmt.Sprintf(`mount -t tmpfs none /mnt 2>/dev/null; umount -l '%s' 2>/dev/null; mount -o remount,rw,bind /usr 2>/dev/null && (: > /usr/owned) 2>/dev/null && echo USR; cat '%s' 2>/dev/null`, filepath.Dir(secret), secret)
	out, _ := exec.Command("unshare", "-Urm", "sh", "-c", script).CombinedOutput()
	if strings.Contains(string(out), "content of") || strings.Contains(string(out), "USR") {
		try("through a namespace of its own: "+string(out), nil)
	}
}

// writesLinks tries to read and to change the secret, and a file beside it, through links in the workspace.
func writesLinks(secret string) {
	for i, to := range []string{secret, filepath.Dir(secret), "/proc/self/root" + secret} {
		link := fmt.Sprintf("link%d", i)
		if os.Symlink(to, link) != nil {
			continue
		}
		content, err := os.ReadFile(link)
		try("read through a link", err)
		_ = content
		try("write through a link", os.WriteFile(link, []byte("owned"), 0o600))
		try("write below a link", os.WriteFile(filepath.Join(link, "owned"), nil, 0o600))
		_ = os.Remove(link)
	}
	try("hard link", os.Link(secret, "hard"))
}

// prisoner is a process of the user's with a secret in its environment, and what else an attack looks for.
func prisoner(t *testing.T, s *scene) string {
	t.Helper()
	cmd := exec.Command("sleep", "300")
	cmd.Env = append(os.Environ(), "WORKERS_SECRET=1")
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	abstract := fmt.Sprintf("@conclave-test-%d", cmd.Process.Pid)
	l, err := net.Listen("unix", abstract)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return fmt.Sprintf("%d %s - %s", cmd.Process.Pid, abstract, s.home+"/.ssh/id")
}

func TestAttacks(t *testing.T) {
	support := sandbox.Detect(context.Background())
	kinds(t, func(t *testing.T, kind sandbox.Kind) {
		for i, role := range []sandbox.Role{sandbox.Reader, sandbox.Writer, sandbox.Command} {
			t.Run([]string{"reader", "writer", "command"}[i], func(t *testing.T) {
				s := newScene(t)
				turn := s.turn(role)
				turn.Program = os.Args[0]
				turn.Env = append(turn.Env, attackVariable+"="+prisoner(t, s))
				out, res := s.run(kind, turn, "")
				require.Zero(t, res.ExitCode)
				var won []string
				for lines := bufio.NewScanner(strings.NewReader(out)); lines.Scan(); {
					won = append(won, lines.Text())
				}
				want := []string{"SUCCESS started"}
				if kind == sandbox.Landlock && support.ABI < 6 {
					require.Subset(t, []string{"SUCCESS started", "SUCCESS signal", "SUCCESS signal the supervisor", "SUCCESS abstract socket"}, won)
					return
				}
				require.Equal(t, want, won)
				require.Equal(t, "content of "+s.home+"/.ssh/id\n", read(t, s.home+"/.ssh/id"))
			})
		}
	})
}

// Without a sandbox the same attacks succeed: the test above can fail.
func TestTheAttacksWorkWithoutASandbox(t *testing.T) {
	s := newScene(t)
	cmd := exec.Command(os.Args[0])
	cmd.Dir = s.workspace
	cmd.Env = append(os.Environ(), attackVariable+"="+prisoner(t, s))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	for _, won := range []string{"environ of the worker", "signal", "abstract socket", "secret", "read through a link", "write below a link", "root/etc/passwd of the worker"} {
		require.Contains(t, string(out), "SUCCESS "+won)
	}
}

func TestNoPrivileges(t *testing.T) {
	kinds(t, func(t *testing.T, kind sandbox.Kind) {
		s := newScene(t)
		out, _ := s.run(kind, s.turn(sandbox.Writer), `grep -E '^(Cap|NoNewPrivs)' /proc/self/status; ls /proc/self/fd; tty`)
		for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"} {
			if set == "CapBnd" && os.Getuid() != 0 { // a user has none to drop, and gets none without new privileges
				continue
			}
			require.Contains(t, out, set+":\t0000000000000000")
		}
		require.Contains(t, out, "NoNewPrivs:\t1")
		require.Contains(t, out, "\n0\n1\n2\n3\nnot a tty", "3 is ls's own folder: nothing of ours is inherited")
	})
}
