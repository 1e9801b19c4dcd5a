//go:build linux

package activities

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/agent"
	"conclave/internal/loop"
	"conclave/internal/record"
	"conclave/internal/runindex"
	"conclave/internal/sandbox"
)

// containedLab is a lab whose turns are contained by us, with what is not theirs to see.
func containedLab(t *testing.T) *lab {
	t.Helper()
	if sandbox.Detect(context.Background()).Kind() == sandbox.None {
		t.Skip("no sandbox holds here; internal/sandbox says whether that is a failure")
	}
	l := newLab(t)
	l.acts.Sandbox = SandboxRequired
	for name, text := range map[string]string{".ssh/id": "secret", "state/runs/other/run.json": "secret", "notes": "plain"} {
		path := filepath.Join(l.dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return l.prepare(false)
}

// script makes the agent a shell script and nothing else: it cannot leave its traces in the lab.
func (l *lab) script(text string) {
	require.NoError(l.t, os.WriteFile(filepath.Join(l.dir, "agent.sh"), []byte("#!/bin/sh\n"+text+"\n"), 0o755))
}

func TestAWriterIsContained(t *testing.T) {
	l := containedLab(t)
	l.script(`cat > /dev/null; cat ~/.ssh/id ../../../other/run.json ` + l.dir + `/store/keys/*; cat ~/notes
echo 'package calc // sum' > calc.go; (echo x > ~/outside); (echo x > ` + l.source + `/.git/hooks/evil); ls ..; git log --oneline; git status --short; echo t > $TMPDIR/x && echo wrote temp`)
	out := do[loop.TurnResult](l, l.acts.RunTurn, l.turn("01"))
	require.Equal(t, record.ClassOK, out.Class, out.Message)
	require.Equal(t, string(sandbox.Detect(context.Background()).Kind()), out.Sandbox)
	require.Equal(t, []string{"calc.go"}, l.paths(out.Snapshot.Commit))
	said := l.get(out.Final)
	require.NotContains(t, said, "secret")
	require.Contains(t, said, "plain", "the home is read")
	require.Contains(t, said, " start", "history is read from the objects of the run and of the user's repository")
	require.Contains(t, said, " M calc.go")
	require.Contains(t, said, "wrote temp")
	require.NoFileExists(t, filepath.Join(l.dir, "outside"))
	require.NoFileExists(t, filepath.Join(l.source, ".git/hooks/evil"))
}

func TestAReaderIsContained(t *testing.T) {
	l := containedLab(t)
	l.script(`cat > /dev/null; echo 'package calc // sum' > calc.go; echo done`)
	wrote := do[loop.TurnResult](l, l.acts.RunTurn, l.turn("01"))
	l.script(`cat > /dev/null; cat ~/notes ~/.ssh/id; echo x >> calc.go; rm -f calc.go; git commit --allow-empty -m x; (setsid sh -c 'sleep 1; echo late > calc.go' &); cat calc.go; echo; echo 'VERDICT: PASS'`)
	out := do[loop.TurnResult](l, l.acts.RunTurn, l.review("03-hand", wrote.Snapshot))
	require.Equal(t, record.ClassOK, out.Class, "nothing changed: the attempts were refused: "+out.Message)
	require.Equal(t, "pass", out.Verdict)
	said := l.get(out.Final)
	require.Contains(t, said, "package calc // sum")
	require.NotContains(t, said, "plain", "a reader reads nothing of the home")
	require.NotContains(t, said, "secret")
}

func TestCommandsAreContained(t *testing.T) {
	l := containedLab(t)
	l.acts.Environ = append(l.acts.Environ, "ANTHROPIC_API_KEY=sk-ant-leak", "OPENAI_API_KEY=sk-leak")
	require.NoError(t, os.MkdirAll(filepath.Join(l.dir, ".cache"), 0o755))
	for name, c := range map[string]struct {
		command string
		gate    string
		log     []string
	}{
		"prints its environment":       {"env; env | grep -c _KEY= || true", loop.GatePass, []string{"TMPDIR=", "HOME=" + l.dir}},
		"writes outside the workspace": {"echo x > " + l.source + "/planted", loop.GateFail, []string{"planted"}},
		"writes into the home":         {"echo x > ~/planted", loop.GateFail, []string{"planted"}},
		"uses a temporary folder":      {`d=$(mktemp -d) && echo x > $d/f && mv $d/f . && cat f`, loop.GatePass, []string{"x"}},
		"uses a build cache":           {"mkdir -p ~/.cache/go-build/00 && echo x > ~/.cache/go-build/00/x && cat ~/.cache/go-build/00/x", loop.GatePass, []string{"x"}},
		"uses git":                     {"git diff --stat HEAD && git log --oneline | head -1", loop.GatePass, nil},
	} {
		t.Run(name, func(t *testing.T) {
			out := do[loop.VerifyResult](l, l.acts.Verify, l.verify("02-"+strings.ReplaceAll(name, " ", "-"), l.prepared.Base, c.command))
			require.Equal(t, record.ClassOK, out.Class, out.Message)
			log := l.get(out.Artifacts["verify.log"])
			require.Equal(t, c.gate, out.Gate, log)
			require.NotEqual(t, "none", out.Sandbox)
			require.NotEmpty(t, out.Sandbox)
			for _, want := range c.log {
				require.Contains(t, log, want)
			}
			require.NotContains(t, log, "leak")
		})
	}
	require.NoFileExists(t, filepath.Join(l.dir, "planted"))
	require.NoFileExists(t, filepath.Join(l.source, "planted"))
}

// Every place where an adapter keeps logins is hidden from commands, and from other adapters' turns.
func TestAdaptersStatesAreHidden(t *testing.T) {
	l := containedLab(t)
	for _, name := range agent.Names() {
		adapter, err := agent.Settings{}.Lookup(name)
		require.NoError(t, err)
		for _, place := range adapter.Facts().StatePaths(l.dir, nil) {
			if place.File {
				require.NoError(t, os.WriteFile(place.Path, nil, 0o600))
			} else {
				require.NoError(t, os.MkdirAll(place.Path, 0o700))
			}
			policy, err := sandbox.Turn{
				Role: sandbox.Command, Program: "/bin/sh", Home: l.dir, Workspace: l.source, Temp: t.TempDir(),
			}.Policy()
			require.NoError(t, err)
			require.Equal(t, sandbox.Hidden, policy.Of(place.Path), place.Path)
		}
	}
}

// Under full the files that decide how the work is judged are kept; where the person allows it, and outside of full, not.
func TestProtectedFilesAreKept(t *testing.T) {
	if sandbox.Detect(context.Background()).Kind() != sandbox.Bubblewrap {
		t.Skip("Landlock cannot keep single files: the scan asks")
	}
	l := containedLab(t)
	l.write("AGENTS.md", "be careful\n")
	l.write("conclave.yaml", "max_iters: 2\n")
	require.NoError(t, os.MkdirAll(filepath.Join(l.source, ".github/workflows"), 0o755))
	l.write(".github/workflows/ci.yml", "on: push\n")
	l.git("add", ".")
	l.git("commit", "-qm", "rules")
	l.prepare(false)
	l.script(`cat > /dev/null; for f in AGENTS.md conclave.yaml .github/workflows/ci.yml calc.go; do (echo bad >> $f); done; rm -f AGENTS.md; mv conclave.yaml x; echo new > CLAUDE.md; echo done`)
	req := l.turn("01")
	req.KeepProtected = true
	out := do[loop.TurnResult](l, l.acts.RunTurn, req)
	require.Equal(t, record.ClassOK, out.Class, out.Message)
	require.Equal(t, []string{".github/workflows/ci.yml", "CLAUDE.md", "calc.go"}, l.paths(out.Snapshot.Commit), "new ones are made, and asked about")

	out = do[loop.TurnResult](l, l.acts.RunTurn, l.turn("05"))
	require.Contains(t, l.paths(out.Snapshot.Commit), "AGENTS.md")
}

// bare makes this a machine on which no sandbox holds.
func bare(t *testing.T) {
	detect = func(context.Context) sandbox.Support {
		return sandbox.Support{BwrapWhy: "is not installed", LandlockWhy: "is not in this kernel"}
	}
	t.Cleanup(func() { detect = sandbox.Detect })
}

func TestWhereNothingHolds(t *testing.T) {
	bare(t)
	l := newLab(t).prepare(false)
	l.plays("echo x > calc.go; echo done")

	l.acts.Sandbox = SandboxRequired
	out := do[loop.TurnResult](l, l.acts.RunTurn, l.turn("01"))
	require.Equal(t, record.ClassPermanent, out.Class)
	require.Equal(t, "ENGINE_UNAVAILABLE", out.Code)
	require.Contains(t, out.Message, "--sandbox required")
	require.Contains(t, out.Message, "bubblewrap is not installed; Landlock is not in this kernel")
	require.Zero(t, l.starts(), "nothing was started")
	checked := do[loop.VerifyResult](l, l.acts.Verify, l.verify("02", l.prepared.Base, "true"))
	require.Equal(t, record.ClassPermanent, checked.Class)
	require.Contains(t, checked.Message, "--sandbox required")

	for _, auto := range []string{"", SandboxAuto} {
		l.acts.Sandbox = auto
		out = do[loop.TurnResult](l, l.acts.RunTurn, l.turn("03"+auto))
		require.Equal(t, record.ClassOK, out.Class, out.Message)
		require.Equal(t, "none", out.Sandbox)
		require.Contains(t, out.Notes, "nothing of ours contained the agents: bubblewrap is not installed; Landlock is not in this kernel")
		checked = do[loop.VerifyResult](l, l.acts.Verify, l.verify("04"+auto, out.Snapshot, "true"))
		require.Equal(t, loop.GatePass, checked.Gate)
		require.Equal(t, "none", checked.Sandbox)
		require.Equal(t, out.Notes, checked.Notes)
	}
}

// With a home of the run's own, the user's is still no place to find secrets in, and the agent can use its own.
func TestAnIsolatedHomeIsContained(t *testing.T) {
	l := containedLab(t)
	l.acts.IsolateHome = true
	l.script(`cat > /dev/null; echo "$HOME"; echo state > ~/state && cat ~/state; cat ` + l.dir + `/.ssh/id; (echo x > ` + l.dir + `/outside); echo 1 > calc.go`)
	out := do[loop.TurnResult](l, l.acts.RunTurn, l.turn("01"))
	require.Equal(t, record.ClassOK, out.Class, out.Message)
	require.Equal(t, l.acts.StateDir+"/runs/"+runID+"/home\nstate\n", l.get(out.Final))
	require.FileExists(t, filepath.Join(l.acts.StateDir, "runs", runID, "home", "state"))
	require.NoFileExists(t, filepath.Join(l.dir, "outside"))
}

// A writer's home outlives its turn: what it leaves there for other agents, and for the shells that they start, reaches
// no reader. And with a home of its own it fills none of the user's caches.
func TestAReaderHasAHomeThatNoWriterTouched(t *testing.T) {
	l := containedLab(t)
	l.acts.IsolateHome = true
	require.NoError(t, os.MkdirAll(filepath.Join(l.dir, ".cache"), 0o755))
	l.script(`cat > /dev/null; mkdir -p ~/.codex; echo planted > ~/.codex/AGENTS.md; echo planted > ~/.profile; (echo planted > ` + l.dir + `/.cache/x)
mkdir -p ~/.cache && echo own > ~/.cache/x && cat ~/.cache/x; echo 1 > calc.go`)
	wrote := do[loop.TurnResult](l, l.acts.RunTurn, l.turn("01"))
	require.Equal(t, record.ClassOK, wrote.Class, wrote.Message)
	require.Equal(t, "own\n", l.get(wrote.Final))
	require.NoFileExists(t, filepath.Join(l.dir, ".cache/x"))

	l.script(`cat > /dev/null; cat ~/.codex/AGENTS.md ~/.profile; echo state > ~/state && cat ~/state; echo 'VERDICT: PASS'`)
	read := do[loop.TurnResult](l, l.acts.RunTurn, l.review("03-hand", wrote.Snapshot))
	require.Equal(t, record.ClassOK, read.Class, read.Message)
	require.Equal(t, "state\nVERDICT: PASS\n", l.get(read.Final))

	l.script(`cat > /dev/null; cat ~/.profile; echo 2 > calc.go`)
	wrote = do[loop.TurnResult](l, l.acts.RunTurn, l.turn("04"))
	require.Equal(t, "planted\n", l.get(wrote.Final), "a repair may go on with the session that lies there")
}

// Keys and logins that lie elsewhere than where everybody's do are found by the variables that name them; so are the
// configuration, which may hold keys, and what runs left in the users' repositories.
func TestWhatTheWorkersEnvironmentNamesIsHidden(t *testing.T) {
	l := containedLab(t)
	places := map[string]string{
		"keys/sa.json": "GOOGLE_APPLICATION_CREDENTIALS=keys/sa.json", "kube/a.yaml": "KUBECONFIG=kube/a.yaml:" + l.dir + "/kube/b.yaml", "kube/b.yaml": "",
		"codex-home/auth.json": "CODEX_HOME=codex-home", "cfg/gh/hosts.yml": "XDG_CONFIG_HOME=cfg", "cfg/conclave/config.yaml": "", "conf/mine.yaml": "",
		"source/.conclave/runs/other/report.md": "", "elsewhere/.conclave/runs/other/run.json": "",
	}
	script := "cat > /dev/null; cd ~; " // a path with its folder would be a part of the program
	for name, variable := range places {
		path := filepath.Join(l.dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte("secret"), 0o600))
		if key, value, ok := strings.Cut(variable, "="); ok {
			l.acts.Environ = append(l.acts.Environ, key+"="+l.dir+"/"+value)
		}
		script += "cat " + name + "; "
	}
	l.acts.Agents.Environ = l.acts.Environ
	l.acts.Hide = []string{filepath.Join(l.dir, "conf/mine.yaml")}
	require.NoError(t, runindex.Open(l.acts.StateDir).Write(runindex.Entry{RunID: "other", Source: filepath.Join(l.dir, "elsewhere")}))
	l.acts.Own.Dir = l.source

	l.script(script + "cat notes; cd - > /dev/null; echo 1 > calc.go")
	out := do[loop.TurnResult](l, l.acts.RunTurn, l.turn("01"))
	require.Equal(t, record.ClassOK, out.Class, out.Message)
	require.Equal(t, "plain\n", l.get(out.Final))
	checked := do[loop.VerifyResult](l, l.acts.Verify, l.verify("02", out.Snapshot, script+"cat notes"))
	require.NotContains(t, l.get(checked.Artifacts["verify.log"]), "secret")

	for _, writing := range []bool{true, false} { // whose login it is reads it
		l.acts.Agents.Binaries["gemini"] = filepath.Join(l.dir, "agent.sh")
		l.script(`cat > /dev/null; echo '{"type":"init","session_id":"s","model":"m"}'
echo '{"type":"message","role":"assistant","content":"'$(cat $GOOGLE_APPLICATION_CREDENTIALS)' VERDICT: PASS"}'; echo '{"type":"result","status":"success"}'`)
		req := l.review("03-hand", out.Snapshot)
		if writing {
			req = l.turn("04")
		}
		req.Target = record.Engine{Adapter: "gemini", Provider: "google", ModelFamily: "gemini", Model: "default"}
		said := do[loop.TurnResult](l, l.acts.RunTurn, req)
		require.Contains(t, l.get(said.Final), "secret")
	}
}

// A repository can come with a .git of somebody else's making, whose list of object stores names what it likes.
func TestOnlyObjectStoresAreOpenedToAnAgent(t *testing.T) {
	home := t.TempDir()
	for _, dir := range []string{".ssh", "mine/objects/pack", "mine/objects/info", "bare/objects/ab", "linked"} {
		require.NoError(t, os.MkdirAll(filepath.Join(home, dir), 0o755))
	}
	require.NoError(t, os.WriteFile(filepath.Join(home, ".ssh/id_ed25519"), []byte("secret"), 0o600))
	require.NoError(t, os.Symlink(filepath.Join(home, ".ssh"), filepath.Join(home, "linked/objects")))
	store := filepath.Join(home, "mine/objects")
	list := strings.Join([]string{filepath.Join(home, ".ssh"), "../../.ssh", filepath.Join(home, "linked/objects"), home, "../../bare/objects"}, "\n")
	require.NoError(t, os.WriteFile(filepath.Join(store, "info/alternates"), []byte(list), 0o600))
	require.Equal(t, []string{store, filepath.Join(home, "bare/objects")}, objectStores(store))
}
