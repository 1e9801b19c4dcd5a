package loop_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"conclave/internal/loop"
	"conclave/internal/record"
)

func TestResumeOfARunThatWaitsForRulingsAsksTheSameQuestion(t *testing.T) {
	w := newRuled(t, ruledInput(1), 1)
	require.Equal(t, loop.CallWait, w.run())
	w.progress.BeginWait(w.now)
	w.progress.AskResume(loop.Resume{})
	w.progress.Woken(w.now)
	require.Equal(t, loop.CallWait, w.run())
	require.Equal(t, []string{"F1#1"}, w.asked(), "nobody answered it")
}

func TestAnInterruptionOfAWaitChangesNothing(t *testing.T) {
	w := newRuled(t, ruledInput(1), 1)
	require.Equal(t, loop.CallWait, w.run())
	w.progress.InterruptWork("ctrl-c")
	w.signal(`{"finding":"F1","decision":"stand","reason":"x"}`)
	require.True(t, w.progress.Awake())
	require.Equal(t, loop.CallFinish, w.run())
	require.Equal(t, record.Ruled, w.record().Stop)
}

func TestACancelledRunAsksNothing(t *testing.T) {
	w := newRuled(t, ruledInput(1), 1)
	require.Equal(t, loop.CallWait, w.run())
	w.progress.Cancelled()
	w.signal(`{"finding":"F1","decision":"stand","reason":"x"}`)
	require.Equal(t, []string{"the run is ending"}, w.refusals())
	require.Equal(t, loop.CallFinish, w.run())
	require.Equal(t, record.Cancelled, w.record().Stop)
	require.Empty(t, w.record().Questions)
}

func TestAReminderCountsAndADeadlineAnswers(t *testing.T) {
	in := ruledInput(1)
	in.Policy.Reminder, in.Policy.Deadline, in.Policy.DeadlineRuling = 4*time.Hour, 10*time.Hour, "stand"
	w := newRuled(t, in, 1)
	require.Equal(t, loop.CallWait, w.run())
	w.progress.BeginWait(w.now)
	began := w.now
	require.Zero(t, w.record().WaitedMS)
	require.Equal(t, 4*time.Hour, w.progress.Alarm(w.now))
	w.now = w.now.Add(4 * time.Hour)
	w.progress.Ring(w.now)
	require.False(t, w.progress.Awake())
	require.Equal(t, loop.CallWait, w.run())
	require.Equal(t, "a ruling on F1 (reminded 1 time)", w.record().Waiting)
	require.Equal(t, 1, w.record().Reminders)
	require.Equal(t, w.now.Sub(began).Milliseconds(), w.record().WaitedMS, "while it waits")
	require.Len(t, w.marks, 2, "a reminder writes no bundle")
	w.now = w.now.Add(6 * time.Hour)
	w.progress.Ring(w.now)
	require.True(t, w.progress.Awake())
	require.Equal(t, loop.CallFinish, w.run())
	ruling := w.record().Rulings[0]
	require.Equal(t, "deadline", ruling.By)
	require.Equal(t, "stand", ruling.Decision)
	require.Contains(t, ruling.Reason, "nobody ruled within 10h0m0s")
	require.Equal(t, record.Ruled, w.record().Stop)
	waited := w.record().WaitedMS
	require.GreaterOrEqual(t, waited, (10 * time.Hour).Milliseconds())
	require.Less(t, waited, w.record().TotalMS)
	w.now = w.now.Add(time.Hour)
	require.Equal(t, waited, w.record().WaitedMS, "what has ended waits no more")
}

func TestWithoutADeadlineARunWaitsForEver(t *testing.T) {
	w := newRuled(t, ruledInput(1), 1)
	require.Equal(t, loop.CallWait, w.run())
	w.progress.BeginWait(w.now)
	require.Zero(t, w.progress.Alarm(w.now))
}

func TestADeadlineNeverLiftsABudgetNorPaysForASecondFix(t *testing.T) {
	in := ruledInput(1)
	in.Policy.Deadline, in.Policy.DeadlineRuling = time.Hour, "fix"
	w := newRuled(t, in, 1)
	require.Equal(t, loop.CallWait, w.run())
	w.progress.BeginWait(w.now)
	w.now = w.now.Add(2 * time.Hour)
	w.progress.Ring(w.now)
	require.Equal(t, loop.CallWait, w.run())
	require.Equal(t, []string{"F1#2"}, w.asked())
	w.progress.BeginWait(w.now)
	require.Zero(t, w.progress.Alarm(w.now))

	in = ruledInput(1)
	in.Policy.Deadline, in.Policy.DeadlineRuling = time.Hour, "stand"
	in.Budget = loop.Budget{Tokens: 5, AssumeTokens: 10}
	w = newRuled(t, in, 1)
	require.Equal(t, loop.CallWait, w.run())
	require.Equal(t, []string{"BUDGET#1"}, w.asked())
	w.progress.BeginWait(w.now)
	require.Zero(t, w.progress.Alarm(w.now))
}

func TestARunOfTheBasicDisciplineAsksAboutNoFinding(t *testing.T) {
	w := newWorld(t, input(3))
	w.answers["review codex 1"] = func(c loop.Call) loop.Outcome { return judged(c, "block") }
	w.onCall = func(c loop.Call) {
		if c.Kind == loop.CallTurn && c.Turn.Turn == "repair" {
			w.signal(`{"finding":"F1","decision":"stand","reason":"x"}`)
		}
	}
	require.Equal(t, loop.CallFinish, w.run())
	require.Equal(t, []string{"a run of discipline basic asks about no finding; nothing is asked now"}, w.refusals())
	require.Equal(t, record.Converged, w.record().Stop)
}
