package loop_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"conclave/internal/loop"
	"conclave/internal/record"
)

func TestTheCarryIsPlainJSON(t *testing.T) {
	in := input(3)
	w := newWorld(t, in)
	w.answers["review codex 1"] = func(c loop.Call) loop.Outcome { return judged(c, "block") }
	// After each batch the progress is written, read, and continued elsewhere.
	for range 100 {
		w.now = w.now.Add(time.Second)
		calls := w.progress.Next(w.now)
		if calls[0].Kind == loop.CallFinish {
			break
		}
		for _, call := range calls {
			w.play(call)
		}
		raw, err := json.Marshal(w.progress.Carry)
		require.NoError(t, err)
		var carry loop.Carry
		require.NoError(t, json.Unmarshal(raw, &carry))
		next := in
		next.Resume = &carry
		w.progress, err = loop.New(next, "run-x", w.now)
		require.NoError(t, err)
	}
	require.Equal(t, record.Converged, w.record().Stop)
	require.Equal(t, 2, w.record().Iterations)
	w.checkReplay(in)
}

func TestOtherCodeRefusesAStoredRun(t *testing.T) {
	var mismatch *loop.MismatchError
	in := input(3)
	in.Rules = "conclave/v0"
	_, err := loop.New(in, "run-x", time.Now())
	require.ErrorAs(t, err, &mismatch)
	in = input(3)
	in.Schema = 99
	_, err = loop.New(in, "run-x", time.Now())
	require.ErrorAs(t, err, &mismatch)
	in = input(3)
	in.Resume = &loop.Carry{Schema: 99}
	_, err = loop.New(in, "run-x", time.Now())
	require.ErrorAs(t, err, &mismatch)
	require.ErrorContains(t, err, "STORED_GRAPH_MISMATCH")
}
