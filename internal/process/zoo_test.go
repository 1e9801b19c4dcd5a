//go:build linux || darwin

package process

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// The test binary is also the zoo: with zooVariable set it behaves like one of the animals below.
const zooVariable = "CONCLAVE_TEST_ZOO"

func TestMain(m *testing.M) {
	Main()
	if name := os.Getenv(zooVariable); name != "" {
		animal, arg, _ := strings.Cut(name, ":")
		zoo[animal](arg)
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// contain puts a turn into the sandbox that the tests run in; see TestTheZooInASandbox.
var contain = func(s Spec) Spec { return s }

// contained names that sandbox, "" for none.
var contained = os.Getenv("CONCLAVE_TEST_SANDBOX")

var zoo map[string]func(arg string)

func init() {
	zoo = map[string]func(string){
		"exit":         func(arg string) { code, _ := strconv.Atoi(arg); os.Exit(code) },
		"die":          func(string) { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL); forever() },
		"lines":        func(string) { fmt.Print("one\ntwo\r\n\xe2\x80\xa8three\u0085\n\nlast without end") },
		"echo":         func(string) { _, _ = io.Copy(os.Stdout, os.Stdin) },
		"binary":       func(string) { _, _ = os.Stdout.Write([]byte("\x00\xff\xfe\n\x1b[31mred\xc3\n")) },
		"stderr":       func(string) { fmt.Fprint(os.Stderr, "\x1b[31mbad\x1b[0m thing\n") },
		"environment":  func(string) { fmt.Println(strings.Join(os.Environ(), "\n")) },
		"terminal":     terminal,
		"deaf":         deaf,
		"tree":         tree,
		"daemon":       daemon,
		"hold":         func(string) { spawn("sleep", true); fmt.Println("leader leaves") },
		"sleep":        func(string) { forever() },
		"silent-close": func(string) { _ = os.Stdout.Close(); time.Sleep(200 * time.Millisecond); os.Exit(7) },
		"read-ever": func(string) {
			fmt.Println("reading")
			_, _ = io.Copy(io.Discard, os.Stdin)
			fmt.Println("end of input")
		},
		"much":      much,
		"long":      long,
		"polite":    polite,
		"worker":    worker,
		"parricide": func(string) { spawn("sleep", true); _ = syscall.Kill(os.Getppid(), syscall.SIGKILL); forever() },
		"chain":     chain,
	}
}

func forever() {
	for {
		time.Sleep(time.Hour)
	}
}

// spawn starts another animal, in a session of its own if asked, holding our standard output.
func spawn(name string, session bool) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), zooVariable+"="+name)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: session}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
}

// deaf ignores every polite signal.
func deaf(string) {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	fmt.Println("ready")
	forever()
}

// tree is an agent with a deaf tool in a session of its own, and a daemon.
func tree(string) {
	spawn("deaf", true)
	spawn("daemon", false)
	time.Sleep(100 * time.Millisecond)
	deaf("")
}

// daemon forks twice; its grandchild's parent is gone.
func daemon(string) { spawn("deaf", true); time.Sleep(20 * time.Millisecond) }

// chain is replaced by a child of its own over and over, faster than one can look.
func chain(string) {
	sh := exec.Command("/bin/sh", "-c", `f() { (f &) ; }; f`)
	sh.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	_ = sh.Start()
	fmt.Println("ready")
	time.Sleep(200 * time.Millisecond)
}

func terminal(string) {
	f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	fmt.Println(f != nil, err != nil)
}

// much prints arg MiB.
func much(arg string) {
	n, _ := strconv.Atoi(arg)
	line := []byte(strings.Repeat("x", 1<<10-1) + "\n")
	w := bufio.NewWriterSize(os.Stdout, 1<<20)
	for range n << 10 {
		_, _ = w.Write(line)
	}
	_ = w.Flush()
}

// long prints one line of arg MiB, then a short one.
func long(arg string) {
	n, _ := strconv.Atoi(arg)
	w := bufio.NewWriterSize(os.Stdout, 1<<20)
	chunk := strings.Repeat("y", 1<<20)
	for range n {
		_, _ = w.WriteString(chunk)
	}
	_, _ = w.WriteString("\nshort\n")
	_ = w.Flush()
}

// polite ends well at SIGINT.
func polite(string) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	fmt.Println("ready")
	<-c
	fmt.Println("interrupted")
	os.Exit(1)
}

// worker is a process that runs a turn; its folder is arg.
func worker(dir string) {
	s := Spec{
		Name: "zoo", Path: os.Args[0], Env: append([]string{zooVariable + "=tree"}, OwnVariables...), Dir: dir,
		Stdout: filepath.Join(dir, "stdout"), Stderr: filepath.Join(dir, "stderr"), RegistryDir: filepath.Join(dir, "registry"),
		Labels: map[string]string{"run": "r", "turn": "t"}, Grace: time.Hour, // which the death of the worker does not give
	}
	_ = os.MkdirAll(s.RegistryDir, 0o700)
	_, err := Run(context.Background(), contain(s), nil)
	fmt.Println(err)
}
