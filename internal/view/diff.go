package view

import (
	"conclave/internal/record"
	"conclave/internal/report"
)

// kind says what an event is about. The zero kind is none.
type kind int

const (
	iterationBegan kind = iota + 1
	stepBegan
	// stepAgain is a further attempt after a lost worker.
	stepAgain
	// stepWaits is a step at work that waits for another try, perhaps for hours.
	stepWaits
	stepEnded
	noted
	waiting
)

// event is one new thing in a run.
type event struct {
	kind      kind
	iteration int
	of        int
	step      record.Step
	// text is a note's or a wait's words, or what an ended review objects to.
	text string
}

// seen is what was shown already.
type seen struct {
	steps     map[string]progress
	iteration int
	notes     map[string]bool
	waiting   string
}

// progress is how far a step was shown.
type progress struct {
	status   record.StepStatus
	attempts int
	// waits is what a step at work waits for.
	waits string
}

func nothing() seen { return seen{steps: map[string]progress{}, notes: map[string]bool{}} }

// diff returns what is new in run since s, in the order in which it reads
// well, and what is shown after it. It changes neither argument.
func diff(s seen, run record.Run) ([]event, seen) {
	next := s.clone()
	var events []event
	for _, step := range run.Steps {
		news := next.step(step, run.MaxIters)
		for i := range news {
			if news[i].kind == stepEnded && step.Verdict == "block" {
				news[i].text = report.Objection(run, step)
			}
		}
		events = append(events, news...)
	}
	for _, note := range run.Notes {
		if !next.notes[note] {
			next.notes[note] = true
			events = append(events, event{kind: noted, text: note})
		}
	}
	if run.Waiting != next.waiting {
		next.waiting = run.Waiting
		if run.Waiting != "" && run.Stop != record.StopInterrupted { // the outcome tells that it was interrupted
			events = append(events, event{kind: waiting, text: run.Waiting})
		}
	}
	return events, next
}

func (s seen) clone() seen {
	next := seen{steps: make(map[string]progress, len(s.steps)), iteration: s.iteration, notes: make(map[string]bool, len(s.notes)), waiting: s.waiting}
	for id, p := range s.steps {
		next.steps[id] = p
	}
	for note := range s.notes {
		next.notes[note] = true
	}
	return next
}

// step returns what is new about one step, and remembers it.
func (s *seen) step(step record.Step, of int) []event {
	before, known := s.steps[step.ID]
	now := progress{status: step.Status, attempts: max(step.Attempts, before.attempts)}
	if step.Status == record.Running {
		now.waits = step.Message
	}
	if known && now == before {
		return nil
	}
	s.steps[step.ID] = now
	var events []event
	if step.Iteration > s.iteration {
		s.iteration = step.Iteration
		events = append(events, event{kind: iterationBegan, iteration: step.Iteration, of: of})
	}
	switch {
	case step.Status == record.Running:
		return append(events, running(step, before, now)...)
	case known && before.status == step.Status:
		return events // only its number of attempts came late
	default:
		return append(events, event{kind: stepEnded, step: step})
	}
}

// running returns what is new about a step that runs; before is the zero value where it was not known.
func running(step record.Step, before, now progress) (events []event) {
	switch {
	case before.status != record.Running:
		events = append(events, event{kind: stepBegan, step: step})
	case now.attempts > max(before.attempts, 1):
		events = append(events, event{kind: stepAgain, step: step})
	}
	if now.waits != "" && now.waits != before.waits {
		events = append(events, event{kind: stepWaits, step: step, text: now.waits})
	}
	return events
}
