package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"conclave/config"
)

// clean removes every variable that could reach a test from outside.
func clean(t *testing.T) {
	t.Helper()
	for _, entry := range os.Environ() {
		name, old, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, "CONCLAVE_") {
			t.Setenv(name, old) // restores it at the end
			require.NoError(t, os.Unsetenv(name))
		}
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_STATE_HOME", filepath.Join(home, "state"))
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
}

type given struct {
	args              []string
	env               map[string]string
	user, repo, named string
	unrun             bool
}

func load(t *testing.T, g given) (config.Config, error) {
	t.Helper()
	for name, v := range g.env {
		t.Setenv(name, v)
	}
	flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
	config.PolicyFlags(flags)
	config.HostFlags(flags)
	require.NoError(t, flags.Parse(g.args))
	file := func(name, content string) config.File {
		if content == "" {
			return config.File{}
		}
		return config.File{Name: name, Content: []byte(content)}
	}
	return config.Load(config.Sources{
		Flags: flags, Unrun: g.unrun,
		User: file("user.yaml", g.user), Repository: file("conclave.yaml", g.repo), Named: file("named.yaml", g.named),
	})
}

func seats(c config.Config) string {
	var all []string
	for _, s := range c.Seats {
		all = append(all, fmt.Sprintf("%s=%s:%s@%s", s.Name, s.Adapter, s.Model, s.Lens))
	}
	return strings.Join(all, " ")
}

func TestDefaults(t *testing.T) {
	clean(t)
	c, err := load(t, given{})
	require.NoError(t, err)
	require.Equal(t, "claude-codex", c.Preset)
	require.False(t, c.PresetNamed)
	require.Equal(t, config.Lane{Adapter: "claude"}, c.Writer)
	require.Equal(t, "codex=codex:@correctness", seats(c))
	require.Equal(t, 3, c.MaxIters)
	require.Equal(t, "30m0s 15m0s 10m0s 30m0s", fmt.Sprint(c.WriterTimeout, c.ReaderTimeout, c.IdleTimeout, c.VerifyTimeout))
	require.Equal(t, "basic verified strict", strings.Join([]string{c.Discipline, c.ReviewWhen, c.VerdictMode}, " "))
	require.Equal(t, "default conclave", c.Host.Namespace+" "+c.Host.TaskQueue)
	require.Equal(t, filepath.Join(os.Getenv("XDG_STATE_HOME"), "conclave", "store"), c.Host.Store)
	require.Empty(t, c.Warnings)
}

// TestPrecedence walks down the ranks: each case takes the strongest source away.
func TestPrecedence(t *testing.T) {
	all := given{
		args:  []string{"--implementer", "stub", "--max-iters", "9", "--timeout", "9s"},
		env:   map[string]string{"CONCLAVE_IMPLEMENTER": "codex", "CONCLAVE_MAX_ITERS": "8", "CONCLAVE_TIMEOUT": "8s"},
		named: "implementer: codex\nmax_iters: 7\ntimeout: 7s\n",
		repo:  "implementer: stub\nmax_iters: 6\ntimeout: 6s\n",
		user:  "implementer: codex\nmax_iters: 5\ntimeout: 5s\n",
	}
	cases := []struct {
		name        string
		change      func(*given)
		implementer string
		iters       int
		timeout     string
	}{
		{"flags are the strongest", func(*given) {}, "stub", 9, "9s"},
		{"then the environment", func(g *given) { g.args = nil }, "codex", 8, "8s"},
		{"then a named preset", func(g *given) { g.env = map[string]string{"CONCLAVE_PRESET": "dual-review"} }, "claude", 7, "7s"},
		{"then the file of --config", func(g *given) { g.env = nil }, "codex", 7, "7s"},
		{"then the repository's", func(g *given) { g.named = "" }, "stub", 6, "6s"},
		{"then the user's", func(g *given) { g.repo = "" }, "codex", 5, "5s"},
		{"then the default preset and the defaults", func(g *given) { g.user = "" }, "claude", 3, "30m0s"},
	}
	g := all
	for _, c := range cases {
		c.change(&g)
		t.Run(c.name, func(t *testing.T) {
			clean(t)
			got, err := load(t, g)
			require.NoError(t, err)
			require.Equal(t, c.implementer, got.Writer.Adapter)
			require.Equal(t, c.iters, got.MaxIters)
			require.Equal(t, c.timeout, got.WriterTimeout.String())
		})
	}
}

func TestPresetsAndSeats(t *testing.T) {
	cases := []struct {
		name          string
		given         given
		writer, seats string
	}{
		{"named preset outranks files", given{args: []string{"--preset", "dual-review"}, repo: "implementer: codex\nreviewers: [stub]\n"}, "claude", "codex=codex:@correctness claude=claude:@correctness"},
		{"default preset ranks below files", given{repo: "implementer: codex\nreviewers: [claude]\n"}, "codex", "claude=claude:@correctness"},
		{"preset named in a file", given{repo: "preset: codex-claude\n"}, "codex", "claude=claude:@correctness"},
		{"flags override a preset", given{args: []string{"--preset", "dual-review", "--implementer", "codex"}}, "codex", "codex=codex:@correctness claude=claude:@correctness"},
		{"reviewers equal the preset", given{args: []string{"--reviewers", "codex,claude"}}, "claude", "codex=codex:@correctness claude=claude:@correctness"},
		{"one reviewer", given{args: []string{"--reviewer", "stub"}}, "claude", "stub=stub:@correctness"},
		{"seats by flag", given{args: []string{"--seat", "a=codex:gpt-5.5@security", "--seat", "b=codex"}}, "claude", "a=codex:gpt-5.5@security b=codex:@correctness"},
		{"seat flags outrank the variable", given{args: []string{"--seat", "a=codex"}, env: map[string]string{"CONCLAVE_REVIEWERS": "stub"}}, "claude", "a=codex:@correctness"},
		{"variable", given{env: map[string]string{"CONCLAVE_REVIEWERS": "stub, codex"}}, "claude", "stub=stub:@correctness codex=codex:@correctness"},
		{"equal adapters get names", given{args: []string{"--reviewers", "codex@security,codex@tests,codex"}}, "claude", "codex-security=codex:@security codex-tests=codex:@tests codex=codex:@correctness"},
		{"numbers as the last resort", given{args: []string{"--reviewers", "codex,codex"}}, "claude", "codex=codex:@correctness codex-2=codex:@correctness"},
		{"seats of a file replace the default preset", given{repo: "seats:\n  z: {adapter: codex, lens: tests}\n  a: {adapter: stub}\n"}, "claude", "z=codex:@tests a=stub:@correctness"},
		{"seats of a file join its reviewers", given{repo: "reviewers: codex\nseats:\n  a: {adapter: stub}\n"}, "claude", "codex=codex:@correctness a=stub:@correctness"},
		{"seats refine by name", given{args: []string{"--preset", "dual-review"}, repo: "seats:\n  codex: {model: gpt-5.5, lens: security}\n"}, "claude", "codex=codex:gpt-5.5@security claude=claude:@correctness"},
		{"fields over two files", given{user: "seats:\n  a: {adapter: codex, lens: tests}\n", repo: "seats:\n  a: {model: m}\n"}, "claude", "a=codex:m@tests"},
		{"models by adapter", given{user: "agents:\n  codex: {model: u}\n", repo: "models: {codex: r}\n"}, "claude", "codex=codex:r@correctness"},
		{"a model may hold colons", given{args: []string{"--seat", "a=codex:org/m:7b@tests"}}, "claude", "a=codex:org/m:7b@tests"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			clean(t)
			got, err := load(t, c.given)
			require.NoError(t, err)
			require.Equal(t, c.writer, got.Writer.Adapter)
			require.Equal(t, c.seats, seats(got))
		})
	}
}

func TestAgents(t *testing.T) {
	clean(t)
	c, err := load(t, given{
		env: map[string]string{"CONCLAVE_CODEX_BIN": "/opt/codex"},
		user: `
agents:
  codex: {bin: /usr/bin/codex, env: [OPENAI_API_KEY, MODE=fast]}
  mine:
    adapter: command
    argv: [mytool, --review]
    result: file
    env: {TOKEN_FILE: /x, MixedCase: y}
    identity: {provider: acme, model_family: acme-f, model: m1}
implementer: claude
reviewers: [mine]
`})
	require.NoError(t, err)
	require.Equal(t, config.Agent{Adapter: "codex", Bin: "/opt/codex", Env: []string{"OPENAI_API_KEY", "MODE=fast"}}, c.Host.Agents["codex"])
	require.Equal(t, config.Agent{Adapter: "command", Argv: []string{"mytool", "--review"}, Result: "file",
		Env: []string{"TOKEN_FILE=/x", "MixedCase=y"}, Provider: "acme", ModelFamily: "acme-f", IdentityModel: "m1"}, c.Host.Agents["mine"])
}

func TestBadInput(t *testing.T) {
	env := func(pair ...string) map[string]string { return map[string]string{pair[0]: pair[1]} }
	cases := []struct {
		name  string
		given given
		// want are parts of the message, remedy included.
		want []string
	}{
		{"unknown preset", given{args: []string{"--preset", "dual-revieu"}}, []string{"--preset", `"dual-revieu"`, "did you mean dual-review?"}},
		{"unknown preset in the environment", given{env: env("CONCLAVE_PRESET", "solo")}, []string{"CONCLAVE_PRESET", "claude-solo"}},
		{"unknown preset in a file", given{repo: "max_iters: 2\npreset: duel-review\n"}, []string{"conclave.yaml:2", "dual-review"}},
		{"unknown adapter", given{args: []string{"--implementer", "cluade"}}, []string{"--implementer", `"cluade"`, "did you mean claude?"}},
		{"unknown reviewer", given{args: []string{"--reviewers", "codx"}}, []string{"--reviewers", "did you mean codex?"}},
		{"unknown reviewer in the environment", given{env: env("CONCLAVE_REVIEWERS", "codx")}, []string{"CONCLAVE_REVIEWERS", "did you mean codex?"}},
		{"unknown designer", given{args: []string{"--designer", "x"}}, []string{"--designer", "claude, codex"}},
		{"unknown sandbox", given{args: []string{"--sandbox", "require"}}, []string{"--sandbox", "did you mean required?"}},
		{"a cache that is no path", given{user: "sandbox_caches: [build]\n"}, []string{"user.yaml:1", "sandbox_caches", "build", "absolute"}},
		{"caches in the repository", given{repo: "sandbox_caches: [/x]\n"}, []string{"sandbox_caches may not"}},
		{"unknown lens", given{args: []string{"--seat", "a=codex@securty"}}, []string{"--seat", "securty", "security"}},
		{"seat without adapter", given{args: []string{"--seat", "a="}}, []string{"--seat", `unknown adapter ""`}},
		{"bad seat name", given{args: []string{"--seat", "a b=codex"}}, []string{"--seat", `"a b"`}},
		{"reserved seat name", given{args: []string{"--seat", "repair=codex"}}, []string{"repair", "taken"}},
		{"seat twice", given{args: []string{"--seat", "a=codex", "--seat", "a=stub"}}, []string{"a is taken"}},
		{"bad duration", given{args: []string{"--timeout", "soon"}}, []string{"--timeout", `"soon"`, "15m"}},
		{"duration without unit", given{env: env("CONCLAVE_TIMEOUT", "30")}, []string{"CONCLAVE_TIMEOUT", `"30"`, "unit"}},
		{"negative duration", given{repo: "verify_timeout: -1s\n"}, []string{"conclave.yaml:1: verify_timeout", "not longer"}},
		{"bad duration in a file", given{user: "\ntimeout: 5 minutes\n"}, []string{"user.yaml:2: timeout", "5 minutes"}},
		{"bad number", given{args: []string{"--max-iters", "three"}}, []string{"--max-iters", `"three"`, "whole number"}},
		{"zero iterations", given{args: []string{"--max-iters", "0"}}, []string{"--max-iters", "least is 1"}},
		{"bad number in a file", given{named: "max_iters: 2.5\n"}, []string{"named.yaml:1: max_iters", `"2.5"`}},
		{"bad boolean", given{repo: "require_diversity: maybe\n"}, []string{"conclave.yaml:1", "true or false"}},
		{"bad choice", given{args: []string{"--review", "alway"}}, []string{"--review", "did you mean always?"}},
		{"bad review in a file", given{repo: "review: sometimes\n"}, []string{"conclave.yaml:1: review.when", "verified"}},
		{"unknown key", given{repo: "# policy\nimplementor: codex\n"}, []string{"conclave.yaml:2", "implementor", "did you mean implementer?"}},
		{"unknown nested key", given{repo: "review:\n  wen: always\n"}, []string{"conclave.yaml:2", "review.wen", "did you mean when?"}},
		{"unknown seat field", given{repo: "seats:\n  a:\n    adaptor: codex\n"}, []string{"conclave.yaml:3", "seats.a.adaptor", "did you mean adapter?"}},
		{"unknown agent field", given{user: "agents:\n  codex: {binary: x}\n"}, []string{"user.yaml:2", "agents.codex.binary", "bin"}},
		{"unknown identity field", given{user: "agents:\n  codex: {identity: {family: x}}\n"}, []string{"user.yaml:2", "model_family"}},
		{"unknown agent", given{user: "agents:\n  cludae: {bin: x}\n"}, []string{"user.yaml:2", "cludae", "claude"}},
		{"command without argv", given{user: "agents:\n  m: {adapter: command}\n"}, []string{"user.yaml:2", "agents.m", "argv"}},
		{"command without identity", given{user: "agents:\n  m: {adapter: command, argv: [x]}\n"}, []string{"agents.m", "identity"}},
		{"bad result", given{user: "agents:\n  m: {adapter: command, argv: [x], result: stdot}\n"}, []string{"agents.m.result", "stdout"}},
		{"bad failure class", given{user: "agents:\n  codex:\n    failures:\n      - {class: quotta, pattern: x}\n"}, []string{"user.yaml:4", "agents.codex.failures[0]", "quotta", "transient"}},
		{"bad failure pattern", given{user: "agents:\n  codex: {failures: [{class: quota, pattern: '('}]}\n"}, []string{"user.yaml:2", "agents.codex.failures[0]", "cannot be read"}},
		{"argv of the wrong kind", given{user: "agents:\n  m: {adapter: command, argv: my-agent}\n"}, []string{"user.yaml:2", `agents.m: "my-agent" is no list`, "[a, b]"}},
		{"model of the wrong kind", given{user: "agents:\n  codex: {model: [x]}\n"}, []string{"user.yaml:2", "agents.codex: the value is no text", "write a text"}},
		{"unknown failure field", given{user: "agents:\n  codex: {failures: [{class: quota, patern: x}]}\n"}, []string{"user.yaml:2", "patern", "pattern"}},
		{"failures that are no list", given{user: "agents:\n  codex: {failures: {class: quota, pattern: x}}\n"}, []string{"user.yaml:2", "agents.codex"}},
		{"args beside argv", given{user: "agents:\n  m: {adapter: command, argv: [x], args: [y], identity: {provider: p, model_family: f, model: m}}\n"}, []string{"agents.m.args", "argv"}},
		{"command not configured", given{args: []string{"--implementer", "command"}}, []string{"agents.command"}},
		{"agents in the repository", given{repo: "agents:\n  codex: {bin: ./evil}\n"}, []string{"conclave.yaml:1: agents may not be set by a repository", "config.yaml"}},
		{"store in the repository", given{repo: "store: /x\n"}, []string{"conclave.yaml:1: store may not", "--config"}},
		{"address in the repository", given{repo: "address: h:1\n"}, []string{"address may not"}},
		{"namespace in the repository", given{repo: "namespace: n\n"}, []string{"namespace may not"}},
		{"queue in the repository", given{repo: "task_queue: n\n"}, []string{"task_queue may not"}},
		{"sandbox in the repository", given{repo: "sandbox: off\n"}, []string{"sandbox may not"}},
		{"state folder in the repository", given{repo: "state_dir: /x\n"}, []string{"state_dir may not"}},
		{"invalid YAML", given{repo: "a: 1\n  b: [\n"}, []string{"conclave.yaml:", "no valid YAML"}},
		{"a list as the file", given{repo: "- a\n"}, []string{"conclave.yaml:1", "no mapping"}},
		{"a mapping as a value", given{repo: "implementer: {a: b}\n"}, []string{"conclave.yaml:1", "implementer"}},
		{"key twice", given{repo: "quorum: 1\nquorum: 2\n"}, []string{"conclave.yaml:2", "twice"}},
		{"wrong type in a seat", given{repo: "seats:\n  a:\n    adapter: codex\n    skippable: maybe\n"}, []string{"conclave.yaml:4", "seats.a"}},
		{"seat entry of nobody", given{repo: "seats:\n  codx: {lens: tests}\n"}, []string{"conclave.yaml:2", "codx", "codex"}},
		{"store elsewhere", given{args: []string{"--store", "s3://bucket"}}, []string{"--store", "not yet"}},
		{"empty reviewers", given{args: []string{"--reviewers", ","}}, []string{"no reviewer"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			clean(t)
			_, err := load(t, c.given)
			require.Error(t, err)
			problems := config.Problems(err)
			require.NotEmpty(t, problems)
			var message strings.Builder
			for _, p := range problems {
				require.NotContains(t, p.What, "\n")
				require.NotContains(t, p.Remedy, "\n")
				fmt.Fprintln(&message, p.What)
				fmt.Fprintln(&message, p.Remedy)
			}
			for _, part := range c.want {
				require.Contains(t, message.String(), part)
			}
		})
	}
}

func TestAllProblemsOfAFileAreReported(t *testing.T) {
	clean(t)
	_, err := load(t, given{repo: "agents: {}\nmax_iters: x\nagents2: 1\n"})
	require.Len(t, config.Problems(err), 3)
}

func TestDesignerByFlagAsksForADesign(t *testing.T) {
	clean(t)
	c, err := load(t, given{args: []string{"--designer", "codex:gpt-5.5"}})
	require.NoError(t, err)
	require.True(t, c.Design)
	require.Equal(t, config.Lane{Adapter: "codex", Model: "gpt-5.5"}, c.Designer)
	c, err = load(t, given{repo: "designer: codex\n"})
	require.NoError(t, err)
	require.False(t, c.Design)
}

func TestNothingOfARepositoryReachesTheHost(t *testing.T) {
	clean(t)
	plain, err := load(t, given{})
	require.NoError(t, err)
	c, err := load(t, given{repo: "verify_cmd: make test\nmodels: {codex: m}\nseats: {codex: {skippable: true}}\n"})
	require.NoError(t, err)
	require.Equal(t, plain.Host, c.Host)
	require.Equal(t, "make test", c.VerifyCmd)
	require.True(t, c.Seats[0].Skippable)
}

func TestWarnings(t *testing.T) {
	clean(t)
	c, err := load(t, given{args: []string{"--preset", "codex-claude"}, repo: "implementer: claude\nseats: {codex: {skippable: true}}\n"})
	require.NoError(t, err)
	require.Len(t, c.Warnings, 2)
	require.Contains(t, c.Warnings[0], "conclave.yaml:1")
	require.Contains(t, c.Warnings[1], "seats.codex")
}

func TestEffectiveValuesNameTheirOrigin(t *testing.T) {
	clean(t)
	c, err := load(t, given{
		args: []string{"--quorum", "1", "--preset", "dual-review"}, env: map[string]string{"CONCLAVE_VERIFY_CMD": "make", "CONCLAVE_CODEX_BIN": "/b"},
		repo: "max_iters: 4\n", user: "agents:\n  codex: {env: [KEY=secret]}\n"})
	require.NoError(t, err)
	got := map[string]string{}
	for _, e := range c.Effective() {
		got[e.Key] = e.Value + " <- " + e.Origin
		require.NotContains(t, e.Value, "secret")
	}
	require.Equal(t, "1 <- --quorum", got["quorum"])
	require.Equal(t, "make <- CONCLAVE_VERIFY_CMD", got["verify_cmd"])
	require.Equal(t, "4 <- conclave.yaml:1", got["max_iters"])
	require.Equal(t, "claude <- preset dual-review", got["implementer"])
	require.Equal(t, "dual-review <- --preset", got["preset"])
	require.Equal(t, "strict <- default", got["verdict_mode"])
	require.Equal(t, "/b <- CONCLAVE_CODEX_BIN", got["agents.codex.bin"])
	require.Equal(t, "KEY <- user.yaml:2", got["agents.codex.env"])
}

func TestFilesAreRead(t *testing.T) {
	clean(t)
	user, named, err := config.ReadFiles("")
	require.NoError(t, err)
	require.Empty(t, user.Name+named.Name)

	path, err := config.UserFile()
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte("max_iters: 2\n"), 0o600))
	user, _, err = config.ReadFiles("")
	require.NoError(t, err)
	require.Equal(t, config.File{Name: path, Content: []byte("max_iters: 2\n")}, user)

	_, _, err = config.ReadFiles(filepath.Join(t.TempDir(), "none.yaml"))
	require.ErrorContains(t, err, "none.yaml cannot be read")
	_, _, err = config.ReadFiles(t.TempDir())
	require.ErrorContains(t, err, "cannot be read")
	t.Setenv("CONCLAVE_CONFIG", path)
	user, named, err = config.ReadFiles("")
	require.NoError(t, err)
	require.Empty(t, user.Name)
	require.Equal(t, path, named.Name)
}

// A preset's name tells who reviews: where others do, it would tell of reviewers who are not there.
func TestAPresetWhoseSeatsAreReplacedIsNotNamed(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "claude-codex"},
		{[]string{"--seat", "first=codex"}, "claude-codex"},
		{[]string{"--reviewers", "codex:o9"}, "claude-codex"},
		{[]string{"--implementer", "gemini"}, "claude-codex"},
		{[]string{"--seat", "first=gemini"}, ""},
		{[]string{"--seat", "first=codex@security"}, ""},
		{[]string{"--preset", "strict"}, "strict"},
		{[]string{"--preset", "strict", "--seat", "a=codex", "--seat", "b=gemini"}, ""},
	} {
		clean(t)
		got, err := load(t, given{args: c.args})
		require.NoError(t, err)
		require.Equal(t, c.want, got.Named(), "%v", c.args)
	}
}
