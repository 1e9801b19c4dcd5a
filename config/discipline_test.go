package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"conclave/config"
	"conclave/internal/convergence"
	"conclave/internal/prompt"
)

func TestKeysOfTheDiscipline(t *testing.T) {
	clean(t)
	c, err := load(t, given{})
	require.NoError(t, err)
	require.Equal(t, config.Review{SizeLimit: 500, MaxFindings: 20}, c.Review)
	require.Equal(t, config.Rulings{Reminder: 4 * time.Hour}, c.Rulings)
	require.Equal(t, config.Budget{AssumeTokens: 50_000}, c.Budget)
	require.Equal(t, config.Calibration{MinPrecision: 0.7, MinRecall: 0.7}, c.Calibration)
	require.False(t, c.TrustReviewers || c.Advisory || c.AllowProtected || c.Budget.Bounds())
	require.Nil(t, c.Confirmer)

	c, err = load(t, given{
		args: []string{"--discipline", "full", "--max-tokens", "1000000", "--max-cost", "2.50", "--max-duration", "2h", "--allow-protected", "--trust-reviewers"},
		repo: `
review:
  max_findings: 5
  identity: served
  size_limit: 0
  generated: ["gen/**", "a[x,y].go"]
  protected: "policies/**, ops/*.tf"
rulings: {reminder: 30m, deadline: 48h, deadline_decision: abort}
budget: {assume_tokens: 9000, max_tokens: 7}
calibration: {min_precision: 0.9, min_recall: 0}
`})
	require.NoError(t, err)
	require.Equal(t, config.Review{MaxFindings: 5, ServedIdentity: true, Generated: []string{"gen/**", "a[x,y].go"}, Protected: []string{"policies/**", "ops/*.tf"}}, c.Review)
	require.Equal(t, config.Rulings{Reminder: 30 * time.Minute, Deadline: 48 * time.Hour, DeadlineDecision: "abort"}, c.Rulings)
	require.Equal(t, config.Budget{MaxTokens: 1_000_000, MaxCostUSD: 2.5, MaxDuration: 2 * time.Hour, AssumeTokens: 9000}, c.Budget)
	require.Equal(t, config.Calibration{MinPrecision: 0.9}, c.Calibration)
	require.True(t, c.TrustReviewers && c.AllowProtected && c.Budget.Bounds())
	require.Empty(t, c.Warnings)
}

func TestFullHasSixIterationsUnlessSomebodySaysOtherwise(t *testing.T) {
	for _, c := range []struct {
		name  string
		given given
		want  int
	}{
		{"basic", given{}, 3},
		{"full by flag", given{args: []string{"--discipline", "full"}}, 6},
		{"full by preset", given{args: []string{"--preset", "panel"}}, 6},
		{"full by a file", given{repo: "discipline: full\n"}, 6},
		{"a flag", given{args: []string{"--discipline", "full", "--max-iters", "3"}}, 3},
		{"a file", given{args: []string{"--preset", "panel"}, repo: "max_iters: 2\n"}, 2},
		{"a variable", given{args: []string{"--preset", "panel"}, env: map[string]string{"CONCLAVE_MAX_ITERS": "4"}}, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			clean(t)
			got, err := load(t, c.given)
			require.NoError(t, err)
			require.Equal(t, c.want, got.MaxIters)
		})
	}
}

// data is the compiled definition's policies.
func data(t *testing.T, c config.Config) convergence.Definition {
	t.Helper()
	_, machine, err := c.Compile(identify)
	require.NoError(t, err)
	return machine.Definition()
}

func TestLanesOfTheDiscipline(t *testing.T) {
	clean(t)
	repo := "review: {confirmer: \"codex:big\", arbiter: stub}\nescalation: {model: opus}\n"
	c, err := load(t, given{args: []string{"--discipline", "full", "--advisory"}, repo: repo})
	require.NoError(t, err)
	d := data(t, c)
	require.Equal(t, &convergence.Lane{ID: "confirmer", Requested: identify(config.Lane{Adapter: "codex", Model: "big"}), KnownSubstitutions: []convergence.Target{}}, withTools(d.Data.Confirmer))
	require.Equal(t, "stub", d.Data.Arbiter.Requested.Adapter)
	require.True(t, d.Data.Advisory)
	require.Equal(t, "opus", d.Data.Escalation.Model)
	require.Equal(t, "claude", d.Data.Escalation.Adapter)
	first, last := d.Nodes[0].Data.Lane, d.Nodes[len(d.Nodes)-1].Data.Lane
	require.Empty(t, first.KnownSubstitutions, "the first draft is not escalated")
	require.Equal(t, []convergence.Target{*d.Data.Escalation}, last.KnownSubstitutions)
	require.Equal(t, first.Requested, last.Requested)
	require.NotEqual(t, first.ID, last.ID)
	require.Equal(t, []string{"claude", "codex", "stub"}, c.Adapters())

	basic, err := load(t, given{args: []string{"--advisory"}, repo: repo})
	require.NoError(t, err)
	require.Equal(t, []string{"claude", "codex"}, basic.Adapters())
	d = data(t, basic)
	require.Nil(t, d.Data.Confirmer)
	require.Nil(t, d.Data.Escalation)
	require.False(t, d.Data.Advisory)
	warnings := strings.Join(basic.Warnings, "\n")
	for _, key := range []string{"review.confirmer", "review.arbiter", "escalation.model", "advisory"} {
		require.Contains(t, warnings, key+" has no effect under discipline basic")
	}

	same, err := load(t, given{args: []string{"--discipline", "full", "--implementer", "claude:opus"}, repo: "escalation: {model: opus}\n"})
	require.NoError(t, err)
	require.Nil(t, same.Escalation)
	require.Contains(t, strings.Join(same.Warnings, "\n"), "the implementer's model")
}

func TestADecisionWithoutADeadlineAnswersNothing(t *testing.T) {
	clean(t)
	c, err := load(t, given{args: []string{"--discipline", "full"}, repo: "rulings: {deadline_decision: stand}\n"})
	require.NoError(t, err)
	require.Contains(t, strings.Join(c.Warnings, "\n"), "conclave.yaml:1: rulings.deadline_decision has no effect without rulings.deadline")
	c, err = load(t, given{args: []string{"--discipline", "full"}, repo: "rulings: {deadline: 1h, deadline_decision: stand}\n"})
	require.NoError(t, err)
	require.Empty(t, c.Warnings)
}

func withTools(l *convergence.Lane) *convergence.Lane {
	l.Requested.Tools = nil
	return l
}

func TestAWritersEngineNeitherConfirmsNorArbitrates(t *testing.T) {
	for _, key := range []string{"confirmer", "arbiter"} {
		clean(t)
		given := given{args: []string{"--discipline", "full"}, repo: "review: {" + key + ": \"claude:opus\"}\n"}
		c, err := load(t, given)
		require.NoError(t, err)
		_, _, err = c.Compile(identify)
		require.ErrorContains(t, err, "review."+key+" claude:opus has the provider or the model family of the implementer claude")
		given.args = append(given.args, "--allow-self-review")
		c, err = load(t, given)
		require.NoError(t, err)
		_, _, err = c.Compile(identify)
		require.NoError(t, err)
	}
}

func TestLensesAndPromptsOfUsers(t *testing.T) {
	clean(t)
	c, err := load(t, given{
		args: []string{"--seat", "a=codex@money"},
		user: "lenses: {money: lenses/money.md, old: /abs/old.md}\nprompts: {review: r.md}\n",
		repo: "lenses: {money: ./review/money.md}\nseats: {a: {lens: old}}\n",
	})
	require.NoError(t, err)
	require.Equal(t, []config.PromptFile{
		{Name: "money", Path: "review/money.md", Repository: true, Where: "conclave.yaml:1"},
		{Name: "old", Path: "/abs/old.md", Where: "user.yaml:1"},
	}, c.LensFiles)
	require.Equal(t, []config.PromptFile{{Name: "review", Path: "r.md", Where: "user.yaml:2"}}, c.PromptFiles)
	require.Equal(t, "a=codex:@money", seats(c))

	named, err := config.Load(config.Sources{Named: config.File{Name: "/etc/c/x.yaml", Content: []byte("lenses: {money: m.md}\nreviewers: codex@money\n")}})
	require.NoError(t, err)
	require.Equal(t, "/etc/c/m.md", named.LensFiles[0].Path)
}

func TestBadKeysOfTheDiscipline(t *testing.T) {
	for _, c := range []struct {
		name  string
		given given
		want  []string
	}{
		{"no number", given{repo: "review: {max_findings: many}\n"}, []string{"conclave.yaml:1: review.max_findings", "whole number"}},
		{"no findings", given{repo: "review: {max_findings: 0}\n"}, []string{"review.max_findings", "least is 1"}},
		{"more findings than fit", given{repo: "review: {max_findings: 33}\n"}, []string{"review.max_findings", "33 is too large, the most is 32"}},
		{"negative size", given{repo: "review: {size_limit: -1}\n"}, []string{"review.size_limit", "least is 0"}},
		{"identity", given{repo: "review: {identity: serve}\n"}, []string{"review.identity", "did you mean served?"}},
		{"confirmer", given{repo: "review: {confirmer: codx}\ndiscipline: full\n"}, []string{"conclave.yaml:1: review.confirmer: unknown adapter", "did you mean codex?"}},
		{"cost", given{args: []string{"--max-cost", "cheap"}}, []string{"--max-cost", "no amount of money"}},
		{"no cost", given{args: []string{"--max-cost", "0"}}, []string{"--max-cost"}},
		{"not a number", given{args: []string{"--max-cost", "NaN"}}, []string{"--max-cost"}},
		{"tokens", given{args: []string{"--max-tokens", "1e6"}}, []string{"--max-tokens", "whole number"}},
		{"duration", given{args: []string{"--max-duration", "2"}}, []string{"--max-duration", "unit"}},
		{"threshold", given{repo: "calibration: {min_recall: 70}\n"}, []string{"calibration.min_recall", "from 0 to 1"}},
		{"threshold is not a number", given{repo: "calibration: {min_recall: NaN}\n"}, []string{"calibration.min_recall"}},
		{"glob outside", given{repo: "review: {protected: [../x]}\n"}, []string{"review.protected", `"../x"`}},
		{"broken glob", given{repo: "review: {protected: [\"a[\"]}\n"}, []string{"conclave.yaml:1: review.protected", "a["}},
		{"glob with a tab", given{repo: "review: {generated: [\"a\\tb\"]}\n"}, []string{"review.generated"}},
		{"deadline without a decision", given{repo: "rulings: {deadline: 1h}\n"}, []string{"conclave.yaml:1: rulings.deadline", "rulings.deadline_decision"}},
		{"decision", given{repo: "rulings: {deadline_decision: pass}\n"}, []string{"rulings.deadline_decision", "stand, fix, abort"}},
		{"trust by a repository", given{repo: "trust_reviewers: true\n"}, []string{"conclave.yaml:1: trust_reviewers may not be set by a repository"}},
		{"advisory by a repository", given{repo: "advisory: true\n"}, []string{"advisory may not"}},
		{"protected paths by a repository", given{repo: "allow_protected: true\n"}, []string{"allow_protected may not"}},
		{"lens outside", given{repo: "lenses: {x: ../x.md}\n"}, []string{"conclave.yaml:1: lenses.x", "outside of the repository"}},
		{"absolute lens", given{repo: "lenses: {x: /x.md}\n"}, []string{"outside of the repository"}},
		{"lens name", given{repo: "lenses: {a b: x.md}\n"}, []string{`"a b" is no name`}},
		{"lens without a file", given{repo: "lenses: {x: [a]}\n"}, []string{"lenses.x", "{NAME: FILE}"}},
		{"unknown template", given{repo: "prompts: {reviw: x.md}\n"}, []string{"conclave.yaml:1: there is no template reviw", "did you mean review?"}},
		{"unknown lens", given{args: []string{"--seat", "a=codex@mony"}, repo: "lenses: {money: x.md}\n"}, []string{"did you mean money?", "lenses"}},
		{"seat named as a lane", given{args: []string{"--seat", "confirmer=codex"}}, []string{"confirmer", "taken"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			clean(t)
			_, err := load(t, c.given)
			require.Error(t, err)
			for _, part := range c.want {
				require.ErrorContains(t, err, part)
			}
		})
	}
}

func TestTheDefaultLensHasAText(t *testing.T) {
	require.Contains(t, prompt.LensNames(), config.DefaultLens)
}

// TestAProgramMayHaveThePlaceOfAnAdapter: the preset strict runs where gemini is a configured program.
func TestAProgramMayHaveThePlaceOfAnAdapter(t *testing.T) {
	clean(t)
	c, err := load(t, given{args: []string{"--preset", "strict"},
		user: "agents:\n  gemini: {adapter: command, argv: [gem], identity: {provider: google, model_family: gemini, model: g}}\n"})
	require.NoError(t, err)
	d := data(t, c)
	require.Equal(t, int64(2), d.Data.Quorum)
	require.Equal(t, convergence.Full, d.Data.Discipline)
	require.Empty(t, c.Warnings)
}
