package convergence

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// side is what a scenario shows with a field off and on.
type side struct {
	base Rules // the rule set whose field is flipped
	play func(t *testing.T, rules Rules) string
	off  string
	on   string
}

func compileWords(rules Rules, edits ...edit) string {
	_, err := Compile(encode(define(edits...)), rules)
	if err == nil {
		return "compiles"
	}
	var invalid *ValidationError
	if !errors.As(err, &invalid) {
		return err.Error()
	}
	var codes []string
	for _, issue := range invalid.Issues {
		codes = append(codes, issue.Code)
	}
	return strings.Join(codes, " ")
}

// plainDraft is a first draft whose generator says nothing of trees.
func plainDraft(r *run) *run {
	r.start().done("gen", fields{"changed": true})
	return r.verify("t1", true)
}

// sides has one entry for every field of Rules but Name.
var sides = map[string]side{
	"ReadExtensions": {base: V3, off: "compiles", on: "INVALID_DISCIPLINE", play: func(t *testing.T, rules Rules) string {
		return compileWords(rules, func(d *Definition) { d.Data.Discipline = "none" })
	}},
	"DemoteWriterLanes": {base: V1, off: "SELF_REVIEW_LANE SELF_REVIEW_LANE", on: "compiles", play: func(t *testing.T, rules Rules) string {
		return compileWords(rules, quorum(1), writersOn("p1", "wf"))
	}},
	"RefuseUnreachable": {base: V1, off: "compiles", on: "UNREACHABLE_DIVERSITY", play: func(t *testing.T, rules Rules) string {
		return compileWords(rules, func(d *Definition) {
			d.Data.RequireDiversity = true
			d.node("B").Lane = lane("B", "p1", "f2")
		})
	}},
	"DecidedDispatchOnly": {base: V3, off: "", on: "dispatch convergence/1/gen/1", play: func(t *testing.T, rules Rules) string {
		return newRun(t, rules).event(EventDispatched, fields{"nodeId": "A", "position": "nowhere/1"}).now()
	}},
	"KeepPauseOnDispatch": {base: V3, off: "dispatch convergence/1/eval/1", on: "pause", play: func(t *testing.T, rules Rules) string {
		r := newRun(t, rules).event(EventLimit, fields{"reason": "x"})
		r.event(EventDispatched, fields{"nodeId": "gen", "position": "convergence/1/gen/1"})
		return r.done("gen", fields{}).now()
	}},
	"RepairIsDraft": {base: V1, off: "dispatch convergence/2/gen/2", on: "dispatch convergence/2/eval/2", play: func(t *testing.T, rules Rules) string {
		return plainDraft(newRun(t, rules)).start().says("A", block("F1")).says("B", pass).repaired("t2").now()
	}},
	"RepairFailedGate": {base: V1, off: "dispatch convergence/2/gen/2", on: "dispatch convergence/repair/1/1", play: func(t *testing.T, rules Rules) string {
		r := newRun(t, rules).start().done("gen", fields{"changed": true})
		return r.verify("t1", false).now()
	}},
	"WritersReportTree": {base: V1, off: "dispatch convergence/1/eval/1", on: "fail NO_CHANGE", play: func(t *testing.T, rules Rules) string {
		return newRun(t, rules).start().done("gen", fields{}).now()
	}},
	"RetryPerRound": {base: V1, off: "fail SEAT_UNRESOLVED", on: "dispatch review/2/A/3", play: func(t *testing.T, rules Rules) string {
		r := plainDraft(newRun(t, rules, limits(2, 1, 1))).start().says("A", block("F1")).says("B", pass)
		return r.repaired("t2").verify("t2", true).start().failed("A", "TIMEOUT").says("B", pass).now()
	}},
	"WriterFailureEnds": {base: V1, off: "dispatch convergence/1/gen/2", on: "fail CONVERGENCE_NODE_FAILED", play: func(t *testing.T, rules Rules) string {
		return newRun(t, rules, limits(2, 1, 1)).start().failed("gen", "TIMEOUT").now()
	}},
	"RepairTakesIteration": {base: V1, off: "dispatch convergence/repair/1/1", on: "fail CONVERGENCE_EXHAUSTED", play: func(t *testing.T, rules Rules) string {
		return plainDraft(newRun(t, rules, limits(1, 1, 0))).start().says("A", block("F1")).says("B", pass).now()
	}},
	"ReserveWords": {base: V1, off: "compiles", on: "RESERVED_ID", play: func(t *testing.T, rules Rules) string {
		return compileWords(rules, func(d *Definition) { d.Nodes[3].ID = "final" })
	}},
	"CapEveryAsk": {base: V1, off: "dispatch review/1/A/2", on: "fail SEAT_UNRESOLVED", play: func(t *testing.T, rules Rules) string {
		r := plainDraft(newRun(t, rules)).start().says("A", pass).says("B", pass)
		return r.event(EventInvalidated, fields{"seatId": "A", "reason": "x"}).now()
	}},
	"ReaskUntrusted": {base: V3, off: "fail QUORUM_UNREACHABLE", on: "dispatch review/1/A/2", play: func(t *testing.T, rules Rules) string {
		r := plainDraft(newRun(t, rules, limits(2, 1, 1))).start()
		return r.says("A", with(block("F1"), fields{"workspaceFingerprint": "t0"})).says("B", pass).now()
	}},
	"ConsistentAnswers": {base: V1, off: "fail QUORUM_UNREACHABLE", on: "fail SEAT_UNRESOLVED", play: func(t *testing.T, rules Rules) string {
		return plainDraft(newRun(t, rules)).start().says("A", block()).says("B", pass).now()
	}},
	"VerdictOnly": {base: V3, off: "pause", on: "complete", play: func(t *testing.T, rules Rules) string {
		return plainDraft(newRun(t, rules)).start().says("A", fields{"verdict": "pass"}).says("B", pass).now()
	}},
	"ForgetOnReask": {base: V3, off: "fail CONVERGENCE_EXHAUSTED", on: "pause", play: func(t *testing.T, rules Rules) string {
		r := plainDraft(newRun(t, rules)).start().says("A", block("F1")).says("B", pass)
		r.start().done("rep", fields{}).start().done("gen", fields{})
		return r.verify("t1", true).start().failed("A", "TIMEOUT").now()
	}},
	"FingerprintBinds": {base: V3, off: "dispatch review/2/A/2", on: "dispatch review/2/A/2, dispatch review/2/B/2", play: func(t *testing.T, rules Rules) string {
		r := plainDraft(newRun(t, rules)).start().says("A", block("F1")).says("B", pass)
		r.start().done("rep", fields{}).start().done("gen", fields{})
		return r.start().done("eval", with(evidenceOf("t1"), fields{"gateMet": true, "workspaceFingerprint": "t2"})).now()
	}},
	"DemandWatchedKeys": {base: V1, off: "dispatch review/1/A/1, dispatch review/1/B/1", on: "fail CONVERGENCE_REVIEW_EVIDENCE_INVALID", play: func(t *testing.T, rules Rules) string {
		return plainDraft(newRun(t, rules, func(d *Definition) { d.node("A").EvidencePaths = []string{"docs/**"} })).now()
	}},
	"CountReturns": {base: V3, off: "fail FINDING_ESCALATED", on: "dispatch convergence/repair/1/1", play: func(t *testing.T, rules Rules) string {
		return plainDraft(newRun(t, rules)).start().says("A", block("F1", "F1", "F1")).says("B", pass).now()
	}},
	"EscalateAt": {base: V3, off: "dispatch convergence/repair/1/1", on: "fail FINDING_ESCALATED", play: func(t *testing.T, rules Rules) string {
		return plainDraft(newRun(t, rules)).start().says("A", block("F1", "F1", "F1")).says("B", pass).now()
	}},
	"BlockBeforeQuorum": {base: V1, off: "complete", on: "dispatch convergence/repair/1/1", play: func(t *testing.T, rules Rules) string {
		return plainDraft(newRun(t, rules, quorum(1))).start().says("A", block("F1")).says("B", pass).now()
	}},
	"MissingSeatStops": {base: V1, off: "complete", on: "fail SEAT_UNRESOLVED", play: func(t *testing.T, rules Rules) string {
		return plainDraft(newRun(t, rules, quorum(1))).start().failed("A", "TIMEOUT").says("B", pass).now()
	}},
	"UnavailableIsMissing": {base: V1, off: "pause engine-unavailable", on: "fail SEAT_UNRESOLVED", play: func(t *testing.T, rules Rules) string {
		return plainDraft(newRun(t, rules)).start().failed("A", FailEngineUnavailable).says("B", pass).now()
	}},
	"WaiverLowersQuorum": {base: V1, off: "fail QUORUM_UNREACHABLE", on: "complete", play: func(t *testing.T, rules Rules) string {
		r := plainDraft(newRun(t, rules)).start().failed("A", "TIMEOUT").says("B", pass)
		return r.event(EventSeatWaived, fields{"seatId": "A", "reason": "its engine is down for the week"}).now()
	}},
	"Resumable": {base: V1, off: "pause interrupted", on: "dispatch convergence/1/gen/2", play: func(t *testing.T, rules Rules) string {
		return newRun(t, rules).start().failed("gen", FailAborted).event(EventRunResumed, fields{}).now()
	}},
	"SpokenCommands": {base: V3,
		off: `{"positionSummary":"repair round 1","findings":[{"id":"F1","kind":"patch","evidence":"ev F1"}]}`,
		on:  `{"positionSummary":"repair round 1","findings":[{"id":"F1","kind":"patch","evidence":"ev F1","seat":"A","severity":"high"}],"gateMet":true}`,
		play: func(t *testing.T, rules Rules) string {
			return string(plainDraft(newRun(t, rules)).start().says("A", block("F1")).says("B", pass).command().Input)
		}},
	"BoundPerIteration": {base: V1, off: "11", on: "8", play: func(t *testing.T, rules Rules) string {
		return itoa(newRun(t, rules).m.Bounds().Dispatches.Max.Value)
	}},
}

func TestEachRuleShowsBothSides(t *testing.T) {
	names := reflect.TypeFor[Rules]()
	for i := range names.NumField() {
		name := names.Field(i).Name
		if name == "Name" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			s, ok := sides[name]
			require.True(t, ok, "no scenario for the rule %s", name)
			require.NotEqual(t, s.off, s.on)
			require.Equal(t, s.off, s.play(t, setRule(s.base, name, false)), "off")
			require.Equal(t, s.on, s.play(t, setRule(s.base, name, true)), "on")
		})
	}
	require.Len(t, sides, names.NumField()-1, "a scenario for a rule that is gone")
}

// setRule flips one field; a number is switched between 0 and 3.
func setRule(r Rules, name string, on bool) Rules {
	field := reflect.ValueOf(&r).Elem().FieldByName(name)
	switch {
	case field.Kind() == reflect.Bool:
		field.SetBool(on)
	case on:
		field.SetInt(3)
	default:
		field.SetInt(0)
	}
	return r
}

func TestRuleSetsAreFoundByName(t *testing.T) {
	for _, want := range []Rules{V1, V3} {
		got, err := RulesByName(want.Name)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := RulesByName("conclave/v2")
	require.ErrorContains(t, err, "conclave/v1")
	_, err = Compile(encode(define()), Rules{})
	require.ErrorContains(t, err, "no name")
}

func TestEveryRuleDiffersBetweenTheRuleSets(t *testing.T) {
	v1, v3 := reflect.ValueOf(V1), reflect.ValueOf(V3)
	for i := range v1.NumField() {
		require.NotEqual(t, v3.Field(i).Interface(), v1.Field(i).Interface(), v1.Type().Field(i).Name)
	}
}

func TestEachRuleIsConsultedInOnePlace(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var code strings.Builder
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			code.Write(raw)
		}
	}
	for name := range sides {
		uses := regexp.MustCompile(`rules\.`+name+`\b`).FindAllString(code.String(), -1)
		require.Len(t, uses, 1, name)
	}
}
