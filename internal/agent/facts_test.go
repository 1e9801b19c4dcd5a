package agent

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

var programs = []string{"claude", "codex", "opencode", "gemini"}

func facts(t *testing.T, adapter string) Facts {
	t.Helper()
	a, err := Settings{}.Lookup(adapter)
	require.NoError(t, err)
	return a.Facts()
}

func TestFactsAreComplete(t *testing.T) {
	for _, name := range programs {
		f := facts(t, name)
		require.NotEmpty(t, f.Install, name)
		require.NotEmpty(t, f.LogIn)
		require.Equal(t, []string{"--version"}, f.VersionArgs)
		require.Equal(t, f.MinimumVersion, ParseVersion(f.MinimumVersion))
		require.NotEmpty(t, f.StatePaths("/h", nil))
		require.NotEmpty(t, f.HelpArgs)
		require.NotEmpty(t, f.Flags)
		a, _ := Settings{}.Lookup(name)
		for _, key := range f.Keys {
			require.Contains(t, a.Variables(), key, "a login that does not reach the program is none")
		}
		for _, p := range f.State {
			if p.Variable != "" {
				require.Contains(t, a.Variables(), p.Variable, name)
			}
		}
	}
	for _, name := range []string{"command", "stub"} {
		require.Empty(t, facts(t, name))
	}
}

func TestStatePathsFollowTheEnvironment(t *testing.T) {
	agents := []string{"AGENTS.override.md", "AGENTS.md"}
	for _, c := range []struct {
		adapter, home string
		environ       []string
		want          []Place
	}{
		{"claude", "/h", nil, []Place{{"/h/.claude", false, nil}, {"/h/.claude.json", true, nil}}},
		{"claude", "/h", []string{"CLAUDE_CONFIG_DIR=/c"}, []Place{{"/c", false, nil}, {"/c/.claude.json", true, nil}}},
		{"claude", "", nil, nil},
		{"codex", "/h", []string{"CODEX_HOME=relative"}, []Place{{"/h/.codex", false, agents}}},
		{"codex", "/h", []string{"CODEX_HOME=/x", "CODEX_HOME=/y"}, []Place{{"/y", false, agents}}},
		{"opencode", "/h", []string{"XDG_DATA_HOME=/d"}, []Place{{"/d/opencode", false, nil}, {"/h/.config/opencode", false, []string{"AGENTS.md"}}, {"/h/.local/state/opencode", false, nil}, {"/h/.cache/opencode", false, nil}}},
		{"gemini", "/h", []string{"GEMINI_CLI_HOME=/g"}, []Place{{"/g/.gemini", false, []string{"GEMINI.md"}}}},
	} {
		require.Equal(t, c.want, facts(t, c.adapter).StatePaths(c.home, c.environ), "%s %v", c.adapter, c.environ)
	}
}

func TestLoginsAreFoundWithoutUsingThem(t *testing.T) {
	for name, file := range map[string]string{
		"claude": ".claude/.credentials.json", "codex": ".codex/auth.json", "opencode": ".local/share/opencode/auth.json", "gemini": ".gemini/oauth_creds.json",
	} {
		home := t.TempDir()
		f := facts(t, name)
		require.Equal(t, Login{}, f.Login(home, nil), name)
		require.Equal(t, Login{true, f.Keys[0]}, f.Login(home, []string{f.Keys[0] + "=k"}))
		require.Equal(t, Login{}, f.Login(home, []string{f.Keys[0] + "="}))
		path := filepath.Join(home, file)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte("{}"), 0o600))
		require.Equal(t, Login{}, f.Login(home, nil), "an empty one is none")
		require.NoError(t, os.WriteFile(path, []byte(`{"t":1}`), 0o600))
		require.Equal(t, Login{true, path}, f.Login(home, nil))
	}
}

func TestVersions(t *testing.T) {
	for printed, want := range map[string]string{
		"2.1.197 (Claude Code)": "2.1.197", "codex-cli 0.171.0\n": "0.171.0", "1.18.33": "1.18.33", "0.61.0\n": "0.61.0", "v20.19.4": "20.19.4", "none": "", "": "",
	} {
		require.Equal(t, want, ParseVersion(printed))
	}
	for _, c := range []struct {
		version, than string
		older         bool
	}{
		{"2.1.197", "2.1.0", false}, {"2.0.99", "2.1.0", true}, {"0.9.0", "0.10.0", true}, {"1.18", "1.18.0", false}, {"1.18.0", "1.18", false},
		{"1.17.99", "1.18.0", true}, {"10.0.0", "9.9.9", false}, {"", "1.0.0", false}, {"1.0.0", "", false},
	} {
		require.Equal(t, c.older, Older(c.version, c.than), "%s < %s", c.version, c.than)
	}
}

func TestFilesOfOursStayInTheWorkspace(t *testing.T) {
	outside, workspace, scratch := t.TempDir(), t.TempDir(), t.TempDir()
	kept := filepath.Join(outside, "settings.json")
	require.NoError(t, os.WriteFile(kept, []byte("kept"), 0o600))
	inv := Invocation{Files: []File{
		{filepath.Join(scratch, "policy"), []byte("policy")}, {filepath.Join(workspace, ".gemini", "deep", "settings.json"), []byte("ours")},
	}}
	write := func() string {
		ours, err := inv.WriteFiles(workspace)
		require.NoError(t, err)
		require.Equal(t, []string{".gemini/deep/settings.json"}, ours)
		content, err := os.ReadFile(filepath.Join(workspace, ".gemini", "deep", "settings.json"))
		require.NoError(t, err)
		return string(content)
	}
	require.Equal(t, "ours", write())
	require.Equal(t, "ours", write(), "again")
	policy, err := os.ReadFile(filepath.Join(scratch, "policy"))
	require.NoError(t, err)
	require.Equal(t, "policy", string(policy))

	for _, link := range []string{".gemini", ".gemini/deep", ".gemini/deep/settings.json"} {
		require.NoError(t, os.RemoveAll(filepath.Join(workspace, ".gemini")))
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(workspace, link)), 0o755))
		target := outside
		if filepath.Base(link) == "settings.json" {
			target = kept
		}
		require.NoError(t, os.Symlink(target, filepath.Join(workspace, link)))
		require.Equal(t, "ours", write(), link)
	}
	require.NoError(t, os.RemoveAll(filepath.Join(workspace, ".gemini")))
	require.NoError(t, os.WriteFile(filepath.Join(workspace, ".gemini"), []byte("a file"), 0o600))
	require.Equal(t, "ours", write())
	content, err := os.ReadFile(kept)
	require.NoError(t, err)
	require.Equal(t, "kept", string(content))
	entries, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

// TestAFileWithoutContentIsTakenAway: a folder or a link too, and nothing behind the link.
func TestAFileWithoutContentIsTakenAway(t *testing.T) {
	workspace, outside := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "kept"), nil, 0o600))
	inv := Invocation{Files: []File{{filepath.Join(workspace, ".own"), nil}, {filepath.Join(workspace, ".own", "settings"), []byte("x")}}}
	for name, make := range map[string]func(path string) error{
		"nothing": func(string) error { return nil },
		"a file":  func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"a link":  func(path string) error { return os.Symlink(outside, path) },
		"a folder": func(path string) error {
			return errors.Join(os.Mkdir(path, 0o700), os.Symlink(outside, filepath.Join(path, "link")), os.WriteFile(filepath.Join(path, ".env"), nil, 0o600))
		},
	} {
		require.NoError(t, os.RemoveAll(filepath.Join(workspace, ".own")))
		require.NoError(t, make(filepath.Join(workspace, ".own")), name)
		ours, err := inv.WriteFiles(workspace)
		require.NoError(t, err, name)
		require.Equal(t, []string{".own", ".own/settings"}, ours)
		entries, err := os.ReadDir(filepath.Join(workspace, ".own"))
		require.NoError(t, err, name)
		require.Len(t, entries, 1, name)
		require.FileExists(t, filepath.Join(outside, "kept"))
	}
}

func TestWhatAProgramCannotDo(t *testing.T) {
	f := Facts{Flags: []string{"--tools", "--json"}}
	for help, want := range map[string][]string{
		"  --tools <x>\n      --json  b": {}, "--tools, --allowed-tools": {"--json"}, "[--json]": {"--tools"}, "--json-schema --tools": {"--json"},
		"2.1.197": nil, "": nil,
	} {
		require.Equal(t, want, f.Lacks(help), help)
	}
}

// TestTurnsUseOnlyFlagsThatAreLookedFor keeps the lists of flags complete.
func TestTurnsUseOnlyFlagsThatAreLookedFor(t *testing.T) {
	dir := t.TempDir()
	short := map[string]string{"-p": "", "-c": "", "-C": "", "-m": "", "-e": "--extensions", "-o": "", "-s": "--session", "-": ""}
	known := map[string]bool{"--verbose": true, "--model": true, "--color": true, "--settings": true, "--allowedTools": true}
	for _, name := range programs {
		program(t, dir, name, "")
		a, err := Settings{}.Lookup(name)
		require.NoError(t, err)
		for _, spec := range []TurnSpec{{}, {Writing: true}, {Writing: true, Resume: "OLD"}} {
			spec.Workspace, spec.Scratch, spec.SessionID, spec.Target = dir, dir, thread, asked(name)
			inv, err := a.Invocation(spec, Settings{Environ: []string{"PATH=" + dir}, CLISandbox: CLISandboxOff})
			require.NoError(t, err)
			for _, arg := range inv.Args {
				if arg == "" || arg[0] != '-' || known[arg] || short[arg] == "" && len(arg) < 3 {
					continue
				}
				require.Contains(t, a.Facts().Flags, cmp.Or(short[arg], arg), name)
			}
		}
	}
}
