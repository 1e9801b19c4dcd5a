//go:build linux

package sandbox_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/sandbox"
)

// The words of the table: what a role may do with a path, reader, writer and command in this order.
const (
	no = "-"
	r  = "r"
	rw = "rw"
)

// allowed is the table of the design: who may read and change what.
func (s *scene) allowed() map[string][3]string {
	return map[string][3]string{
		s.workspace:                                     {r, rw, rw},
		s.workspace + "/main.go":                        {r, rw, rw},
		s.workspace + "/.git/HEAD":                      {r, rw, rw},
		s.objects + "/aa/bb":                            {r, r, r},
		s.agent:                                         {rw, rw, rw},
		s.temp:                                          {rw, rw, rw},
		"/usr/bin/env":                                  {r, r, r},
		"/etc/passwd":                                   {r, r, r},
		"/etc/shadow":                                   {no, no, no},
		"/usr/lib":                                      {r, r, r},
		s.home + "/.claude":                             {rw, rw, no},
		s.home + "/.claude/.credentials.json":           {rw, rw, no},
		s.home + "/.claude.json":                        {rw, rw, no},
		s.home + "/.codex/auth.json":                    {no, no, no},
		s.home + "/.ssh/id":                             {no, no, no},
		s.home + "/.ssh":                                {no, no, no},
		s.home + "/.netrc":                              {no, no, no},
		s.home + "/.aws/credentials":                    {no, no, no},
		s.home + "/.config/gcloud/token":                {no, no, no},
		s.home + "/.config/conclave":                    {no, no, no},
		s.home + "/.config/temporalio/temporal.toml":    {no, no, no},
		s.home + "/.config/tool/settings":               {no, r, r},
		s.home + "/.gitconfig":                          {no, r, r},
		s.home + "/notes.txt":                           {no, r, r},
		s.home + "/.cache/go-build/x":                   {no, rw, rw},
		s.home + "/.cache/opencode/x":                   {no, no, no},
		s.home + "/.cargo/registry/x":                   {no, rw, rw},
		s.home + "/.cargo/bin/cargo":                    {no, r, r},
		s.home + "/.cargo/credentials.toml":             {no, no, no},
		s.home + "/.npm/_cacache/x":                     {no, rw, rw},
		s.project + "/main.go":                          {no, r, r},
		s.project + "/.git/config":                      {no, r, r},
		s.state + "/runs/other":                         {no, no, no},
		s.state + "/runs/other/work":                    {no, no, no},
		s.state + "/runs/this/run.json":                 {no, no, no},
		s.state + "/runs/this/repo.git":                 {no, no, no},
		s.state + "/runs/this/repo.git/config":          {no, no, no},
		s.state + "/runs/this/work/seat-2":              {no, no, no},
		s.state + "/runs/this/turns/1/transcript.jsonl": {no, no, no},
		s.state + "/store/aa":                           {no, no, no},
		s.elsewhere + "/file":                           {no, no, no},
	}
}

// attempt is a script that tries to read and to change each path.
func attempt(paths []string) string {
	var b strings.Builder
	for _, p := range paths {
		fmt.Fprintf(&b, `p='%s'
if [ -d "$p" ]; then echo "ls $p" $(ls -A "$p"); (: >"$p/made"); else echo "cat $p" $(head -c 200 "$p" | tr -d '\0\n'); (printf x >>"$p"); fi
`, p)
	}
	return b.String()
}

// look is what a path holds: names of a folder, the beginning of a file; and whether an attempt changed it.
func look(path string) (holds string, changed bool) {
	if entries, err := os.ReadDir(path); err == nil {
		var names []string
		for _, e := range entries {
			if e.Name() == "made" {
				changed = true
				continue
			}
			names = append(names, e.Name())
		}
		return strings.Join(names, " "), changed
	}
	content, _ := os.ReadFile(path)
	text := strings.NewReplacer("\n", "", "\x00", "").Replace(string(content[:min(len(content), 200)]))
	return text, bytes.HasSuffix(content, []byte("x"))
}

func TestWhatEachRoleMayTouch(t *testing.T) {
	kinds(t, func(t *testing.T, kind sandbox.Kind) {
		for i, role := range []sandbox.Role{sandbox.Reader, sandbox.Writer, sandbox.Command} {
			t.Run([]string{"reader", "writer", "command"}[i], func(t *testing.T) {
				s := newScene(t)
				before := map[string]string{}
				var paths []string
				for path := range s.allowed() {
					paths = append(paths, path)
					before[path], _ = look(path)
				}
				slices.Sort(paths) // a folder before its files: what is made below /tmp is made in the turn's own
				policy, err := s.turn(role).Policy()
				require.NoError(t, err)
				out, _ := s.run(kind, s.turn(role), attempt(paths))
				for path, words := range s.allowed() {
					got := ""
					if before[path] == "" || strings.Contains(out, path+" "+before[path]) {
						got = r
					}
					if _, changed := look(path); changed {
						got += "w"
					}
					if before[path] == "" && got == r {
						got = words[i] // an empty folder shows nothing
					}
					require.Equal(t, words[i], cmp.Or(got, no), path)
					require.Equal(t, words[i], []string{no, r, rw}[policy.Of(path)], "the policy says the same: "+path)
				}
			})
		}
	})
}

func TestProtectedFilesOfAWriter(t *testing.T) {
	s := newScene(t)
	kinds(t, func(t *testing.T, kind sandbox.Kind) {
		out, _ := s.run(kind, s.turn(sandbox.Writer), `cd sub; echo x >> CLAUDE.md; rm -f CLAUDE.md; mv CLAUDE.md y; echo new > z; cat CLAUDE.md z`)
		if kind == sandbox.Bubblewrap {
			require.Contains(t, out, "content of")
			require.NotContains(t, out, "x\n")
		}
		require.Contains(t, out, "new", "other files in the folder can be made")
	})
}

func TestALoginIsReadAndRefreshed(t *testing.T) {
	kinds(t, func(t *testing.T, kind sandbox.Kind) {
		for _, role := range []sandbox.Role{sandbox.Reader, sandbox.Writer} {
			s := newScene(t)
			out, _ := s.run(kind, s.turn(role), `cd "$HOME/.claude" && cat .credentials.json && echo fresh > .credentials.json.new &&
				mv .credentials.json.new .credentials.json && echo '{"a":1}' > "$HOME/.claude.json" && mkdir -p projects/x && echo done`)
			require.Contains(t, out, "content of")
			require.Contains(t, out, "done")
			require.Equal(t, "fresh\n", read(t, s.home+"/.claude/.credentials.json"))
			require.Equal(t, "{\"a\":1}\n", read(t, s.home+"/.claude.json"))
		}
	})
}

// What an agent writes into its settings would be obeyed by the user's own sessions.
func TestAnAgentsSettingsAreKept(t *testing.T) {
	s := newScene(t)
	if sandbox.Detect(context.Background()).Kind() != sandbox.Bubblewrap {
		t.Skip("Landlock cannot keep single files of a folder that can be written")
	}
	s.layout(map[string]string{".claude/settings.json": "{}", ".claude/hooks/x": "true"})
	out, _ := s.run(sandbox.Bubblewrap, s.turn(sandbox.Writer), `cd ~/.claude; (echo bad > settings.json); rm -rf settings.json hooks; (echo bad > hooks/y); mkdir -p projects && echo fine > projects/x && cat settings.json projects/x`)
	require.Equal(t, "{}fine", out)
	require.NoFileExists(t, s.home+"/.claude/hooks/y")
}

// Instructions that an agent obeys in each turn are no turn's to plant, also where the user has none.
func TestNoTurnPlantsInstructions(t *testing.T) {
	if sandbox.Detect(context.Background()).Kind() != sandbox.Bubblewrap {
		t.Skip("Landlock cannot keep single files of a folder that can be written")
	}
	for _, role := range []sandbox.Role{sandbox.Reader, sandbox.Writer} {
		s := newScene(t)
		s.layout(map[string]string{".codex/AGENTS.md": "mine\n"})
		turn := s.turn(role)
		turn.State = []sandbox.StatePath{{Path: s.home + "/.codex", Instructions: []string{"AGENTS.override.md", "AGENTS.md"}}}
		out, _ := s.run(sandbox.Bubblewrap, turn, `cd ~/.codex; for f in AGENTS.md AGENTS.override.md; do (echo planted > $f); rm -f $f; (echo planted > $f); done; cat AGENTS.override.md AGENTS.md; echo fine > auth.json`)
		require.Equal(t, "mine", out)
		require.Equal(t, "mine\n", read(t, s.home+"/.codex/AGENTS.md"))
		require.Empty(t, read(t, s.home+"/.codex/AGENTS.override.md"))
		require.Equal(t, "fine\n", read(t, s.home+"/.codex/auth.json"))
	}
}

// What a tool obeys, or a person runs by its name, is not planted beside a cache: also where there was nothing before.
func TestNothingIsPlantedBesideACache(t *testing.T) {
	kinds(t, func(t *testing.T, kind sandbox.Kind) {
		for _, role := range []sandbox.Role{sandbox.Writer, sandbox.Command} {
			s := newScene(t)
			s.layout(map[string]string{"go/pkg/mod/x": "", ".cargo/registry/x": "", ".m2/repository/x": "", ".gradle/caches/x": "", "gopath/pkg/x": "", "gradle2/caches/x": ""})
			planted := []string{
				"go/bin/tool", ".cargo/bin/tool", ".cargo/config", ".cargo/config.toml", ".cargo/env", ".m2/settings.xml", ".m2/extensions.xml", ".gradle/init.gradle",
				".gradle/init.d/x.gradle", ".gradle/gradle.properties", "gopath/bin/tool", "gradle2/init.d/x.gradle", "gradle2/init.gradle", ".bashrc", ".config/git/config",
			}
			turn := s.turn(role)
			turn.Env = append(turn.Env, "GOPATH="+s.home+"/gopath", "GRADLE_USER_HOME="+s.home+"/gradle2")
			script := `cd "$HOME"; for f in go/pkg/mod/y .cargo/registry/y .m2/repository/y .gradle/caches/y gopath/pkg/y gradle2/caches/y; do (echo filled > $f); done; `
			for _, path := range planted {
				script += `(mkdir -p "$(dirname ` + path + `)"; echo evil > ` + path + `); `
			}
			s.run(kind, turn, script)
			for _, path := range []string{"go/pkg/mod/y", ".cargo/registry/y", ".m2/repository/y", ".gradle/caches/y", "gopath/pkg/y", "gradle2/caches/y"} {
				require.Equal(t, "filled\n", read(t, filepath.Join(s.home, path)), path)
			}
			for _, path := range planted {
				content, _ := os.ReadFile(filepath.Join(s.home, path))
				require.NotContains(t, string(content), "evil", path)
			}
		}
	})
}

// Who keeps keys elsewhere than everybody says so in variables. What holds a home is no secret as a whole.
func TestWhatVariablesNameIsHidden(t *testing.T) {
	kinds(t, func(t *testing.T, kind sandbox.Kind) {
		s := newScene(t)
		s.layout(map[string]string{"keys/sa.json": "k1", "gpg/x": "k2", "cfg/gh/hosts.yml": "k3", "cfg/tool/x": "fine", "kube/a": "k4", "kube/b": "k5"})
		turn := s.turn(sandbox.Writer)
		turn.Worker = []string{
			"GOOGLE_APPLICATION_CREDENTIALS=" + s.home + "/keys/sa.json", "GNUPGHOME=" + s.home + "/gpg", "XDG_CONFIG_HOME=" + s.home + "/cfg",
			"KUBECONFIG=" + s.home + "/kube/a:" + s.home + "/kube/b", "NETRC=" + s.home, "DOCKER_CONFIG=/", "KRB5CCNAME=KEYRING:x", "AWS_CONFIG_FILE=/dev/null", "CLOUDSDK_CONFIG=/usr",
		}
		out, _ := s.run(kind, turn, `cd ~; cat keys/* gpg/x cfg/gh/hosts.yml kube/a kube/b; cat cfg/tool/x notes.txt`)
		require.Equal(t, "finecontent of "+s.home+"/notes.txt", out)
	})
}

func TestMissingStateIsMadeBefore(t *testing.T) {
	kinds(t, func(t *testing.T, kind sandbox.Kind) {
		s := newScene(t)
		require.NoError(t, os.RemoveAll(s.home+"/.claude"))
		require.NoError(t, os.Remove(s.home+"/.claude.json"))
		out, _ := s.run(kind, s.turn(sandbox.Reader), `echo login > "$HOME/.claude/.credentials.json"; cat "$HOME/.claude.json"`)
		require.Equal(t, "{}", out)
		require.Equal(t, "login\n", read(t, s.home+"/.claude/.credentials.json"))
		info, err := os.Stat(s.home + "/.claude")
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	})
}

func TestAWorkspaceThatIsMissingIsNamed(t *testing.T) {
	s := newScene(t)
	turn := s.turn(sandbox.Writer)
	turn.Workspace = filepath.Join(s.workspace, "gone")
	_, err := turn.Policy()
	require.ErrorContains(t, err, "gone")
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}
