//go:build linux

package sandbox_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/sandbox"
)

// layout makes files (name to text; "-> x" is a link, scripts are executable) below the home.
func (s *scene) layout(files map[string]string) {
	s.t.Helper()
	for name, text := range files {
		path := filepath.Join(s.home, name)
		require.NoError(s.t, os.MkdirAll(filepath.Dir(path), 0o755))
		if target, ok := strings.CutPrefix(text, "-> "); ok {
			require.NoError(s.t, os.Symlink(target, path))
			continue
		}
		require.NoError(s.t, os.WriteFile(path, []byte(strings.NewReplacer("$HOME", "$HOME", "HOME", s.home).Replace(text)), 0o755))
	}
}

// Agents are installed below the home in many ways. Each starts as a reader, which sees nothing else of the home.
func TestAgentsBelowTheHomeStart(t *testing.T) {
	const shell = "#!/bin/sh\n"
	for name, c := range map[string]struct {
		files   map[string]string
		program string
		path    string // before the system's
	}{
		"nvm": {map[string]string{
			".nvm/versions/node/v22/bin/node":                             shell + "exec /bin/sh \"$@\"\n",
			".nvm/versions/node/v22/bin/agent":                            "-> ../lib/node_modules/@acme/agent/cli.js",
			".nvm/versions/node/v22/lib/node_modules/@acme/agent/cli.js":  "#!/usr/bin/env node\n. \"$(dirname \"$(readlink -f \"$0\")\")/lib.js\"\n",
			".nvm/versions/node/v22/lib/node_modules/@acme/agent/lib.js":  "echo \"agent runs\"; cd HOME; cat notes.txt\n",
			".nvm/versions/node/v22/lib/node_modules/other/package.json":  "{}",
			".nvm/versions/node/v22/lib/node_modules/@acme/agent/package": "{}",
		}, ".nvm/versions/node/v22/bin/agent", ".nvm/versions/node/v22/bin"},
		"node elsewhere": {map[string]string{
			".volta/tools/node": shell + "exec /bin/sh \"$@\"\n", ".volta/bin/node": "-> ../tools/node",
			".npm-global/bin/agent":                     "-> ../lib/node_modules/agent/cli.js",
			".npm-global/lib/node_modules/agent/cli.js": "#!/usr/bin/env node\necho \"agent runs\"; cd HOME; cat notes.txt\n",
		}, ".npm-global/bin/agent", ".volta/bin"},
		"pipx": {map[string]string{
			".local/bin/agent":                                            "-> HOME/.local/share/pipx/venvs/agent/bin/agent",
			".local/share/pipx/venvs/agent/bin/agent":                     "#!HOME/.local/share/pipx/venvs/agent/bin/python\n. \"$(dirname \"$0\")/../share/pipx/venvs/agent/lib/main\"\n",
			".local/share/pipx/venvs/agent/bin/python":                    "-> HOME/.local/share/uv/python/cpython-3.13/bin/python3.13",
			".local/share/pipx/venvs/agent/pyvenv.cfg":                    "home = x",
			".local/share/pipx/venvs/agent/lib/main":                      "echo \"agent runs\"; cd HOME; cat notes.txt\n",
			".local/share/uv/python/cpython-3.13/bin/python3.13":          shell + ". HOME/.local/share/uv/python/cpython-3.13/lib/start; exec /bin/sh \"$@\"\n",
			".local/share/uv/python/cpython-3.13/lib/start":               "true\n",
			".local/share/pipx/venvs/unrelated/bin/python":                "x",
			".local/share/uv/python/cpython-3.13/lib/python3.13/site.txt": "x",
		}, ".local/bin/agent", ".local/bin"},
		"native": {map[string]string{
			".local/bin/agent":                  "-> ../share/agent/versions/1.2.3",
			".local/share/agent/versions/1.2.3": shell + ". HOME/.local/share/agent/data; cd HOME; cat notes.txt\n",
			".local/share/agent/data":           "echo \"agent runs\"\n",
		}, ".local/bin/agent", ""},
		"in the home itself": {map[string]string{"agent": shell + "echo \"agent runs\"; cd HOME; cat notes.txt\n"}, "agent", ""},
		"a folder of its own": {map[string]string{
			"tools/agent/bin/agent": shell + ". HOME/tools/agent/lib/x; cd HOME; cat notes.txt\n", "tools/agent/lib/x": "echo \"agent runs\"\n",
		}, "tools/agent/bin/agent", ""},
		"a wrapper": {map[string]string{
			"bin/agent": shell + "export X=1\nexec \"$HOME/.opt/agent-1/cli\" \"$@\"\n", ".opt/agent-1/cli": shell + ". HOME/.opt/agent-1/lib; cd HOME; cat notes.txt\n",
			".opt/agent-1/lib": "echo \"agent runs\"\n",
		}, "bin/agent", ""},
		"a project's node_modules": {map[string]string{
			"p/node_modules/.bin/agent": "-> ../agent/cli", "p/node_modules/agent/cli": shell + ". HOME/p/node_modules/dep/x; cd HOME; cat notes.txt\n",
			"p/node_modules/dep/x": "echo \"agent runs\"\n",
		}, "p/node_modules/.bin/agent", ""},
	} {
		t.Run(name, func(t *testing.T) {
			kinds(t, func(t *testing.T, kind sandbox.Kind) {
				s := newScene(t)
				files := map[string]string{}
				for name, text := range c.files {
					files[name] = strings.NewReplacer("$HOME", "$HOME", "HOME", s.home).Replace(text)
				}
				s.layout(files)
				turn := s.turn(sandbox.Reader)
				turn.Program = filepath.Join(s.home, c.program)
				turn.Env = []string{"PATH=" + filepath.Join(s.home, c.path) + ":/usr/bin:/bin", "HOME=" + s.home}
				if c.path == "" {
					turn.Env[0] = "PATH=/usr/bin:/bin"
				}
				out, _ := s.run(kind, turn, "")
				require.Equal(t, "agent runs", out, "and reads nothing else of the home")
			})
		})
	}
}

// The home, the workspace and the temporary folder may be reached through links.
func TestLinksOnTheWay(t *testing.T) {
	kinds(t, func(t *testing.T, kind sandbox.Kind) {
		s := newScene(t)
		alias := filepath.Join(filepath.Dir(filepath.Dir(s.home)), "alias")
		require.NoError(t, os.Symlink(filepath.Dir(s.home), alias))
		turn := s.turn(sandbox.Writer)
		turn.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + alias + "/user"}
		turn.Workspace = strings.Replace(s.workspace, filepath.Dir(s.home), alias, 1)
		turn.State = sandbox.StatePaths("claude", alias+"/user")
		out, _ := s.run(kind, turn, "cat ~/notes.txt; cat ~/.ssh/id; echo x > made; echo y > ~/.claude/made; cat "+turn.Workspace+"/made")
		require.Contains(t, out, "notes.txt")
		require.NotContains(t, out, "ssh")
		require.Equal(t, "x\n", read(t, s.workspace+"/made"))
		require.Equal(t, "y\n", read(t, s.home+"/.claude/made"))
		require.Contains(t, out, "\nx")
	})
}

// What a verify command needs works: a port, a temporary folder, a build cache, Go itself.
func TestWhatCommandsNeedWorks(t *testing.T) {
	kinds(t, func(t *testing.T, kind sandbox.Kind) {
		s := newScene(t)
		require.NoError(t, os.WriteFile(s.workspace+"/go.mod", []byte("module m\n\ngo 1.21\n"), 0o644))
		require.NoError(t, os.WriteFile(s.workspace+"/main.go", []byte(`package m
`), 0o644))
		require.NoError(t, os.WriteFile(s.workspace+"/m_test.go", []byte(`package m

import (
	"net"
	"os"
	"testing"
)

func TestAll(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(t.TempDir()+"/x", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := net.Listen("unix", t.TempDir()+"/s"); err != nil {
		t.Fatal(err)
	}
}
`), 0o644))
		turn := s.turn(sandbox.Command)
		if kind == sandbox.Landlock { // TMPDIR is its real path there; sockets have short names only
			short, err := os.MkdirTemp("", "")
			require.NoError(t, err)
			defer os.RemoveAll(short)
			turn.Temp = short
		}
		cache, err := exec.Command("go", "env", "GOCACHE").Output() // warm
		require.NoError(t, err)
		turn.Env = append(turn.Env, "GOCACHE="+strings.TrimSpace(string(cache)))
		out, res := s.run(kind, turn, `exec 2>&1; GOFLAGS=-mod=mod go test ./... && mkdir -p ~/.cache/go-build/00 && echo x > ~/.cache/go-build/00/made`)
		require.Zero(t, res.ExitCode, out)
		require.Regexp(t, `ok\s+m\s`, out)
		require.FileExists(t, s.home+"/.cache/go-build/00/made", "the cache is the user's own")
	})
}

// On Linux one sandbox must hold where this is tested; .ci/run installs bubblewrap.
func TestASandboxHoldsHere(t *testing.T) {
	if os.Getenv("CONCLAVE_TEST_NO_SANDBOX") != "" {
		t.Skip("CONCLAVE_TEST_NO_SANDBOX is set")
	}
	support := sandbox.Detect(context.Background())
	require.NotEqual(t, sandbox.None, support.Kind(), support.Why())
	t.Logf("%s (Landlock %d) %s", support.Kind(), support.ABI, support.Why())
}
