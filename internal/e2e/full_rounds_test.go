package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	runrecord "conclave/internal/record"
)

// unmoved is an implementer that changes something in each round and never what it is asked for.
func unmoved() []step {
	return []step{
		{Role: "implement", Write: map[string]string{"calc.go": flawed}, Say: "drafted"},
		{Role: "repair", Shell: "echo '// looked at again' >> calc.go", Fix: object{"*": "fixed"}},
		{Role: "review", Seat: "first", Review: blocked(offByOne())},
		{Role: "review", Review: clean()},
		{Role: "confirm", Confirm: yes()},
		{Role: "recheck", Recheck: all("not-addressed"), Reason: "The loop is as it was."},
	}
}

// Repairs 1 to 3 by the implementer, 4 and 5 by the escalation target, then the
// arbiter, then a person, who answers by a raw signal.
func TestAStubbornImplementerEndsWithAPerson(t *testing.T) {
	t.Parallel()
	l, args := fullLab(t, append(unmoved(), step{Role: "arbitrate", Rulings: all("person"), Reason: "Only the owner knows the bound."}))
	l.configureMore("escalation: {model: claude-opus-4-5}\n")
	run := l.run(3, append(args, "Add Sum")...)
	require.Equal(t, runrecord.NeedsRuling, run.Stop)
	require.Equal(t, 6, run.Iteration)
	require.Contains(t, run.Waiting, "F1")
	require.Equal(t, []string{"F1 1"}, questions(run))

	var repairs []runrecord.Step
	for _, s := range run.Steps {
		if s.Turn == "repair" {
			repairs = append(repairs, s)
		}
	}
	require.Len(t, repairs, 5)
	for i, s := range repairs {
		escalated := i >= 3
		require.Equal(t, escalated, s.Identity.Requested.Model == "claude-opus-4-5", s.ID)
		require.Equal(t, escalated, strings.Contains(l.prompt(run, s), "The task is your own now"), s.ID)
	}
	for _, n := range l.notes() {
		if n.What == "start" && n.Role == "repair" {
			require.Equal(t, n.Round > "3", n.Model == "claude-opus-4-5", "the engine of round %s", n.Round)
		}
	}
	arbiter := run.Steps[len(run.Steps)-1]
	require.Equal(t, "arbiter arbitrate", arbiter.Role+" "+arbiter.Turn)
	require.NotEqual(t, "claude", arbiter.Adapter, "no writer judges its own work")

	// Not every JSON is a ruling.
	l.signal(run.RunID, "ruling", "stand, please")
	l.signal(run.RunID, "ruling", object{"finding": "F1", "decision": "maybe", "reason": "?"})
	l.signal(run.RunID, "ruling", object{"finding": "F9", "decision": "stand", "reason": "no such finding"})
	const why = "The bound is exclusive in all our callers."
	l.signal(run.RunID, "ruling", object{"finding": "F1", "decision": "stand", "reason": why, "by": "ada"})
	l.signal(run.RunID, "ruling", object{"finding": "F1", "decision": "abort", "reason": "too late"})

	run = l.resume(0)
	require.Equal(t, runrecord.Ruled, run.Stop)
	require.Equal(t, 0, run.ExitCode)
	require.Equal(t, "ruled", run.Findings[0].Disposition)
	persons := 0
	for _, r := range run.Rulings {
		if r.By == "ada" {
			persons++
			require.Equal(t, "F1 stand "+why, r.Finding+" "+r.Decision+" "+r.Reason)
			require.NotEmpty(t, r.At)
		}
	}
	require.Equal(t, 1, persons)
	require.Len(t, run.Refused, 4)
	report := l.read(l.bundle(run.RunID, "report.md"))
	for _, said := range []string{why, "ada", "Only the owner knows the bound.", "no such finding"} {
		require.Contains(t, report, said)
	}
	require.Contains(t, l.read(l.bundle(run.RunID, "rulings.json")), why)
	require.NotContains(t, turnSeats(run), "review final", "where a person ruled no final review follows")
	l.checkBundle(run)
}

func questions(run runrecord.Run) []string {
	var out []string
	for _, q := range run.Questions {
		out = append(out, q.Subject+" "+string(rune('0'+q.Number)))
	}
	return out
}

func turnSeats(run runrecord.Run) []string {
	var out []string
	for _, s := range run.Steps {
		out = append(out, s.Turn+" "+s.Seat)
	}
	return out
}

// An arbiter may let a finding stand, or ask for the smallest change: one more repair and recheck.
func TestAnArbiterSettlesWhatItCan(t *testing.T) {
	t.Parallel()
	t.Run("stand", func(t *testing.T) {
		t.Parallel()
		l, run := full(t, 0, append(unmoved(), step{Role: "arbitrate", Rulings: all("stand"), Reason: "Nobody calls Sum."}), "--max-iters", "2")
		require.Equal(t, "ruled", run.Findings[0].Disposition)
		require.Contains(t, l.read(l.bundle(run.RunID, "report.md")), "Nobody calls Sum.")
		require.Contains(t, run.Rulings[0].By, "arbiter")
	})
	t.Run("fix", func(t *testing.T) {
		t.Parallel()
		l, run := full(t, 0, append([]step{
			{Role: "repair", Contains: "the smallest one", Write: map[string]string{"calc.go": mended}, Fix: object{"*": "fixed"}},
			{Role: "recheck", Round: "2", Recheck: all("addressed")},
			{Role: "arbitrate", Rulings: all("fix"), Reason: "It is one line."},
		}, unmoved()...), "--max-iters", "2")
		require.Equal(t, runrecord.Converged, run.Stop)
		require.Equal(t, "addressed", run.Findings[0].Disposition)
		require.Equal(t, 2, l.started("repair"))
	})
}

// A failed fix asks again; the second ruling is a question of its own.
func TestAPersonsFixThatFailsAsksAgain(t *testing.T) {
	t.Parallel()
	l, args := fullLab(t, append(unmoved(), step{Role: "arbitrate", Rulings: all("person")}))
	l.run(3, append(args, "--max-iters", "2", "Add Sum")...)
	out := l.starter("rule", "@last", "F1", "--fix", "--reason", "It must include n.")
	require.Equal(t, 0, out.code, out.String())
	require.Equal(t, []string{"F1 2"}, questions(l.resume(3)))
	require.Equal(t, 2, l.started("repair"))
	out = l.starter("rule", "@last", "F1", "--abort", "--reason", "Enough.")
	require.Equal(t, 0, out.code, out.String())
	run := l.resume(1)
	require.Equal(t, runrecord.Aborted, run.Stop)
	require.Contains(t, l.read(l.bundle(run.RunID, "report.md")), "Enough.")
	l.checkBundle(run)
}

// A, then B, then A again is no progress: rulings at once, whatever rounds are left.
func TestATreeThatWasSeenBeforeIsStalled(t *testing.T) {
	t.Parallel()
	other := strings.Replace(flawed, "i := 0", "i := -1", 1)
	l, args := fullLab(t, []step{
		{Role: "implement", Write: map[string]string{"calc.go": flawed}, Say: "drafted"},
		{Role: "repair", Round: "1", Write: map[string]string{"calc.go": other}, Fix: object{"*": "fixed"}},
		{Role: "repair", Round: "2", Write: map[string]string{"calc.go": flawed}, Fix: object{"*": "fixed"}},
		{Role: "review", Seat: "first", Review: blocked(offByOne())},
		{Role: "review", Review: clean()},
		{Role: "confirm", Confirm: yes()},
		{Role: "recheck", Recheck: all("not-addressed")},
		{Role: "arbitrate", Rulings: all("person")},
	})
	run := l.run(3, append(args, "Add Sum")...)
	require.Equal(t, 2, l.started("repair"), "no third repair")
	require.Equal(t, 1, l.started("arbitrate"))
	require.Contains(t, run.Waiting, "F1")
	require.Contains(t, l.read(l.bundle(run.RunID, "report.md")), "seen before")
	out := l.starter("rule", "@last", "F1", "--stand", "--reason", "Leave it.")
	require.Equal(t, 0, out.code, out.String())
	run = l.resume(0)
	require.Equal(t, runrecord.Ruled, run.Stop)
	l.checkBundle(run)
}

// Without a fix report re-review does not start: the writer is asked once, then the run is stalled.
func TestARepairWithoutAReportIsAskedOnce(t *testing.T) {
	t.Parallel()
	draft := repaired()[0]
	reviews := []step{
		{Role: "review", Seat: "first", Review: blocked(offByOne())}, {Role: "review", Review: clean()},
		{Role: "confirm", Confirm: yes()}, {Role: "recheck", Recheck: all("addressed")}, {Role: "arbitrate", Rulings: all("person")},
	}
	t.Run("and gives it", func(t *testing.T) {
		t.Parallel()
		l, run := full(t, 0, append([]step{draft,
			{Role: "repair", Times: 1, Write: map[string]string{"calc.go": mended}, Say: "Fixed, trust me."},
			{Role: "repair", Say: "Here it is.", Fix: object{"*": "fixed"}},
		}, reviews...))
		require.Equal(t, runrecord.Converged, run.Stop)
		require.Equal(t, 2, l.started("repair"))
		require.Equal(t, 2, run.Iterations, "the same round")
	})
	t.Run("and gives none", func(t *testing.T) {
		t.Parallel()
		l, args := fullLab(t, append([]step{draft, {Role: "repair", Shell: "echo '// again' >> calc.go", Say: "Fixed, trust me."}}, reviews...))
		run := l.run(3, append(args, "Add Sum")...)
		require.Equal(t, 2, l.started("repair"))
		require.Equal(t, 0, l.started("recheck"), "re-review does not start")
		require.Contains(t, l.read(l.bundle(run.RunID, "report.md")), "no fix report")
	})
}

// What a fix report names is evidence for reviewers. We never run it.
func TestACommandInAFixReportIsNotRun(t *testing.T) {
	t.Parallel()
	marker := t.TempDir() + "/executed"
	script := repaired()
	script[1].Fix = object{"*": object{"status": "fixed", "tests": []string{"TestSum; touch " + marker}, "command": "touch " + marker, "output": "$(touch " + marker + ")"}}
	l, run := full(t, 0, append(script,
		step{Role: "review", Seat: "first", Review: blocked(offByOne())}, step{Role: "review", Review: clean()},
		step{Role: "confirm", Confirm: yes()}, step{Role: "recheck", Recheck: all("addressed")},
	), "--verify-cmd", sumTest, "--lint-cmd", "true")
	require.Equal(t, runrecord.Converged, run.Stop)
	require.Contains(t, l.prompt(run, stepOf(t, run, "recheck", "first", 2)), "touch "+marker, "the reviewer sees what is claimed")
	require.NoFileExists(t, marker)
}
