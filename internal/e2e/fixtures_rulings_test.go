package e2e

import (
	"time"

	"github.com/stretchr/testify/require"
	historypb "go.temporal.io/api/history/v1"
)

// ruledAfterAFailedFix has rulings by signal and by update, repeated and refused ones among them.
func ruledAfterAFailedFix(l *lab) []*historypb.History {
	l.play(stubborn())
	l.recordedFull(3, "--max-iters", "1")
	run := l.latestRun()
	l.signal(run, "ruling", "no ruling")
	fix := object{"finding": "F1", "decision": "fix", "reason": "Sum(3) must be 6", "request_id": "r1"}
	l.signal(run, "ruling", fix)
	l.signal(run, "ruling", fix)
	l.resume(3)
	out := l.starter("rule", "@last", "F9", "--stand", "--reason", "x")
	require.Equal(l.t, 2, out.code, out.String())
	out = l.starter("rule", "@last", "F1", "--stand", "--reason", "n is never negative", "--by", "ann")
	require.Equal(l.t, 0, out.code, out.String())
	return []*historypb.History{l.history(l.resume(0).RunID)}
}

// ruledByADeadline waits longer than it may. Nobody carries the run meanwhile: its timers go off when somebody does.
func ruledByADeadline(l *lab) []*historypb.History {
	l.play(stubborn())
	args := l.fullArgs()
	l.configureMore("rulings: {reminder: 1s, deadline: 3s, deadline_decision: stand}\n")
	run := l.run(3, append(args, "--max-iters", "1", "Add Sum")...)
	time.Sleep(4 * time.Second)
	ended := l.resume(0)
	require.Equal(l.t, "deadline", ended.Rulings[len(ended.Rulings)-1].By)
	return []*historypb.History{l.history(run.RunID)}
}
