package view

import (
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/record"
)

func TestDiff(t *testing.T) {
	step := func(id string, iteration int, status record.StepStatus, attempts int) record.Step {
		return record.Step{ID: id, Iteration: iteration, Status: status, Attempts: attempts}
	}
	tried := func(message string) record.Step {
		out := step("01", 1, record.Running, 0)
		out.Message = message
		return out
	}
	run := func(steps ...record.Step) record.Run { return record.Run{MaxIters: 3, Steps: steps} }
	type short struct {
		kind kind
		what string
	}
	cases := []struct {
		name          string
		before, after record.Run
		want          []short
	}{
		{"nothing", run(), run(), nil},
		{"a step begins", run(), run(step("01", 1, record.Running, 0)), []short{{iterationBegan, ""}, {stepBegan, "01"}}},
		{"it goes on", run(step("01", 1, record.Running, 0)), run(step("01", 1, record.Running, 1)), nil},
		{"its worker was lost", run(step("01", 1, record.Running, 1)), run(step("01", 1, record.Running, 2)), []short{{stepAgain, "01"}}},
		{"it waits for another try", run(step("01", 1, record.Running, 0)), run(tried("waits 5m0s")), []short{{stepWaits, "01waits 5m0s"}}},
		{"it waits once more", run(tried("waits 5m0s")), run(tried("waits 20m0s")), []short{{stepWaits, "01waits 20m0s"}}},
		{"it tries again", run(tried("waits 5m0s")), run(tried("waits 5m0s")), nil},
		{"a waiting run is watched late", run(), run(tried("waits 5m0s")), []short{{iterationBegan, ""}, {stepBegan, "01"}, {stepWaits, "01waits 5m0s"}}},
		{"it ends", run(step("01", 1, record.Running, 0)), run(step("01", 1, record.OK, 1)), []short{{stepEnded, "01"}}},
		{"it was so fast that it was never seen", run(), run(step("01", 1, record.OK, 1)), []short{{iterationBegan, ""}, {stepEnded, "01"}}},
		{"its end is told once", run(step("01", 1, record.OK, 0)), run(step("01", 1, record.OK, 1)), nil},
		{"one ends and the next begins", run(step("01", 1, record.Running, 0)), run(step("01", 1, record.OK, 1), step("02", 1, record.Running, 0)), []short{{stepEnded, "01"}, {stepBegan, "02"}}},
		{"the next iteration", run(step("01", 1, record.OK, 1)), run(step("01", 1, record.OK, 1), step("02", 2, record.Running, 0)), []short{{iterationBegan, ""}, {stepBegan, "02"}}},
		{"it is resumed", run(step("01", 1, record.Interrupted, 1)), run(step("01", 1, record.Running, 1)), []short{{stepBegan, "01"}}},
		{"a run is watched late", run(), run(step("01", 1, record.OK, 1), step("02", 2, record.OK, 1)), []short{{iterationBegan, ""}, {stepEnded, "01"}, {iterationBegan, ""}, {stepEnded, "02"}}},
		{"a note", run(), record.Run{Notes: []string{"n"}}, []short{{noted, "n"}}},
		{"a note is told once", record.Run{Notes: []string{"n"}}, record.Run{Notes: []string{"n", "n", "m"}}, []short{{noted, "m"}}},
		{"it waits", run(), record.Run{Waiting: "w"}, []short{{waiting, "w"}}},
		{"it was interrupted", run(), record.Run{Waiting: "w", Stop: record.StopInterrupted}, nil},
		{"it still waits", record.Run{Waiting: "w"}, record.Run{Waiting: "w"}, nil},
		{"it waits no more", record.Run{Waiting: "w"}, run(), nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, shown := diff(nothing(), c.before)
			events, after := diff(shown, c.after)
			var got []short
			for _, e := range events {
				got = append(got, short{e.kind, e.step.ID + e.text})
			}
			require.Equal(t, c.want, got)
			again, _ := diff(after, c.after)
			require.Empty(t, again, "a second look finds news")
			repeated, _ := diff(shown, c.after)
			require.Equal(t, events, repeated, "diff changed what was shown")
		})
	}
}
