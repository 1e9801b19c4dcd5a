package loop_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"conclave/internal/loop"
	"conclave/internal/record"
)

// Whatever people send and whenever: each question is answered once, nothing
// vanishes, and a run ends ruled only when every finding was ruled to stand.
func TestPropertyRulings(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 3).Draw(r, "findings")
		in := ruledInput(rapid.IntRange(1, 2).Draw(r, "iterations"))
		w := newRuled(t, in, n)
		sent, invalid := 0, 0
		send := func() {
			sent++
			raw := drawnRuling(r, n)
			if _, err := loop.ReadRuling([]byte(raw)); err != nil {
				invalid++
			}
			w.signal(raw)
		}
		w.onCall = func(loop.Call) {
			for range rapid.IntRange(0, 2).Draw(r, "while it works") {
				send()
			}
		}
		kind := w.run()
		for range 12 {
			if kind == loop.CallFinish {
				break
			}
			send()
			require.Equal(r, len(w.record().Questions) == 0, w.progress.Awake())
			if rapid.Bool().Draw(r, "carried on") { // what continue-as-new does
				raw, err := json.Marshal(w.progress.Carry)
				require.NoError(r, err)
				next := in
				next.Resume = &loop.Carry{}
				require.NoError(r, json.Unmarshal(raw, next.Resume))
				w.progress, err = loop.New(next, "run-x", w.now)
				require.NoError(r, err)
			}
			if w.progress.Awake() {
				kind = w.run()
			}
		}
		checkRulings(r, w, sent, invalid, kind == loop.CallFinish)
		w.checkReplay(in)
	})
}

func drawnRuling(r *rapid.T, findings int) string {
	if rapid.IntRange(0, 9).Draw(r, "junk") == 0 {
		return rapid.SampledFrom([]string{"", "7", `{"finding":"F1"}`, `{"finding":"F1","decision":"stand"}`}).Draw(r, "raw")
	}
	ruling := loop.RulingRequest{
		Finding:  fmt.Sprintf("F%d", rapid.IntRange(1, findings+1).Draw(r, "finding")),
		Decision: rapid.SampledFrom([]string{"stand", "stand", "fix", "fix", "abort"}).Draw(r, "decision"), Reason: "x",
		RequestID: rapid.SampledFrom([]string{"", "", "a", "b", "c"}).Draw(r, "request"),
		Head:      rapid.SampledFrom([]string{"", "", "", "tree-1", "c-tree-r1"}).Draw(r, "head"),
	}
	raw, err := json.Marshal(ruling)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func checkRulings(r require.TestingT, w *world, sent, invalid int, ended bool) {
	run := w.record()
	require.Equal(r, sent, len(run.Rulings)+len(run.Refused)+len(w.progress.Desk.Kept), "nothing vanishes")
	require.GreaterOrEqual(r, len(run.Refused), invalid)
	answered, requests := map[string]string{}, map[string]bool{}
	for _, ruling := range run.Rulings {
		key := fmt.Sprintf("%s#%d", ruling.Finding, ruling.Number)
		require.NotContains(r, answered, key, "a question is answered once")
		answered[key] = ruling.Decision
		require.False(r, ruling.RequestID != "" && requests[ruling.RequestID], "a request is applied once")
		requests[ruling.RequestID] = true
	}
	if !ended {
		require.Equal(r, record.NeedsRuling, run.Stop)
		return
	}
	aborts := slices.ContainsFunc(run.Rulings, func(r record.Ruling) bool { return r.Decision == "abort" })
	require.Equal(r, aborts, run.Stop == record.Aborted)
	require.Equal(r, !aborts, run.Stop == record.Ruled, run.Stop)
	for _, f := range run.Findings {
		last := run.Rulings[len(run.Rulings)-1]
		for _, ruling := range run.Rulings {
			if ruling.Finding == f.ID {
				last = ruling
			}
		}
		if run.Stop == record.Ruled {
			require.Equal(r, f.ID+" stand", last.Finding+" "+last.Decision)
		}
	}
}
