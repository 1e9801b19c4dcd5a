package convergence

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzCompile: no input panics; what compiles has a digest of its canonical
// form, bounds that make sense, and a first command.
func FuzzCompile(f *testing.F) {
	f.Add(altered(), false)
	f.Add([]byte(encode(define(full, writersOn("p1", "x"), quorum(1)))), true)
	for _, v := range readVectors(f)[:20] {
		f.Add([]byte(v.Definition), true)
	}
	f.Add([]byte(`{"id":"\ud800","nodes":[{}],"edges":[[]]}`), true)
	f.Fuzz(func(t *testing.T, raw []byte, live bool) {
		rules := V3
		if live {
			rules = V1
		}
		m, err := Compile(raw, rules)
		if err != nil {
			var problem *ValidationError
			require.ErrorAs(t, err, &problem)
			require.NotEmpty(t, problem.Issues)
			return
		}
		digest, err := Digest(raw)
		require.NoError(t, err)
		require.Equal(t, digest, m.DefinitionDigest())
		b := m.Bounds().Dispatches
		require.LessOrEqual(t, b.Min.Value, b.Max.Value)
		require.Positive(t, b.Min.Value)
		commands := m.Decide(m.Initial())
		require.Len(t, commands, 1)
		require.Equal(t, KindDispatch, commands[0].Kind)
		_, err = Compile(encode(m.Definition()), rules)
		require.NoError(t, err, "the definition does not survive its own JSON")
	})
}

// FuzzReduce: no event list panics or stops Decide from answering, and a state
// always survives its JSON. A list is read as JSON events; where that fails,
// the bytes become the payload of every type in turn.
func FuzzReduce(f *testing.F) {
	for _, v := range readVectors(f) {
		raw, err := json.Marshal(v.Events)
		require.NoError(f, err)
		f.Add(raw, uint8(0))
	}
	f.Add([]byte(encode(fullSeed(f))), uint8(1))
	f.Add([]byte(`{"nodeId":"gen","position":"convergence/1/gen/1"}`), uint8(2))
	machines := []*Machine{fuzzMachine(f, V3), fuzzMachine(f, V1, full), fuzzMachine(f, V1)}
	f.Fuzz(func(t *testing.T, raw []byte, which uint8) {
		m := machines[int(which)%len(machines)]
		events, err := ParseEvents(raw)
		if err != nil {
			for _, typ := range hostileTypes {
				events = append(events, Event{Type: typ, Version: 1, Payload: raw})
			}
		}
		s := m.Initial()
		for _, e := range events {
			s = m.Reduce(s, e)
			requireSane(t, m, s)
		}
		requireRoundTrip(t, s)
	})
}

func fuzzMachine(f *testing.F, rules Rules, edits ...edit) *Machine {
	m, err := Compile(encode(define(append(edits, limits(3, 2, 1))...)), rules)
	require.NoError(f, err)
	return m
}

// fullSeed is a list that goes through confirm, repair and recheck.
func fullSeed(f *testing.F) []Event {
	r := &run{t: &testing.T{}, m: fuzzMachine(f, V1, full)}
	r.s = r.m.Initial()
	r.draft("t1").start().says("A", blockWith(finding("F1", "high"))).says("B", pass).start().confirm("F1", true)
	r.start().fixed("t2", true, "F1", "fixed").verify("t2", true).start().says("A", rechecked("pass", "F1", "addressed")).says("B", pass)
	return r.start().final(pass).events
}
