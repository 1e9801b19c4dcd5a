package convergence

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseEvents(t *testing.T) {
	events, err := ParseEvents([]byte(`[{"type":"x","version":1,"payload":{"b":1,"a":2}},{"payload":null,"version":2,"type":"y"}]`))
	require.NoError(t, err)
	require.Equal(t, []Event{{Type: "x", Version: 1, Payload: []byte(`{"a":2,"b":1}`)}, {Type: "y", Version: 2, Payload: []byte("null")}}, events)

	for raw, want := range map[string][]string{
		`{`:  {"INVALID_JSON_VALUE /"},
		`{}`: {"INVALID_EVENT "},
		`[1,{"type":"","version":0,"extra":1},{"type":"x","version":1.5,"payload":{}}]`: {"INVALID_EVENT /0", "INVALID_EVENT /1/extra", "INVALID_EVENT /1/type", "INVALID_EVENT /1/version", "INVALID_EVENT /1/payload", "INVALID_EVENT /2/version"},
	} {
		_, err := ParseEvents([]byte(raw))
		var problem *ValidationError
		require.ErrorAs(t, err, &problem)
		if len(want) > 1 {
			var got []string
			for _, issue := range problem.Issues {
				got = append(got, issue.Code+" "+issue.Path)
			}
			require.Equal(t, want, got)
		}
	}
}

func TestNewEventPanicsOnWhatIsNoJSON(t *testing.T) {
	require.Panics(t, func() { NewEvent("x", make(chan int)) })
}

func TestEventsThatDoNotFitChangeNothing(t *testing.T) {
	r := newRun(t, V1).start()
	before := r.s
	for _, e := range []Event{
		{Type: EventCompleted, Version: 0, Payload: NewEvent("", fields{"nodeId": "gen", "position": "convergence/1/gen/1", "result": fields{"changed": true}}).Payload},
		{Type: EventCompleted, Version: 1, Payload: []byte(`{`)},
		{Type: EventCompleted, Version: 1, Payload: []byte(`[]`)},
		{Type: EventCompleted, Version: 1, Payload: []byte(`{"nodeId":"gen","position":"convergence/1/gen/1","position":"convergence/1/gen/1"}`)},
		{Type: EventCompleted, Version: 1, Payload: []byte(`{"NodeID":"gen","Position":"convergence/1/gen/1","result":{"changed":true}}`)},
		NewEvent(EventCompleted, fields{"nodeId": "gen", "position": "convergence/1/gen/2", "result": fields{"changed": true}}),
		NewEvent(EventCompleted, fields{"nodeId": "nobody", "position": "convergence/1/gen/1"}),
		NewEvent(EventResumed, fields{"nodeId": "gen", "position": "convergence/1/gen/1"}),
		NewEvent(EventDispatched, fields{"nodeId": "eval", "position": "convergence/1/eval/1"}),
		NewEvent(EventSeatWaived, fields{"seatId": "gen", "reason": "x"}),
		NewEvent("unheard-of", fields{}),
	} {
		require.Equal(t, before, r.m.Reduce(before, e), string(e.Payload))
	}
}

func TestANumberIsNoText(t *testing.T) {
	r := newRun(t, V1, func(d *Definition) { d.Nodes[0].ID = "5"; d.node("5").Lane = lane("w", "wp", "wf") }).start()
	before := r.s
	require.Equal(t, before, r.m.Reduce(before, NewEvent(EventCompleted, fields{"nodeId": 5, "position": "convergence/1/5/1", "result": fields{"changed": true}})))
	r.event(EventEngine, fields{"nodeId": "5", "position": "convergence/1/5/1", "sequence": 1, "effective": fields{"provider": 5, "modelFamily": true}})
	require.Equal(t, []string{"wp"}, r.s.WriterProviders, "what is no text is unknown")
}

func TestTheZeroStateNeverCompletes(t *testing.T) {
	m := newRun(t, V1).m
	require.Equal(t, "fail INVALID_STATE", describe(m.Decide(State{})))
	for _, phase := range []Phase{PhaseBody, PhaseReview, PhaseSettled} {
		require.NotContains(t, describe(m.Decide(State{Phase: phase})), KindComplete)
	}
}

// TestZeroValuesNeverAccept: no enum's zero value is the one that lets a run end.
func TestZeroValuesNeverAccept(t *testing.T) {
	require.NotEqual(t, OutcomeValid, *new(Outcome))
	require.NotEqual(t, VerdictPass, *new(Verdict))
	require.NotEqual(t, StatusPassed, *new(Status))
	require.NotEqual(t, PhaseReview, *new(Phase))
	require.True(t, stands(FindingState{}))
	require.NotEqual(t, Basic, *new(Discipline))
	require.NotEqual(t, WhenVerified, *new(ReviewWhen))
	require.Equal(t, kindAbsent, value{}.kind())
	require.False(t, value{}.isTrue())
}
