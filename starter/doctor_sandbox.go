package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"conclave/activities"
	"conclave/config"
	"conclave/internal/process"
	"conclave/internal/sandbox"
)

// sandboxPatience bounds what doctor tries against the sandbox.
const sandboxPatience = time.Minute

// checkSandboxes says which sandbox a turn here would have, and proves each guarantee by trying to break it: two turns of
// a shell, a reader's and a writer's, run in the sandbox and try; what they could do is looked at from outside.
func checkSandboxes(ctx context.Context, h config.Host) []check {
	if runtime.GOOS != "linux" {
		return []check{{Name: "sandbox", Needed: h.Sandbox == activities.SandboxRequired,
			Says: "there is none on this system yet: agents are held by their own sandboxes only"}}
	}
	needed := h.Sandbox == activities.SandboxRequired
	support := detectSandbox(ctx)
	if support.Kind() == sandbox.None {
		return []check{{Name: "sandbox", Needed: needed, Says: "none holds here: " + support.Why() + "; install bubblewrap, or use a kernel with Landlock (Linux 6.2)"}}
	}
	line := check{Name: "sandbox", OK: true, Needed: needed, Says: string(support.Kind()) + how(support)}
	if h.Sandbox == activities.SandboxOff {
		line.Says += "; switched off by --sandbox off"
	}
	ctx, cancel := context.WithTimeout(ctx, sandboxPatience)
	defer cancel()
	p, err := newProving(support)
	if err != nil {
		return []check{line, {Name: "sandbox", Says: "cannot be tried: " + err.Error()}}
	}
	defer p.close()
	return append([]check{line}, p.prove(ctx, needed)...)
}

func how(s sandbox.Support) string {
	if why := s.Why(); why != "" {
		return " (" + why + ")"
	}
	return fmt.Sprintf(", with Landlock %d", s.ABI)
}

// proving is a scratch home with secrets and another run, in which the sandbox is tried.
type proving struct {
	support sandbox.Support
	root    string
	// broken leaves the sandbox out, to show that its lack is found.
	broken bool
}

// trace is what the traps hold; nothing that a turn prints may contain it.
const trace = "conclave-doctor-secret"

func newProving(support sandbox.Support) (_ *proving, err error) {
	p := &proving{support: support}
	if p.root, err = os.MkdirTemp("", "conclave-doctor-"); err != nil {
		return nil, err
	}
	for name, text := range map[string]string{
		"home/.ssh/id": trace, "home/.aws/credentials": trace, "home/.codex/auth.json": trace, "home/notes": "notes",
		"state/runs/other/run.json": trace, "home/.claude/login": "old", "workspace/file": "file", "workspace/AGENTS.md": "kept",
		"outside/file": "outside",
	} {
		path := filepath.Join(p.root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *proving) close() { _ = os.RemoveAll(p.root) }

func (p *proving) at(name string) string { return filepath.Join(p.root, name) }

// turn runs a shell script in the sandbox of a role and returns what it printed.
func (p *proving) turn(ctx context.Context, role sandbox.Role, script string) (string, error) {
	scratch, err := os.MkdirTemp(p.root, "turn-")
	if err != nil {
		return "", err
	}
	temp := filepath.Join(scratch, "tmp")
	if err := os.Mkdir(temp, 0o700); err != nil {
		return "", err
	}
	env := []string{"HOME=" + p.at("home"), "PATH=/usr/local/bin:/usr/bin:/bin"}
	policy, err := sandbox.Turn{
		Role: role, Program: "/bin/sh", Env: env, Workspace: p.at("workspace"), Temp: temp, Hide: []string{p.at("state")},
		State: []sandbox.StatePath{{Path: p.at("home/.claude")}}, Protected: []string{p.at("workspace/AGENTS.md")},
	}.Policy()
	if err != nil {
		return "", err
	}
	held, err := p.support.Confine(policy, p.at("workspace"))
	if err != nil {
		return "", err
	}
	if p.broken {
		held = nil
	}
	out := filepath.Join(scratch, "out")
	end, err := process.Run(ctx, process.Spec{
		Name: "doctor", Path: "/bin/sh", Args: []string{"-c", script}, Env: env, Dir: p.at("workspace"), Sandbox: held,
		Stdout: out, Stderr: filepath.Join(scratch, "err"), Timeout: sandboxPatience / 2, Grace: 100 * time.Millisecond,
	}, nil)
	if err != nil {
		return "", err
	}
	said, err := os.ReadFile(out)
	if err == nil && !strings.Contains(string(said), "doctor began") {
		err = fmt.Errorf("the shell did not start in it (%s): %s", end.Cause, process.StderrTail(filepath.Join(scratch, "err"), 300))
	}
	return string(said), err
}

// guarantee is one line: what was tried, and whether it was refused.
type guarantee struct {
	name, says string
	holds      bool
	// weak ones cannot hold in the sandbox that is left here; they are no failure.
	weak string
}

func (p *proving) prove(ctx context.Context, needed bool) []check {
	script := p.script()
	reader, err := p.turn(ctx, sandbox.Reader, script)
	if err != nil {
		return []check{{Name: "sandbox", Needed: true, Says: "does not work: " + err.Error()}}
	}
	files := p.holds("workspace/file", "file") && p.holds("outside/file", "outside") && p.holds("home/notes", "notes")
	login := p.holds("home/.claude/login", "new")
	writer, err := p.turn(ctx, sandbox.Writer, script)
	if err != nil {
		return []check{{Name: "sandbox", Needed: true, Says: "does not work: " + err.Error()}}
	}
	both := reader + writer
	var checks []check
	for _, g := range []guarantee{
		{name: "secrets", says: "~/.ssh, ~/.aws and another agent's login are not read", holds: !strings.Contains(both, trace)},
		{name: "other runs", says: "another run's folder is neither read nor listed", holds: !strings.Contains(both, "run.json")},
		{name: "readers", says: "a reader changed no file, not through a link either", holds: files},
		{name: "writers", says: "a writer changed its workspace and nothing else", holds: !p.holds("workspace/file", "file") && p.holds("outside/file", "outside") && p.holds("home/notes", "notes")},
		{name: "logins", says: "a login was read and replaced", holds: login},
		{name: "protected", says: "an instruction file stayed as it was", holds: p.holds("workspace/AGENTS.md", "kept"), weak: p.weak(sandbox.Landlock, "Landlock cannot keep single files of a workspace: their changes are found and asked about")},
		{name: "processes", says: "the environment and the files of other processes are not read", holds: !strings.Contains(both, "environ read")},
		{name: "signals", says: "other processes get no signal", holds: !strings.Contains(both, "signalled"), weak: p.weakKernel()},
		{name: "privileges", says: "no capabilities, none can be got, and the kernel's settings cannot be changed", holds: strings.Count(both, "no privileges") == 2},
		{name: "terminal", says: "there is no terminal to type into", holds: !strings.Contains(both, "terminal open")},
	} {
		line := check{Name: "sandbox: " + g.name, OK: g.holds, Needed: needed && g.weak == "", Says: g.says}
		if !g.holds {
			line.Says = "BROKEN: it is not true that " + g.says
			if g.weak != "" {
				line.Says = g.weak
			}
		}
		checks = append(checks, line)
	}
	return checks
}

func (p *proving) weak(kind sandbox.Kind, why string) string {
	if p.support.Kind() == kind {
		return why
	}
	return ""
}

func (p *proving) weakKernel() string {
	if p.support.Kind() == sandbox.Landlock && p.support.ABI < 6 {
		return "this kernel's Landlock keeps no signals within a turn (Linux 6.12 does)"
	}
	return ""
}

func (p *proving) holds(name, text string) bool {
	content, err := os.ReadFile(p.at(name))
	return err == nil && string(content) == text
}

// script tries everything; it runs as a reader and as a writer.
func (p *proving) script() string {
	return fmt.Sprintf(`echo doctor began
exec 2>/dev/null
cat ~/.ssh/id ~/.aws/credentials ~/.codex/auth.json %[1]s/state/runs/other/run.json
ls %[1]s/state/runs/other
(printf bad > %[1]s/outside/file); (printf bad > ~/notes); ln -s %[1]s/outside link && (printf bad > link/file); rm -f link
(printf changed > file); (printf bad > AGENTS.md); mv -f file AGENTS.md; [ -e file ] || printf changed > file
[ "$(cat ~/.claude/login)" = old ] && printf new > ~/.claude/login.new && mv ~/.claude/login.new ~/.claude/login
if [ "$(cat /proc/%[2]d/comm)" = "%[3]s" ]; then
  [ -n "$(tr -d '\0' < /proc/%[2]d/environ)" ] && echo environ read
  ls /proc/%[2]d/root/ >/dev/null && echo environ read
  kill -0 %[2]d && echo signalled
fi
! ( : >> /proc/sys/kernel/core_pattern ) && grep -q 'CapEff:.0000000000000000' /proc/self/status && { [ "$(id -u)" != 0 ] || grep -q 'CapBnd:.0000000000000000' /proc/self/status; } && grep -q 'NoNewPrivs:.1' /proc/self/status && echo no privileges
(: > /dev/tty) && echo terminal open
exit 0
`, p.root, os.Getpid(), comm())
}

// comm is this process's name, by which a script in another process namespace tells it from a namesake.
func comm() string {
	name, _ := os.ReadFile("/proc/self/comm")
	return strings.TrimSpace(string(name))
}
