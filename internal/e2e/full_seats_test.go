package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"

	runrecord "conclave/internal/record"
)

// gone is an engine that cannot be asked: codex says so in these words.
func gone(role, seat string) step {
	return step{Role: role, Seat: seat, Silent: true, Stderr: "error: unexpected argument '--json' found\n", Exit: 2}
}

// A seat that may be skipped is, where its engine is not there; its vote is not needed then.
func TestASkippableSeatWithoutAnEngine(t *testing.T) {
	t.Parallel()
	l, args := fullLab(t, append([]step{gone("review", "first")}, agree(map[string]string{"calc.go": mended})...))
	l.configureMore("seats: {first: {skippable: true}}\n")
	run := l.run(0, append(args, "Add Sum")...)
	require.Equal(t, runrecord.Converged, run.Stop)
	require.Contains(t, []runrecord.StepStatus{runrecord.Skipped, runrecord.Failed}, run.Steps[2].Status)
	require.Contains(t, l.read(l.bundle(run.RunID, "report.md")), "unexpected argument")
	l.checkBundle(run)
}

// A seat is lost while a finding of its stands: a waiver lets the run go on, and another seat answers for the finding.
func TestAFindingOfALostSeatIsRecheckedByAnother(t *testing.T) {
	t.Parallel()
	l, args := fullLab(t, append(unmovedOnce(),
		step{Role: "review", Seat: "second", Review: blocked(offByOne())}, step{Role: "review", Review: clean()},
		step{Role: "confirm", Confirm: yes()}, gone("recheck", "second"),
		step{Role: "recheck", Recheck: all("addressed"), Review: clean()},
	))
	run := l.run(3, append(args, "Add Sum")...)
	require.Equal(t, runrecord.NeedsRuling, run.Stop)
	require.Contains(t, run.Waiting, "second")
	require.Equal(t, []string{"second"}, run.Unresolved)
	out := l.starter("resume", "--json", "--waive", "second", "--reason", "its account is closed", "@last")
	require.Equal(t, 0, out.code, out.String())
	run = decodeRun(t, out.stdout)
	require.Equal(t, runrecord.Converged, run.Stop)
	require.Equal(t, 3, run.Iterations, "the finding was not taken as addressed")
	require.Contains(t, head(l.prompt(run, stepOf(t, run, "recheck", "first", 3))), "findings=F1")
	require.Equal(t, "addressed", run.Findings[0].Disposition)
	require.Contains(t, l.read(l.bundle(run.RunID, "report.md")), "its account is closed")
	l.checkBundle(run)
}

// A quorum of one is no licence to forget a seat that was asked and gave no valid answer.
func TestAMetQuorumDoesNotExcuseAMissingSeat(t *testing.T) {
	t.Parallel()
	l, args := fullLab(t, append([]step{{Role: "review", Seat: "second", Say: "Looks great!"}}, agree(map[string]string{"calc.go": mended})...))
	run := l.run(3, append(args, "--quorum", "1", "Add Sum")...)
	require.False(t, run.Converged)
	require.Contains(t, run.Waiting, "second")
}

// An engine that falls back to the writer's family can neither refute nor let stand.
func TestAnEngineOfTheWritersFamilyRefutesNothing(t *testing.T) {
	t.Parallel()
	script := append([]step{{Role: "confirm", Confirm: no(), Model: "gpt-5.5"}, {Role: "arbitrate", Rulings: all("stand"), Model: "gpt-5.5"}}, unmoved()...)
	l := newLab(t, script)
	config := l.configure(second)
	l.configureMore("review: {arbiter: claude}\n")
	run := l.run(3, "--discipline", "full", "--trust-reviewers", "--implementer", "codex", "--config", config, "--max-iters", "2",
		"--seat", "first="+second.name, "--seat", "second=claude@security", "Add Sum")
	require.Equal(t, runrecord.NeedsRuling, run.Stop)
	require.Contains(t, turnSeats(run), "confirm second")
	require.Equal(t, "unconfirmable", run.Findings[0].Proof)
	require.NotEqual(t, "refuted", run.Findings[0].Disposition)
}
