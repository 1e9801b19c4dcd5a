package agent

import (
	"fmt"
	"regexp"
	"time"

	"conclave/internal/record"
)

// Failure is a pattern of the user's configuration (agents.<name>.failures): programs change their words with every
// version, and a table of ours knows only those that it was made from.
type Failure struct {
	Class   Class
	Pattern *regexp.Regexp
}

// NewFailure checks a class and a pattern. Case is ignored, as in our own tables.
func NewFailure(class, pattern string) (Failure, error) {
	switch c := Class(class); c {
	case record.ClassTransient, record.ClassQuota, record.ClassPermanent:
	default:
		return Failure{}, fmt.Errorf("unknown class %q: a failure is %s, %s or %s", class, record.ClassTransient, record.ClassQuota, record.ClassPermanent)
	}
	compiled, err := regexp.Compile(`(?i)` + pattern)
	if err != nil {
		return Failure{}, fmt.Errorf("the pattern %q cannot be read: %w", pattern, err)
	}
	if compiled.MatchString("") {
		return Failure{}, fmt.Errorf("the pattern %q fits every text", pattern)
	}
	return Failure{Class(class), compiled}, nil
}

// classified is an adapter whose failures the user's patterns classify first.
type classified struct {
	Adapter
	failures []Failure
}

// Parser implements Adapter.
func (c classified) Parser(t TurnSpec) Parser {
	return &classifiedParser{Parser: c.Adapter.Parser(t), failures: c.failures}
}

type classifiedParser struct {
	Parser
	failures []Failure
	// last is the newest error of the stream.
	last string
}

// Line implements Parser.
func (p *classifiedParser) Line(line []byte) []Event {
	events := p.Parser.Line(line)
	for _, e := range events {
		if e.Kind == EventError && e.Text != "" {
			p.last = e.Text
		}
	}
	return events
}

// Outcome implements Parser. The patterns are looked for where ours are: in error events, in a result that is an error,
// and on standard error. A turn that ended well is none of their business, and neither is an end that we caused.
func (p *classifiedParser) Outcome(end ProcessEnd) Outcome {
	o := p.Parser.Outcome(end)
	if _, ours := oursFirst(end, "", ""); ours {
		return o
	}
	switch o.Class {
	case record.ClassMalformed, record.ClassTransient, record.ClassQuota, record.ClassPermanent:
	default:
		return o
	}
	for _, text := range []string{p.last, o.Message, end.Stderr} {
		for _, f := range p.failures {
			if text == "" || !f.Pattern.MatchString(text) {
				continue
			}
			found := failure{class: f.Class, text: text}
			if f.Class != record.ClassPermanent {
				found.retryAfter = resetIn(text, time.Now())
			}
			found.text = firstText(o.Message, lastLines(text, 600))
			found.apply(&o)
			return o
		}
	}
	return o
}
