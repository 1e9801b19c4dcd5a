package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/loop"
	"conclave/internal/record"
)

// typed answers a question with lines, and returns the ruling and the screen.
func typed(q record.Question, lines ...string) (loop.RulingRequest, outcome, string) {
	feed := make(chan string, len(lines))
	for _, line := range lines {
		feed <- line
	}
	close(feed)
	var screen bytes.Buffer
	p := &prompter{lines: feed, out: &screen}
	request, outcome := p.ruling(q)
	return request, outcome, screen.String()
}

func TestARulingIsTakenInPlace(t *testing.T) {
	finding := record.Question{Subject: "F1", Number: 1, Text: "sum.go:7: off by one: the last number is left out"}
	size := record.Question{Subject: "SIZE", Number: 1, Text: "501 changed lines"}
	cases := map[string]struct {
		question record.Question
		lines    []string
		want     loop.RulingRequest
		outcome  outcome
		says     string
	}{
		"stand":                     {finding, []string{"s", "the caller adds it"}, loop.RulingRequest{Finding: "F1", Decision: "stand", Reason: "the caller adds it"}, ruledOn, "sum.go:7: off by one"},
		"a whole word":              {finding, []string{"Fix", " it must not "}, loop.RulingRequest{Finding: "F1", Decision: "fix", Reason: "it must not"}, ruledOn, "F1 needs a ruling\n"},
		"abort":                     {finding, []string{"a", "no"}, loop.RulingRequest{Finding: "F1", Decision: "abort", Reason: "no"}, ruledOn, "s stand · f fix · a abort"},
		"a typing error asks again": {finding, []string{"x", "", "s", "why not"}, loop.RulingRequest{Finding: "F1", Decision: "stand", Reason: "why not"}, ruledOn, "q leave the run waiting"},
		"a reason is needed":        {finding, []string{"s", "", "  ", "because"}, loop.RulingRequest{Finding: "F1", Decision: "stand", Reason: "because"}, ruledOn, "why: why: why: "},
		"too long a reason":         {finding, []string{"s", strings.Repeat("x", 3000), "short"}, loop.RulingRequest{Finding: "F1", Decision: "stand", Reason: "short"}, ruledOn, "reason is longer than"},
		"none for our own question": {size, []string{"s", ""}, loop.RulingRequest{Finding: "SIZE", Decision: "stand"}, ruledOn, "501 changed lines"},
		"no fix for our own":        {size, []string{"f", "a", "too much"}, loop.RulingRequest{Finding: "SIZE", Decision: "abort", Reason: "too much"}, ruledOn, "s stand · a abort · q"},
		"quit":                      {finding, []string{"q"}, loop.RulingRequest{Finding: "F1"}, leaves, ""},
		"the end of input":          {finding, nil, loop.RulingRequest{Finding: "F1"}, leaves, ""},
		"the end before the reason": {finding, []string{"s"}, loop.RulingRequest{Finding: "F1", Decision: "stand"}, leaves, ""},
		"asked again":               {record.Question{Subject: "F1", Number: 2}, []string{"q"}, loop.RulingRequest{Finding: "F1"}, leaves, "F1 needs a ruling, for the 2nd time"},
		"an agent's text":           {record.Question{Subject: "F1", Number: 1, Text: "a\x1b[2Jb\r\nyour ruling: s"}, []string{"q"}, loop.RulingRequest{Finding: "F1"}, leaves, "  ab your ruling: s\n"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, outcome, screen := typed(c.question, c.lines...)
			require.Equal(t, c.outcome, outcome, screen)
			require.Equal(t, c.want, got)
			require.Contains(t, screen, c.says)
			require.NotContains(t, screen, "\x1b")
		})
	}
}

func TestAQuestionThatIsAnsweredElsewhereIsNotAskedOn(t *testing.T) {
	gone := make(chan struct{})
	close(gone)
	p := &prompter{lines: make(chan string), out: &bytes.Buffer{}, gone: gone}
	_, outcome := p.ruling(record.Question{Subject: "F1", Number: 1})
	require.Equal(t, answeredMeanwhile, outcome)
	stop := make(chan struct{})
	close(stop)
	p = &prompter{lines: make(chan string), out: &bytes.Buffer{}, stop: stop}
	_, outcome = p.ruling(record.Question{Subject: "F1", Number: 1})
	require.Equal(t, leaves, outcome, "Ctrl-C leaves the run waiting")
}

func TestNobodyIsAskedWhoCannotAnswer(t *testing.T) {
	yes := true
	a := &app{in: strings.NewReader(""), asks: &yes}
	require.True(t, a.interactive(output{}))
	require.False(t, a.interactive(output{flags: showFlags{json: true}}))
	require.False(t, a.interactive(output{flags: showFlags{quiet: true}}))
	require.False(t, (&app{in: strings.NewReader("s\n")}).interactive(output{}), "a pipe is nobody")
}

func TestAQuestionIsBrokenBetweenWords(t *testing.T) {
	for name, c := range map[string]struct {
		width int
		want  string
	}{
		"no width": {0, "  one reviewer's pass"},
		"narrow":   {12, "  one\n  reviewer's\n  pass"},
		"too long": {6, "  one\n  revi\n  ewer\n  's\n  pass"},
		"absurd":   {4, "  one reviewer's pass"},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, indented("one reviewer's pass", c.width)) })
	}
}
