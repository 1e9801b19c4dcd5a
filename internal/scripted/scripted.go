// Package scripted makes a user for the end-to-end tests and the benchmarks: a home, a repository with one commit, a
// state folder, and claude and codex that play a script (tools/scriptagent).
package scripted

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Step is one entry of a script; tools/scriptagent/script.go says what the fields mean.
type Step struct {
	As       string            `json:"as,omitempty"`
	Role     string            `json:"role,omitempty"`
	Round    string            `json:"round,omitempty"`
	Seat     string            `json:"seat,omitempty"`
	Lens     string            `json:"lens,omitempty"`
	Finding  string            `json:"finding,omitempty"`
	Contains string            `json:"contains,omitempty"`
	Times    int               `json:"times,omitempty"`
	Write    map[string]string `json:"write,omitempty"`
	Delete   []string          `json:"delete,omitempty"`
	Shell    string            `json:"shell,omitempty"`
	Say      string            `json:"say,omitempty"`
	Review   map[string]any    `json:"review,omitzero"`
	Recheck  map[string]string `json:"recheck,omitzero"`
	Confirm  *bool             `json:"confirm,omitempty"`
	Rulings  map[string]string `json:"arbitrate,omitzero"`
	Fix      map[string]any    `json:"fix,omitzero"`
	Reason   string            `json:"reason,omitempty"`
	Model    string            `json:"model,omitempty"`
	Stderr   string            `json:"stderr,omitempty"`
	Exit     int               `json:"exit,omitempty"`
	Silent   bool              `json:"silent,omitempty"`
	SleepMS  int               `json:"sleep_ms,omitempty"`
	Hang     bool              `json:"hang,omitempty"`
}

// User is a user with a folder of their own for everything.
type User struct {
	Dir, Repo, State string
	// Ledger is where the agents note what they did.
	Ledger string
	// Env is the environment of the user's commands.
	Env []string

	bin, script string
}

// New makes a user in an empty folder. bin is the folder of the built programs.
func New(dir, bin string) (*User, error) {
	u := &User{
		Dir: dir, Repo: filepath.Join(dir, "repo"), State: filepath.Join(dir, "state"),
		Ledger: filepath.Join(dir, "ledger.jsonl"), script: filepath.Join(dir, "script.json"), bin: bin,
	}
	home, temp := filepath.Join(dir, "home"), filepath.Join(dir, "tmp")
	for _, folder := range []string{home, temp, u.Repo} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			return nil, err
		}
	}
	u.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + temp, "CONCLAVE_STATE_DIR=" + u.State, "LANG=C.UTF-8",
		"CONCLAVE_SANDBOX=off", // the agents write their ledger beside the repository
	}
	for _, cli := range clis {
		u.Env = append(u.Env, "CONCLAVE_"+strings.ToUpper(cli)+"_BIN="+u.program(cli))
	}
	if err := u.Install("--ledger", u.Ledger); err != nil {
		return nil, err
	}
	return u, u.begin()
}

// clis are the programs that are played.
var clis = []string{"claude", "codex"}

func (u *User) program(cli string) string { return filepath.Join(u.Dir, "scripted-"+cli) }

// Install puts the played programs into their places, with more arguments of scriptagent.
func (u *User) Install(more ...string) error {
	for _, cli := range clis {
		text := "#!/bin/sh\nexec"
		for _, arg := range u.Argv(cli, more...) {
			text += fmt.Sprintf(" %q", arg)
		}
		if err := os.WriteFile(u.program(cli), []byte(text+" \"$@\"\n"), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// Argv plays a program; the program's own arguments follow.
func (u *User) Argv(cli string, more ...string) []string {
	argv := append([]string{filepath.Join(u.bin, "scriptagent"), "--as", cli, "--script", u.script}, more...)
	return append(argv, "--")
}

// begin makes the repository: one commit with one file.
func (u *User) begin() error {
	if err := os.WriteFile(filepath.Join(u.Repo, "calc.go"), []byte("package calc\n"), 0o644); err != nil {
		return err
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-qm", "start"}} {
		if _, err := u.Git(args...); err != nil {
			return err
		}
	}
	return nil
}

// Play replaces the script.
func (u *User) Play(script []Step) error {
	raw, err := json.Marshal(script)
	if err != nil {
		return err
	}
	return os.WriteFile(u.script, raw, 0o600)
}

// Git runs git in the repository, as its user.
func (u *User) Git(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = u.Repo
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=user", "GIT_AUTHOR_EMAIL=user@localhost",
		"GIT_COMMITTER_NAME=user", "GIT_COMMITTER_EMAIL=user@localhost")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, out)
	}
	return string(out), nil
}
