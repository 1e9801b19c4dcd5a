package config_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"conclave/config"
)

const agentsOfGraph = `agents:
  alpha: {adapter: command, argv: [a], identity: {provider: acme, model_family: acme-large, model: m1}}
  beta: {adapter: command, argv: [b], identity: {provider: bolt, model_family: bolt-1, model: m2}}
`

const laneAlpha = `{"id":"w","requested":{"adapter":"alpha","provider":"acme","modelFamily":"acme-large","model":"m1","tools":[]},"knownSubstitutions":[]}`

// graphText is a definition that alpha and beta can run; each pair of change replaces a text.
func graphText(change ...string) string {
	text := `{"id":"release-review","definitionVersion":1,
 "data":{"maxIterations":2,"maxReviewRestarts":1,"quorum":1,"requireDiversity":false,"skippableSeats":[],"seatConcurrency":2,"retryCapPerNode":0,"note":"kept"},
 "nodes":[
  {"id":"draft","data":{"role":"generator","lane":` + laneAlpha + `}},
  {"id":"gate","data":{"role":"evaluator"}},
  {"id":"beta-review","data":{"role":"seat","lens":"security","evidencePaths":["docs/**","draft"],"lane":{"id":"b","requested":{"adapter":"beta","provider":"bolt","modelFamily":"bolt-1","model":"m2","tools":[]},
    "knownSubstitutions":[{"adapter":"codex","provider":"openai","modelFamily":"gpt","model":"default","tools":[]}]}}},
  {"id":"fix","data":{"role":"repair","lane":` + laneAlpha + `}}],
 "edges":[]}`
	for i := 0; i+1 < len(change); i += 2 {
		text = strings.Replace(text, change[i], change[i+1], 1)
	}
	return text
}

func loadGraph(t *testing.T, text string, unrun bool, args ...string) (config.Config, error) {
	t.Helper()
	clean(t)
	flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
	config.PolicyFlags(flags)
	config.HostFlags(flags)
	require.NoError(t, flags.Parse(args))
	return config.Load(config.Sources{
		Flags: flags, Named: config.File{Name: "named.yaml", Content: []byte(agentsOfGraph)}, Unrun: unrun,
		Definition: config.File{Name: "d.json", Content: []byte(text)},
	})
}

func TestADefinitionFileDecides(t *testing.T) {
	c, err := loadGraph(t, graphText(), false, "--verify-cmd", "make", "--timeout", "5m", "--verdict-mode", "heuristic")
	require.NoError(t, err)
	require.Empty(t, c.Warnings)
	document, machine, err := c.Compile(identify)
	require.NoError(t, err)
	require.JSONEq(t, graphText(), string(document), "unknown fields are kept: they are part of the digest")
	require.NotContains(t, string(document), "\n")
	require.Equal(t, "release-review", machine.Definition().ID)
	require.Equal(t, map[string]string{"beta-review": "security"}, c.Lenses())
	require.Equal(t, config.Lane{Adapter: "alpha", Model: "m1"}, c.Writer)
	require.Equal(t, c.Writer, c.Designer)
	require.Equal(t, []config.Lane{{Adapter: "codex"}}, c.Seats[0].Substitutions)
	require.Equal(t, []string{"alpha", "beta"}, c.Adapters())
	require.Equal(t, "basic verified make 5m0s heuristic", strings.Join([]string{c.Discipline, c.ReviewWhen, c.VerifyCmd, c.WriterTimeout.String(), c.VerdictMode}, " "))
	require.Empty(t, c.Preset)
	shown := map[string]string{}
	for _, e := range c.Effective() {
		shown[e.Key] = e.Value + " <- " + e.Origin
	}
	require.Equal(t, "2 <- d.json", shown["max_iters"])
	require.Equal(t, "alpha:m1 <- d.json", shown["implementer"])
	require.Equal(t, "beta-review=beta:m2@security <- d.json", shown["reviewers"])
	require.Equal(t, "make <- --verify-cmd", shown["verify_cmd"])

	c, err = loadGraph(t, graphText(`"lens":"security",`, ""), false)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"beta-review": config.DefaultLens}, c.Lenses())
}

func TestFlagsThatContradictADefinition(t *testing.T) {
	for _, flag := range []string{"preset=panel", "reviewers=codex", "reviewer=codex", "seat=a=codex", "implementer=codex", "max-iters=2", "quorum=1",
		"require-diversity", "seat-concurrency=2", "allow-self-review", "discipline=basic", "review=always", "advisory"} {
		_, err := loadGraph(t, graphText(), false, "--"+flag)
		name, _, _ := strings.Cut(flag, "=")
		require.ErrorContains(t, err, "--"+name+" contradicts --definition d.json", flag)
	}
	clean(t)
	t.Setenv("CONCLAVE_MAX_ITERS", "9")
	c, err := config.Load(config.Sources{
		Definition: config.File{Name: "d.json", Content: []byte(graphText())}, Named: config.File{Name: "named.yaml", Content: []byte(agentsOfGraph)},
		Repository: config.File{Name: "conclave.yaml", Content: []byte("quorum: 1\nseats: {a: {adapter: codex}}\nverify_cmd: make\n")},
	})
	require.NoError(t, err)
	require.Len(t, c.Warnings, 3)
	warnings := strings.Join(c.Warnings, "\n")
	require.Contains(t, warnings, "max_iters of CONCLAVE_MAX_ITERS does not count: d.json decides it (data.maxIterations)")
	require.Contains(t, warnings, "quorum of conclave.yaml:1 does not count")
	require.Contains(t, warnings, "conclave.yaml:2: seats.a does not count")
	require.Equal(t, 2, c.MaxIters)
}

func TestDefinitionsThatCannotRun(t *testing.T) {
	cases := []struct {
		name, from, to string
		want           []string
	}{
		{"every problem of a layer", `"maxIterations":2,"maxReviewRestarts":1`, `"maxIterations":0,"maxReviewRestarts":-1`,
			[]string{"d.json: /data/maxIterations: ", "(INVALID_LIMIT)", "d.json: /data/maxReviewRestarts: "}},
		{"bad JSON", `"edges":[]}`, `"edges":[]`, []string{"d.json: ", "INVALID_JSON_VALUE"}},
		{"a writer without a lane", `"role":"generator","lane":` + laneAlpha, `"role":"generator"`, []string{"d.json: /nodes/draft/data: the generator draft has no lane", "starter decide"}},
		{"a repair without a lane", `"role":"repair","lane":` + laneAlpha, `"role":"repair"`, []string{"/nodes/fix/data: the repair fix has no lane"}},
		{"an unknown adapter", `"adapter":"beta"`, `"adapter":"bets"`, []string{"/nodes/beta-review/data/lane/requested/adapter: unknown adapter", "did you mean beta?"}},
		{"an unknown substitution", `"adapter":"codex"`, `"adapter":"codx"`, []string{"/nodes/beta-review/data/lane/knownSubstitutions/0/adapter: unknown adapter", "did you mean codex?"}},
		{"an unknown lens", `"lens":"security"`, `"lens":"securty"`, []string{"/nodes/beta-review/data/lens: unknown lens", "did you mean security?"}},
		{"a lens that is no text", `"lens":"security"`, `"lens":7`, []string{"/nodes/beta-review/data/lens: unknown lens 7"}},
		{"an id that breaks a prompt", `{"id":"beta-review"`, `{"id":"beta review"`, []string{"/nodes/beta review: the id", "first line of a prompt"}},
		{"an evidence path of nobody", `"docs/**","draft"`, `"drafts"`, []string{"UNREPORTED_EVIDENCE"}},
		{"the writer's own engine", `"provider":"bolt"`, `"provider":"acme"`, []string{"NO_VOTING_SEAT", "--allow-self-review"}},
		{"an unreachable quorum", `"skippableSeats":[]`, `"skippableSeats":["beta-review"]`, []string{"UNREACHABLE_QUORUM"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			text := graphText(c.from, c.to)
			require.NotEqual(t, graphText(), text)
			_, err := loadGraph(t, text, false)
			var message strings.Builder
			for _, p := range config.Problems(err) {
				message.WriteString(p.What + "\n" + p.Remedy + "\n")
			}
			for _, part := range c.want {
				require.Contains(t, message.String(), part)
			}
		})
	}
}

// TestOnlyTheReportedIdentityCounts: a definition may call an engine what it likes, and is told what that is worth.
func TestOnlyTheReportedIdentityCounts(t *testing.T) {
	c, err := loadGraph(t, graphText(`"provider":"bolt"`, `"provider":"zeta"`, `"tools":[]},
    `, `"tools":["Read"]},
    `, `{"role":"evaluator"}`, `{"role":"evaluator","lane":{"id":"e","requested":{"adapter":"mock","provider":"p","modelFamily":"f","model":"m","tools":[]},"knownSubstitutions":[]}}`), false)
	require.NoError(t, err)
	warnings := strings.Join(c.Warnings, "\n")
	require.Contains(t, warnings, "beta-review declares zeta/bolt-1, but the adapter beta is bolt/bolt-1 by the configuration")
	require.Contains(t, warnings, "not enforced")
	require.Contains(t, warnings, "/nodes/gate/data/lane: it is not used")
	require.Len(t, c.Warnings, 3)
}

func TestSelfReviewByDefinition(t *testing.T) {
	c, err := loadGraph(t, graphText(`"note":"kept"`, `"writerExclusion":false`, `"provider":"bolt"`, `"provider":"acme"`), false)
	require.NoError(t, err)
	_, machine, err := c.Compile(identify)
	require.NoError(t, err)
	require.True(t, config.SelfReviewed(machine.Definition()))
}

func TestIssuesNameTheDocument(t *testing.T) {
	require.EqualError(t, config.Issues("f", json.Unmarshal([]byte("{"), &struct{}{})), "f: unexpected end of JSON input")
}
