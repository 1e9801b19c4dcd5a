package loop_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"conclave/internal/artifact"
	"conclave/internal/loop"
	"conclave/internal/record"
)

func secretAt(path string, line int) loop.Secret {
	return loop.Secret{Path: path, Line: line, Rule: "github-token", Title: "GitHub token", Masked: "ghp_... (40 characters)"}
}

// leaking is a scan that finds secrets.
func leaking(secrets ...loop.Secret) *loop.Scan {
	scan := &loop.Scan{Lines: 3, Secrets: secrets}
	if len(secrets) > 0 {
		scan.Found = &loop.Secrets{Count: len(secrets), Summary: "the change brings in a secret, first x.env:1", Report: artifact.Of([]byte("take it out"))}
	}
	return scan
}

// closes answers a verify call as the activity does.
func closes(c loop.Call) loop.Outcome {
	out := gate(loop.GatePass)
	if found := c.Verify.Secrets; found != nil {
		out.Verify.Gate, out.Verify.Secrets, out.Verify.Message, out.Verify.Failure = loop.GateFail, found.Count, found.Summary, found.Report
	}
	return out
}

// writes answers a writing turn with a scan.
func writes(tree string, scan *loop.Scan) loop.Outcome {
	out := wrote(tree, true)
	out.Turn.Scan = scan
	return out
}

func TestASecretGoesToRepairWithoutAReview(t *testing.T) {
	w := newWorld(t, input(3))
	w.answers["verify"] = closes
	w.answers["implement"] = func(loop.Call) loop.Outcome {
		return writes("tree-1", leaking(secretAt("x.env", 1), secretAt("y.env", 7)))
	}
	w.answers["repair"] = func(c loop.Call) loop.Outcome {
		if c.Turn.Iteration == 2 {
			return writes("tree-2", leaking(secretAt("x.env", 4)))
		}
		return writes("tree-3", leaking())
	}
	require.Equal(t, loop.CallFinish, w.run())
	run := w.record()
	require.Equal(t, record.Converged, run.Stop, run.Message)
	require.Equal(t, []string{
		"prepare", "bundle", "01 implement", "02 verify", "bundle", "03 repair", "04 verify", "bundle", "05 repair", "06 verify", "07 review codex", "08 review claude", "land", "bundle",
	}, w.calls)
	require.Equal(t, artifact.Of([]byte("take it out")), w.turns[1].Feedback.Failure, "the repair reads our words")
	require.Equal(t, "fail", run.Steps[1].Verdict)
	require.Contains(t, strings.Join(run.Notes, "\n"), "review.allow_secrets", "a rule may be wrong, and a person has to know what to do then")
	require.Contains(t, run.Steps[1].Message, "brings in a secret")
	require.Len(t, run.Findings, 2)
	for _, f := range run.Findings {
		require.Equal(t, []string{"conclave"}, f.RaisedBy)
		require.Equal(t, "high", f.Severity)
		require.Equal(t, "addressed", f.Disposition)
		require.Equal(t, "rule", f.Proof)
	}
	require.Equal(t, []string{"S1", "S2"}, []string{run.Findings[0].ID, run.Findings[1].ID})
	require.Equal(t, 4, run.Findings[0].Evidence[0].Line, "where it is now")
	require.Equal(t, []string{"step 01: raised by the rule github-token", "step 05: the change has it no more"}, run.Findings[0].History)
	require.Equal(t, []string{"step 01: raised by the rule github-token", "step 03: the change has it no more"}, run.Findings[1].History)
	w.checkReplay(input(3))
}

func TestASecretThatStaysIsNeverConverged(t *testing.T) {
	for _, verify := range []string{"", "go test ./..."} {
		in := input(2)
		in.Commands.Verify = verify
		w := newWorld(t, in)
		w.answers["verify"] = closes
		w.answers["implement"] = func(loop.Call) loop.Outcome { return writes("tree-1", leaking(secretAt("x.env", 1))) }
		w.answers["repair"] = func(loop.Call) loop.Outcome { return writes("tree-2", leaking(secretAt("x.env", 2))) }
		require.Equal(t, loop.CallFinish, w.run())
		run := w.record()
		require.Equal(t, record.MaxIters, run.Stop, run.Message)
		require.Equal(t, 1, run.ExitCode)
		require.Equal(t, "confirmed", run.Findings[0].Disposition)
		require.Equal(t, verify != "", run.Steps[1].ExitCode != nil, "a command that there is none of has no exit code")
	}
}

func TestASecretThatComesBackIsTheSameFinding(t *testing.T) {
	w := newWorld(t, input(4))
	w.answers["verify"] = closes
	w.answers["implement"] = func(loop.Call) loop.Outcome { return writes("tree-1", leaking(secretAt("x.env", 1))) }
	w.answers["repair"] = func(c loop.Call) loop.Outcome {
		if c.Turn.Iteration == 3 {
			return writes("tree-3", leaking(secretAt("x.env", 9)))
		}
		return writes("tree-"+c.Step, leaking())
	}
	w.answers["review codex 2"] = func(c loop.Call) loop.Outcome { return judged(c, "block") }
	require.Equal(t, loop.CallFinish, w.run())
	run := w.record()
	require.Equal(t, record.Converged, run.Stop, run.Message)
	last := run.Findings[len(run.Findings)-1]
	require.Equal(t, "S1", last.ID)
	require.Len(t, last.History, 4)
	require.Contains(t, last.History[2], "it is there again")
	ids := map[string]int{}
	for _, f := range run.Findings {
		ids[f.ID]++
	}
	require.Equal(t, map[string]int{"F1": 1, "S1": 1}, ids)
}

func TestTwoOfAKindInOneFileAreTwo(t *testing.T) {
	w := newWorld(t, input(3))
	w.answers["verify"] = closes
	w.answers["implement"] = func(loop.Call) loop.Outcome {
		return writes("tree-1", leaking(secretAt("x.env", 1), secretAt("x.env", 2)))
	}
	w.answers["repair"] = func(c loop.Call) loop.Outcome {
		if c.Turn.Iteration == 2 {
			return writes("tree-2", leaking(secretAt("x.env", 1)))
		}
		return writes("tree-3", leaking())
	}
	require.Equal(t, loop.CallFinish, w.run())
	run := w.record()
	require.Equal(t, record.Converged, run.Stop, run.Message)
	require.Len(t, run.Findings, 2)
	require.Contains(t, run.Findings[0].History[1], "step 05")
	require.Contains(t, run.Findings[1].History[1], "step 03")
}

func TestAReviewOfAChangeWithASecretBlocks(t *testing.T) {
	for _, discipline := range []string{"basic", "full"} {
		in := gateInput(discipline)
		w := newWorld(t, in)
		w.answers["verify"] = closes
		calls := w.progress.Next(w.now)
		g := given()
		g.Scan = *leaking(secretAt("x.env", 3))
		w.progress.Done(calls[0], loop.Outcome{Prepared: &loop.Prepared{Base: loop.Snapshot{Commit: "b1", Tree: "tree-0"}, Head: "b1", Given: g}}, w.now)
		require.Equal(t, loop.CallFinish, w.run())
		run := w.record()
		require.Equal(t, record.MaxIters, run.Stop, run.Message)
		require.Equal(t, 1, run.ExitCode)
		require.Contains(t, run.Message, "blocking findings: S1 (high) the change brings in a secret: GitHub token, x.env:3")
		require.Len(t, run.Findings, 1)
	}
}

func TestSecretsAreCarriedOn(t *testing.T) {
	in := input(3)
	w := newWorld(t, in)
	w.answers["verify"] = closes
	w.answers["implement"] = func(loop.Call) loop.Outcome { return writes("tree-1", leaking(secretAt("x.env", 1))) }
	for range 3 { // prepare, bundle, implement
		for _, call := range w.progress.Next(w.now) {
			w.play(call)
		}
	}
	raw, err := json.Marshal(w.progress.Carry)
	require.NoError(t, err)
	in.Resume = new(loop.Carry)
	require.NoError(t, json.Unmarshal(raw, in.Resume))
	again, err := loop.New(in, "run-x", time.Time{})
	require.NoError(t, err)
	calls := again.Next(w.now)
	require.Equal(t, loop.CallVerify, calls[0].Kind)
	require.NotNil(t, calls[0].Verify.Secrets)
	found := again.Record(w.now).Findings
	require.Len(t, found, 1)
	require.True(t, strings.HasPrefix(found[0].ID, "S"))
}
