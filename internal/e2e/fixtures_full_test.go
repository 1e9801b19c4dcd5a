package e2e

import (
	"time"

	"github.com/stretchr/testify/require"
	historypb "go.temporal.io/api/history/v1"
)

// fullSituations are runs of the full discipline and reviews that left a history.
var fullSituations = []situation{
	{"full-confirmed-and-repaired", func(l *lab) []*historypb.History {
		l.play(append(repaired(),
			step{Role: "review", Seat: "first", Review: blocked(offByOne(), undocumented())}, step{Role: "review", Review: clean()},
			step{Role: "confirm", Confirm: yes()}, step{Role: "recheck", Recheck: all("addressed")},
		))
		return l.recordedFull(0)
	}},
	{"full-escalated-and-waiting", func(l *lab) []*historypb.History {
		l.play(append(unmoved(), step{Role: "arbitrate", Rulings: all("person")}))
		return l.recordedFull(3)
	}},
	{"full-ruled-by-signal", ruledBySignal},
	{"full-fixed-by-update", fixedByUpdate},
	{"full-size-and-budget-asked", sizeAndBudgetAsked},
	{"full-cancelled-while-waiting", cancelledWhileWaiting},
	{"full-ruled-after-a-failed-fix", ruledAfterAFailedFix},
	{"full-ruled-by-a-deadline", ruledByADeadline},
	{"review-that-blocks", func(l *lab) []*historypb.History {
		l.git("checkout", "-qb", "feature")
		l.commit("Add Sum", map[string]string{"calc.go": flawed})
		l.play([]step{{Role: "review", Say: blocks}})
		run, _ := l.review(1, "--preset", "dual-review", "--verify-cmd", "true")
		server, ok := l.server()
		require.True(l.t, ok)
		return []*historypb.History{fetchWorkflow(l.t, server.Address, run.WorkflowID, "")}
	}},
}

// recordedFull carries a full run until it ends or waits, and returns its history.
func (l *lab) recordedFull(wantExit int, more ...string) []*historypb.History {
	l.t.Helper()
	run := l.run(wantExit, append(append(l.fullArgs(), more...), "Add Sum")...)
	return []*historypb.History{l.history(run.RunID)}
}

// waitingFor is a full run with two iterations that ends with a question.
func (l *lab) waitingFor(more ...step) string {
	l.t.Helper()
	l.play(append(more, append(unmoved(), step{Role: "arbitrate", Rulings: all("person")})...))
	return l.run(3, append(l.fullArgs(), "--max-iters", "2", "Add Sum")...).RunID
}

func ruledBySignal(l *lab) []*historypb.History {
	runID := l.waitingFor()
	l.signal(runID, "ruling", []int{1})
	l.signal(runID, "ruling", object{"finding": "F1", "decision": "stand", "reason": "it is so", "by": "ada"})
	l.resume(0)
	return []*historypb.History{l.history(runID)}
}

func fixedByUpdate(l *lab) []*historypb.History {
	runID := l.waitingFor(
		step{Role: "repair", Round: "2", Write: map[string]string{"calc.go": mended}, Fix: object{"*": "fixed"}},
		step{Role: "recheck", Round: "2", Recheck: all("addressed")},
	)
	require.Equal(l.t, 0, l.starter("rule", "@last", "F1", "--fix", "--reason", "it must").code)
	l.resume(0)
	return []*historypb.History{l.history(runID)}
}

// sizeAndBudgetAsked waits twice before any seat is paid for; a reminder comes in between.
func sizeAndBudgetAsked(l *lab) []*historypb.History {
	l.play(agree(lined(501)))
	args := l.fullArgs()
	l.configureMore("budget: {assume_tokens: 400}\nrulings: {reminder: 1s}\n")
	runID := l.run(3, append(args, "--max-tokens", "600", "Add Sum")...).RunID
	require.Equal(l.t, 0, l.starter("rule", "@last", "SIZE", "--stand", "--reason", "one table").code)
	l.resume(5)
	time.Sleep(1500 * time.Millisecond)
	require.Equal(l.t, 0, l.starter("rule", "@last", "BUDGET", "--stand", "--reason", "go on").code)
	for out := l.starter("resume", "@last"); out.code == 5; out = l.starter("resume", "@last") {
		require.Equal(l.t, 0, l.starter("rule", "@last", "BUDGET", "--stand", "--reason", "go on").code)
	}
	return []*historypb.History{l.history(runID)}
}

func cancelledWhileWaiting(l *lab) []*historypb.History {
	runID := l.waitingFor()
	require.Equal(l.t, 0, l.starter("cancel", "@last").code)
	return []*historypb.History{l.history(runID)}
}
