package localserver

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// buildFlags are those of the Makefile: other flags would compile a thousand packages anew. No path of this machine goes into the program.
var buildFlags = []string{"-trimpath", "-ldflags=-s -w"}

const (
	progressInterval = 10 * time.Second
	interruptGrace   = 5 * time.Second
	keptErrorLines   = 20
)

// build compiles the server from source into the state folder, where it is found next time. It takes minutes.
func build(ctx context.Context, source string, f files, lookPath func(string) (string, error), progress func(string)) (binary, error) {
	module := filepath.Join(source, "tools", "devserver")
	goTool, err := lookPath("go")
	if err != nil {
		return binary{}, fmt.Errorf("build the Temporal server in %s: no Go toolchain on PATH: %w; %w", module, err, errNoBinary)
	}
	if err := os.MkdirAll(filepath.Dir(f.built()), 0o700); err != nil {
		return binary{}, fmt.Errorf("build the Temporal server: %w", err)
	}
	tmp := fmt.Sprintf("%s.%d.tmp", f.built(), os.Getpid())
	defer func() { _ = os.Remove(tmp) }() // there is none after success
	progress(fmt.Sprintf("building the Temporal server from %s: this takes several minutes, once", module))
	total := countPackages(ctx, goTool, module)
	if err := compile(ctx, goTool, module, tmp, compileMeter{total: total, report: progress}); err != nil {
		return binary{}, err
	}
	if err := os.Rename(tmp, f.built()); err != nil {
		return binary{}, fmt.Errorf("build the Temporal server: %w", err)
	}
	return binary{f.built(), kindDevserver}, nil
}

// countPackages returns how many packages the server consists of, 0 when that cannot be told.
func countPackages(ctx context.Context, goTool, module string) int {
	out, err := goCommand(ctx, goTool, module, "list", "-deps", ".").Output()
	if err != nil {
		return 0 // the build says what is wrong
	}
	return bytes.Count(out, []byte("\n"))
}

func compile(ctx context.Context, goTool, module, output string, meter compileMeter) error {
	cmd := goCommand(ctx, goTool, module, append(append([]string{"build", "-v"}, buildFlags...), "-o", output, ".")...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return fmt.Errorf("build the Temporal server: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("build the Temporal server: %w", err)
	}
	tick := time.NewTicker(progressInterval)
	defer tick.Stop()
	said := meter.follow(stderr, tick.C)
	if err := cmd.Wait(); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("build the Temporal server: %w (what is compiled already is kept)", context.Cause(ctx))
		}
		return fmt.Errorf("build the Temporal server in %s: %w\n%s", module, err, strings.Join(said, "\n"))
	}
	return nil
}

// goCommand is a go command in the module, untouched by a workspace around it, that ends when ctx does.
func goCommand(ctx context.Context, goTool, module string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, goTool, args...)
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "GOWORK=off")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = interruptGrace
	return cmd
}

// compileMeter turns the output of `go build -v`, one line per compiled package, into an occasional line for people.
type compileMeter struct {
	total  int
	report func(string)
}

// follow reads until the end and returns the last lines that name no package. It reports at every tick, also while one big package or the linker
// takes its time.
func (m compileMeter) follow(r io.Reader, tick <-chan time.Time) []string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(r)
		for scanner.Scan() {
			lines <- scanner.Text()
		}
		_, _ = io.Copy(io.Discard, r) // a line too long for the scanner must not block the compiler
	}()
	var said []string
	done := 0
	for {
		select {
		case <-tick:
			m.report(m.line(done))
		case line, more := <-lines:
			switch {
			case !more:
				return said
			case isPackageLine(line):
				done++
			default:
				said = append(said, line)
				said = said[max(0, len(said)-keptErrorLines):]
			}
		}
	}
}

func (m compileMeter) line(done int) string {
	if m.total == 0 {
		return fmt.Sprintf("compiled %d packages of the Temporal server", done)
	}
	return fmt.Sprintf("compiled %d of at most %d packages of the Temporal server", done, m.total)
}

// isPackageLine tells an import path from a message: messages have spaces, colons or a leading #.
func isPackageLine(line string) bool {
	return line != "" && !strings.ContainsAny(line, " :#\t")
}
