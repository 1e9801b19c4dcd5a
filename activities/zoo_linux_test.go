package activities

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"conclave/internal/agent"
	"conclave/internal/loop"
	"conclave/internal/record"
)

// patience is the limit of a turn that ends by itself. It is less than what its leftovers sleep, and enough for a busy machine.
const patience = 4 * time.Minute

// zoo are the programs that an engine can turn out to be, and what a turn of each is.
var zoo = []struct {
	name, script string
	limit        time.Duration
	class        record.Class
	code         string
}{
	{"ignores TERM", "trap '' TERM INT HUP\n" + codexBegins + "sleep 300; sleep 300", 2 * time.Second, record.ClassTimeout, "TIMEOUT"},
	{"forks twice with setsid", "(setsid sh -c 'trap \"\" TERM INT HUP; sleep 300; sleep 300' &) ; (setsid sh -c '(setsid sleep 300 &)' &)\n" + passes, patience, record.ClassOK, ""},
	{"holds the pipe open", passes + "setsid sleep 300 &\n", patience, record.ClassOK, ""},
	{"holds the pipe open and stays", passes + "sleep 300\n", 3 * time.Second, record.ClassTimeout, "TIMEOUT"},
	{"binary noise", "head -c 3000000 /dev/urandom; echo; printf '\\000\\377\\376\\n\\033[31m\\n'\n" + passes + "head -c 100000 /dev/urandom", patience, record.ClassOK, ""},
	{"a line separator in JSON", codexBegins + "printf '{\"type\":\"item.completed\",\"item\":{\"id\":\"i1\",\"type\":\"agent_message\",\"text\":\"One\\342\\200\\250two\\302\\205three.\\\\n\\\\nVERDICT: PASS\"}}\\n'\n" + codexEnds, patience, record.ClassOK, ""},
	{"closes its output and goes on", passes + "exec >&- 2>&-; sleep 1", patience, record.ClassOK, ""},
	{"closes its output and stays", codexBegins + "exec >&- 2>&-; sleep 300", 3 * time.Second, record.ClassTimeout, "TIMEOUT"},
	{"reads its input for ever", codexBegins + "while :; do cat > /dev/null; sleep 0.2; done", 3 * time.Second, record.ClassTimeout, "TIMEOUT"},
	{"reads its input to the end", "cat > /dev/null\n" + passes, patience, record.ClassOK, ""},
	{"ends well with an error", codexBegins + codexSays + codexFails + "exit 0", patience, record.ClassPermanent, "ENGINE_UNAVAILABLE"},
	{"ends badly with a valid answer", passes + "exit 1", patience, record.ClassOK, ""},
	{"ends well without a word", "exit 0", patience, record.ClassMalformed, "RESULT_INVALID"},
	{"is cut off", codexBegins + codexSays + "exit 0", patience, record.ClassMalformed, "RESULT_INVALID"},
	{"is killed", codexBegins + codexSays + "kill -9 $$", patience, record.ClassTransient, ""},
	{"answers without a verdict", strings.ReplaceAll(passes, "VERDICT: PASS", "Looks good to me."), patience, record.ClassMalformed, "RESULT_INVALID"},
	{"prints an endless stream", codexBegins + "yes '{\"type\":\"item.started\",\"item\":{\"type\":\"reasoning\",\"text\":\"hm\"}}'", 3 * time.Second, record.ClassTimeout, "TIMEOUT"},
}

// Every animal of the zoo is a turn with a class of its own, and leaves nothing behind: no process, no descriptor, no
// goroutine, no workspace.
func TestTheZoo(t *testing.T) {
	l := newLab(t).prepare(false)
	change := l.wrote("01", draft).Snapshot
	first := openFiles(t)
	for i, animal := range zoo {
		t.Run(animal.name, func(t *testing.T) {
			running := goleak.IgnoreCurrent()
			before := openFiles(t)
			began := time.Now()
			out := do[loop.TurnResult](l, l.acts.RunTurn, l.codexReview(fmt.Sprintf("z%02d", i), animal.script, animal.limit, change))
			require.Equal(t, animal.class, out.Class, "%s: %s", out.Code, out.Message)
			if animal.code != "" {
				require.Equal(t, animal.code, out.Code, out.Message)
			}
			require.Equal(t, animal.class == record.ClassOK, out.Verdict == "pass")
			require.Less(t, time.Since(began), patience)
			require.Empty(t, processesBelow(l.dir))
			require.LessOrEqual(t, len(openFiles(t)), len(before)+1, "%q, before %q", openFiles(t), before)
			goleak.VerifyNone(t, running)
		})
	}
	require.LessOrEqual(t, len(openFiles(t)), len(first)+1, "one that each turn leaves adds up")
	left, err := os.ReadDir(filepath.Join(RunDir(l.acts.StateDir, runID), "turns"))
	require.NoError(t, err)
	require.Empty(t, left)
	registered, err := os.ReadDir(RegistryDir(l.acts.StateDir, runID))
	require.NoError(t, err)
	require.Empty(t, registered)
}

// What a login would cure is said where people look.
func TestARefusedLoginNamesTheRemedy(t *testing.T) {
	l := newLab(t).prepare(false)
	change := l.wrote("01", draft).Snapshot
	refused := `echo '{"type":"turn.failed","error":{"message":"unexpected status 401 Unauthorized"}}'; exit 1`
	out := do[loop.TurnResult](l, l.acts.RunTurn, l.codexReview("02", refused, patience, change))
	require.Equal(t, record.ClassPermanent, out.Class, out.Message)
	require.Contains(t, out.Notes, "step 02: codex: check the login: run codex login, or set CODEX_API_KEY (it does not read OPENAI_API_KEY)")
}

// processesBelow names the processes that work in a folder.
func processesBelow(dir string) []string {
	dir, _ = filepath.EvalSymlinks(dir)
	entries, _ := filepath.Glob("/proc/[0-9]*")
	var found []string
	for _, entry := range entries {
		if cwd, err := os.Readlink(entry + "/cwd"); err == nil && strings.HasPrefix(cwd, dir) {
			command, _ := os.ReadFile(entry + "/cmdline")
			if len(command) == 0 {
				continue // it was killed: without memory it runs nothing any more
			}
			found = append(found, fmt.Sprintf("%s %q", filepath.Base(entry), command))
		}
	}
	return found
}

// zooVariable makes a test process the worker of one large animal.
const zooVariable = "CONCLAVE_TEST_WORKER"

// giants are the animals that cost memory: the worker of each is a process of its own, whose peak is measured.
var giants = map[string]string{
	"much in lines":         passes + "yes '" + strings.Repeat("x", 1000) + "' | head -c $((" + muchMiB() + " << 20))",
	"one line of 200 MiB":   codexBegins + "head -c 209715200 /dev/zero | tr '\\000' y; echo\n" + codexSays + codexEnds,
	"one message of 60 MiB": codexBegins + "printf '{\"type\":\"item.completed\",\"item\":{\"id\":\"i0\",\"type\":\"command_execution\",\"aggregated_output\":\"'; head -c 62914560 /dev/zero | tr '\\000' y; echo '\"}}'\n" + codexSays + codexEnds,
	"a key without end":     codexBegins + "printf 'sk-proj-'; head -c 104857600 /dev/zero | tr '\\000' a; echo\n" + codexSays + codexEnds,
	"200 MiB of errors":     "yes 'warning: something' | head -c 209715200 >&2\n" + passes,
}

// muchMiB is how much the talkative one prints. Two GiB take minutes on a busy machine: package process prints them in
// every test of its own.
func muchMiB() string { return cmp.Or(os.Getenv("CONCLAVE_TEST_MUCH_MIB"), "256") }

// workerMost is the most memory of a worker, in KiB.
const workerMost = 300 << 10

func TestAWorkerStaysSmall(t *testing.T) {
	if name := os.Getenv(zooVariable); name != "" {
		l := newLab(t).prepare(false)
		out := do[loop.TurnResult](l, l.acts.RunTurn, l.codexReview("02", giants[name], 10*time.Minute, l.wrote("01", draft).Snapshot))
		require.Equal(t, record.ClassOK, out.Class, out.Message)
		require.Equal(t, "pass", out.Verdict)
		require.Empty(t, processesBelow(l.dir))
		return
	}
	if testing.Short() || raceDetector {
		t.Skip("writes a GiB, and measures memory")
	}
	names := make([]string, 0, len(giants))
	for name := range giants {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestAWorkerStaysSmall$", "-test.timeout=20m")
			cmd.Env = append(os.Environ(), zooVariable+"="+name, "TMPDIR="+t.TempDir())
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, string(out))
			peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
			t.Logf("%s: %d MiB", name, peak>>10)
			require.Less(t, peak, int64(workerMost), "KiB")
		})
	}
}

// 5 MB of material reach each program whole, as a file that the prompt names.
func TestFiveMegabytesReachEveryProgram(t *testing.T) {
	l := newLab(t).prepare(false)
	change := l.wrote("01", "yes 'a line of the change, of eighty characters or a little less than that' | head -n 72000 > big.txt; echo done").Snapshot
	agents := l.acts.Agents
	agents.Binaries, agents.ExtraEnv = map[string]string{}, map[string]map[string]string{}
	for _, name := range agent.Names() {
		agents.Binaries[name], agents.ExtraEnv[name] = filepath.Join(l.dir, "agent.sh"), map[string]string{"LAB": l.dir}
	}
	acts, err := New(Options{Store: l.store, StateDir: l.acts.StateDir, Environ: l.acts.Environ, Agents: agents, Sandbox: SandboxOff})
	require.NoError(t, err)
	for _, name := range []string{"claude", "codex", "opencode", "gemini"} {
		l.plays("cp " + materialFile + " $LAB/material; wc -c < big.txt > $LAB/size")
		req := l.review("m-"+name, change)
		req.Target = record.Engine{Adapter: name, Provider: "us", ModelFamily: "sh", Model: agent.DefaultModel}
		out := do[loop.TurnResult](l, acts.RunTurn, req)
		require.NotEqual(t, record.ClassPermanent, out.Class, "%s: %s", name, out.Message)
		require.Greater(t, len(l.read("material")), 5_000_000, name)
		require.Equal(t, 72000, strings.Count(l.read("material"), "\n+a line of the change"), name)
		require.Contains(t, l.read("prompt"), materialFile, name)
		require.Less(t, len(l.read("prompt")), 200_000, name)
		require.NoError(t, os.Remove(filepath.Join(l.dir, "material")))
	}
}

// What the system would refuse without saying which string is too long, we refuse by its name.
func TestALongStringOfTheConfigurationIsRefusedByItsName(t *testing.T) {
	l := newLab(t).prepare(false)
	change := l.wrote("01", draft).Snapshot
	long := strings.Repeat("x", 128<<10)
	for want, with := range map[string]func(*agent.Settings){
		"environment variable \"MY_SETTING\" is 131083 bytes long": func(s *agent.Settings) { s.ExtraEnv["codex"]["MY_SETTING"] = long },
		"argument":                             func(s *agent.Settings) { s.ExtraArgs = map[string][]string{"codex": {"-c", "x=" + long}} },
		"environment variable \"HTTPS_PROXY\"": func(s *agent.Settings) { s.Environ = append(slices.Clone(s.Environ), "HTTPS_PROXY="+long) },
	} {
		agents := l.acts.Agents
		agents.ExtraEnv = map[string]map[string]string{"codex": {"LAB": l.dir}}
		with(&agents)
		for _, sandbox := range []string{SandboxOff, SandboxAuto} {
			acts, err := New(Options{Store: l.store, StateDir: l.acts.StateDir, Environ: l.acts.Environ, Agents: agents, Sandbox: sandbox})
			require.NoError(t, err)
			starts := l.starts()
			out := do[loop.TurnResult](l, acts.RunTurn, l.codexReview("s-"+sandbox+fmt.Sprint(len(want)), passes, patience, change))
			require.Equal(t, record.ClassPermanent, out.Class, out.Message)
			require.Contains(t, out.Message, want, sandbox)
			require.LessOrEqual(t, l.starts(), starts)
			acts.Environ = append(slices.Clone(acts.Environ), "HTTPS_PROXY="+long)
			checked := do[loop.VerifyResult](l, acts.Verify, l.verify("v-"+sandbox+fmt.Sprint(len(want)), change, "true"))
			require.Equal(t, record.ClassPermanent, checked.Class)
			require.Contains(t, checked.Message, `environment variable "HTTPS_PROXY"`)
		}
	}
}
