package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/calibration"
)

// ourCases are the labelled changes of this repository.
const ourCases = "../calibration/cases"

// measured is what the test reads of calibrate --json.
type measured struct {
	Cases []calibration.Case `json:"cases"`
	Seats []struct {
		calibration.Score
		Precision  *float64 `json:"precision"`
		Recall     *float64 `json:"recall"`
		Calibrated bool     `json:"calibrated"`
		Lacks      string   `json:"lacks"`
	} `json:"seats"`
	Lenses, Models []struct {
		calibration.Group
		Precision *float64 `json:"precision"`
		Recall    *float64 `json:"recall"`
	}
	Kept string `json:"kept"`
}

// Words of the requirements, by which the scripts tell the cases apart.
const (
	pages    = "page.Slice"
	builds   = "weekly report"
	tickets  = "attachments of a ticket"
	settings = "settings.Save"
	renaming = "Registering and renaming"
)

func finds(seat, word string, findings ...any) step {
	return step{Role: "review", Seat: seat, Contains: word, Review: object{"findings": findings}}
}

func at(place string) object { return object{"title": "it breaks", "at": place} }

// quality is a script of five seats of known quality over our eight cases.
//
//	seat   lens         raises                                               right  expected of its lens       found
//	sharp  correctness  3 planted faults                                      3/3   off by one, zero, error    3/3
//	noisy  correctness  2 planted faults, one false alarm in each of 2 cases  2/4   the same                   2/3
//	guard  security     its fault, and the off-by-one of another lens         2/2   path traversal             1/1
//	blind  tests        nothing, and a low remark in the clean case           0/0   test that asserts nothing  0/1
//	mute   contract     no valid answer to any case                           0/0   unmet criterion            0/1
func quality() []step {
	low := object{"severity": "low", "title": "a name could be better", "at": "members/members.go:20"}
	return []step{
		finds("sharp", pages, at("page/page.go:19")), finds("sharp", builds, at("ci_report/report.py:30")), finds("sharp", settings, at("settings/settings.go:38")),
		finds("noisy", pages, at("page/page.go:16")), finds("noisy", builds, at("ci_report/report.py:24")),
		finds("noisy", tickets, at("src/server.ts:3")), finds("noisy", renaming, at("members/members.go:53")),
		finds("guard", tickets, at("src/attachments.ts:21")), finds("guard", pages, at("page/page.go:20")),
		finds("blind", renaming, low),
		{Role: "review", Seat: "mute", Say: "Looks fine to me."},
		{Role: "review", Review: object{}},
	}
}

// TestCalibrationReportsTheKnownQuality: precision and recall per seat, lens and model are those of the table above.
func TestCalibrationReportsTheKnownQuality(t *testing.T) {
	t.Parallel()
	l := newLab(t, quality())
	cases, err := filepath.Abs(ourCases)
	require.NoError(t, err)
	args := []string{"calibrate", "--json", "--config", l.configure(second), "--seat", "sharp=codex@correctness", "--seat", "noisy=bolt@correctness",
		"--seat", "guard=bolt@security", "--seat", "blind=codex@tests", "--seat", "mute=codex@contract", cases}
	out := l.starter(args...)
	require.Equal(t, 1, out.code, "not every seat reaches the thresholds: "+out.String())
	var got measured
	require.NoError(t, json.Unmarshal([]byte(out.stdout), &got), out.String())
	require.Len(t, got.Cases, 8)

	want := []struct {
		seat              string
		counts            calibration.Counts
		precision, recall float64 // -1: nothing to measure
		calibrated        bool
		lacks             string
	}{
		{"sharp", calibration.Counts{Cases: 8, Expected: 3, Found: 3, Raised: 3, Correct: 3}, 1, 1, true, ""},
		{"noisy", calibration.Counts{Cases: 8, Expected: 3, Found: 2, Raised: 4, Correct: 2}, 0.5, 2.0 / 3, false, "recall 0.67 is below 0.70"},
		{"guard", calibration.Counts{Cases: 8, Expected: 1, Found: 1, Raised: 2, Correct: 2}, 1, 1, true, ""},
		{"blind", calibration.Counts{Cases: 8, Expected: 1}, -1, 0, false, "recall 0.00 is below 0.70"},
		{"mute", calibration.Counts{Cases: 8, Failed: 8, Expected: 1}, -1, 0, false, "no valid answer to 8 of 8 cases"},
	}
	require.Len(t, got.Seats, len(want))
	for i, w := range want {
		s := got.Seats[i]
		require.Equal(t, w.seat, s.Seat)
		require.Equal(t, w.counts, s.Counts, "%s: %+v", w.seat, s.Score)
		requireShare(t, w.precision, s.Precision, w.seat)
		requireShare(t, w.recall, s.Recall, w.seat)
		require.Equal(t, w.calibrated, s.Calibrated, w.seat)
		require.Equal(t, w.lacks, s.Lacks, w.seat)
	}
	require.Equal(t, []string{"missing-error-check-go: settings/settings.go:34-42"}, got.Seats[1].Missed)
	require.Equal(t, []string{"clean-refactoring-go: members/members.go:53 it breaks", "path-traversal-typescript: src/server.ts:3 it breaks"}, got.Seats[1].False)
	require.Contains(t, got.Seats[4].Unanswered[0], "broken-rule-go: ")

	requireGroups := func(groups []struct {
		calibration.Group
		Precision *float64 `json:"precision"`
		Recall    *float64 `json:"recall"`
	}, want map[string][2]float64) {
		require.Len(t, groups, len(want))
		for _, g := range groups {
			requireShare(t, want[g.Name][0], g.Precision, g.Name)
			requireShare(t, want[g.Name][1], g.Recall, g.Name)
		}
	}
	requireGroups(got.Lenses, map[string][2]float64{"correctness": {5.0 / 7, 5.0 / 6}, "security": {1, 1}, "tests": {-1, 0}, "contract": {-1, 0}})
	models := map[string][2]float64{}
	for _, g := range got.Models { // what codex reports is the script's to say
		if strings.HasPrefix(g.Name, "codex:") {
			models[g.Name] = [2]float64{1, 3.0 / 5}
		}
	}
	models["bolt:m1"] = [2]float64{4.0 / 6, 3.0 / 4}
	requireGroups(got.Models, models)

	require.Empty(t, l.listed(), "no review is left in the list of runs")
	left, _ := os.ReadDir(filepath.Join(l.state, "gates"))
	require.Empty(t, left)
	l.onlyMeasuredSeatsGate(args[3])
}

// A planted key is a fault like any other: it closes the gate of a run, and keeps no seat from being measured.
func TestACaseWithAPlantedSecretIsReviewed(t *testing.T) {
	t.Parallel()
	l := newLab(t, []step{finds("guard", "Deploy", at("deploy.env:2")), {Role: "review", Review: object{}}})
	l.write("planted/case.yaml", "name: planted\nrequirement: Deploy it.\nhead: head\nexpect:\n  - {path: deploy.env, lines: 2, lens: security}\n")
	l.write("planted/base/deploy.env", "NAME=x\n")
	l.write("planted/head/deploy.env", "NAME=x\nGH="+token()+"\n")
	out := l.starter("calibrate", "--json", "--seat", "guard=codex@security", "planted")
	require.Equal(t, 0, out.code, out.String())
	var got measured
	require.NoError(t, json.Unmarshal([]byte(out.stdout), &got), out.String())
	require.Equal(t, calibration.Counts{Cases: 1, Expected: 1, Found: 1, Raised: 1, Correct: 1}, got.Seats[0].Counts)
}

// onlyMeasuredSeatsGate: the measurement holds for its engine, its lens and the words of its prompts.
func (l *lab) onlyMeasuredSeatsGate(configuration string) {
	t := l.t
	l.play(append(repaired()[:1], step{Role: "review", Review: clean()}))
	gating := func(more ...string) done {
		return l.starter(append(append([]string{"run", "--json", "--no-progress", "--discipline", "full", "--config", configuration}, more...), "Add Sum")...)
	}
	out := gating("--seat", "one=codex@correctness", "--seat", "two=bolt@security")
	require.Equal(t, 0, out.code, out.String())
	run := decodeRun(t, out.stdout)
	require.Empty(t, run.Uncalibrated)

	for seat, why := range map[string]string{
		"one=bolt@correctness": "recall 0.67 is below 0.70", "one=codex@tests": "recall 0.00 is below 0.70", "one=codex@contract": "no valid answer to 8 of 8 cases",
		"one=codex@security": "never measured", "one=codex:gpt-9@correctness": "never measured",
	} {
		out = gating("--seat", seat)
		require.Equal(t, 2, out.code, out.String())
		require.Contains(t, out.stderr, "one ("+why+")", seat)
		require.Contains(t, out.stderr, "--trust-reviewers")
		require.Contains(t, out.stderr, "--advisory")
	}

	l.write("correctness.md", "Look for wrong results.\n")
	l.write("conclave.yaml", "lenses: {correctness: correctness.md}\n")
	l.git("add", ".")
	l.git("commit", "-qm", "a lens of our own")
	out = gating("--seat", "one=codex@correctness")
	require.Equal(t, 2, out.code, out.String())
	require.Contains(t, out.stderr, "one (its lens or a prompt has changed since it was measured)")

	out = l.starter("doctor", "--config", configuration)
	require.Contains(t, out.stdout, "codex@correctness")
}

// TestAnInterruptedCalibrationLeavesNothing: its agents are gone, no review waits to be resumed, nothing is kept.
func TestAnInterruptedCalibrationLeavesNothing(t *testing.T) {
	t.Parallel()
	l := newLab(t, []step{{Role: "review", Hang: true}})
	cases, err := filepath.Abs(ourCases)
	require.NoError(t, err)
	cmd := l.command("starter", "calibrate", "--jobs", "2", "--reviewer", "codex", cases)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	require.NoError(t, cmd.Start())
	eventually(t, patience, func() bool { return l.started("review") == 2 })
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	require.Error(t, cmd.Wait())
	require.Equal(t, 130, cmd.ProcessState.ExitCode(), output.String())
	l.noAgentLeft()
	require.Empty(t, l.listed())
	require.NoFileExists(t, filepath.Join(l.state, "calibration.json"))
	require.Equal(t, 2, l.started("review"), "no further review was started")
}

func requireShare(t *testing.T, want float64, got *float64, what string) {
	t.Helper()
	if want < 0 {
		require.Nil(t, got, what)
		return
	}
	require.NotNil(t, got, what)
	require.InDelta(t, want, *got, 1e-9, what)
}

// listed are the ids of all runs that the state folder knows.
func (l *lab) listed() []string {
	out := l.starter("runs", "--json")
	require.Equal(l.t, 0, out.code, out.String())
	var list struct {
		Runs []struct {
			RunID string `json:"run_id"`
		} `json:"runs"`
	}
	require.NoError(l.t, json.Unmarshal([]byte(out.stdout), &list))
	var ids []string
	for _, r := range list.Runs {
		ids = append(ids, r.RunID)
	}
	return ids
}
