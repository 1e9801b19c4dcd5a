package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"

	"conclave/config"
	"conclave/internal/calibration"
	"conclave/internal/host"
	"conclave/internal/record"
	"conclave/internal/review"
)

// measured is what the seats said, and what that consumed.
type measured struct {
	answers []calibration.Answer
	usage   *record.Usage
	done    int
	lock    sync.Mutex
}

// measure lets every seat review every case, some at once. The first error that is no seat's ends it.
func (a *app) measure(ctx context.Context, p *plan, cases []labelled, jobs int, configFile string) (*measured, error) {
	seats := p.distinctSeats(a)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	m := &measured{answers: make([]calibration.Answer, len(seats)*len(cases))}
	slots := make(chan struct{}, jobs)
	var group sync.WaitGroup
	for i := range m.answers {
		seat, c := seats[i/len(cases)], cases[i%len(cases)]
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		group.Go(func() {
			defer func() { <-slots }()
			answer, usage, err := a.ask(ctx, p, seat, c, configFile)
			if err != nil {
				cancel(err)
				return
			}
			m.lock.Lock()
			defer m.lock.Unlock()
			m.answers[i], m.usage, m.done = answer, record.Sum(m.usage, usage), m.done+1
			a.say("%d of %d: %s · %s: %s", m.done, len(m.answers), c.Name, seat.Name, answerWords(answer))
		})
	}
	group.Wait()
	return m, context.Cause(ctx)
}

// distinctSeats leaves out a seat that asks the same engine under the same lens as an earlier one.
func (p *plan) distinctSeats(a *app) []config.Seat {
	var seats []config.Seat
	for _, s := range p.config.Seats {
		i := slices.IndexFunc(seats, func(known config.Seat) bool { return p.key(known.Lane, known.Lens) == p.key(s.Lane, s.Lens) })
		if i >= 0 {
			a.say("note: %s is measured as %s: the same engine under the same lens", s.Name, seats[i].Name)
			continue
		}
		seats = append(seats, s)
	}
	return seats
}

// ask lets one seat review one case as `starter review` does, and takes every trace of it out of the state folder.
func (a *app) ask(ctx context.Context, p *plan, seat config.Seat, c labelled, configFile string) (calibration.Answer, *record.Usage, error) {
	answer := calibration.Answer{Case: c.Name, Seat: seat.Name, Lens: seat.Lens, Engine: p.key(seat.Lane, seat.Lens).Engine}
	q := p.reviewOf(seat, c)
	if err := q.compile(ctx, nil); err != nil {
		return answer, nil, err
	}
	var err error
	if q.resolved, err = resolvePlan(q); err != nil {
		return answer, nil, err
	}
	run, err := a.carryOut(ctx, q, configFile)
	if err != nil {
		return answer, nil, err
	}
	takeIn(&answer, run)
	return answer, run.Usage, nil
}

// reviewOf is the plan of one review: the seat alone, in the basic discipline, with findings. Nothing is asked of a person.
func (p *plan) reviewOf(seat config.Seat, c labelled) *plan {
	seat.Skippable, seat.Substitutions, seat.EvidencePaths = false, nil, nil
	q := &plan{flags: p.flags, config: p.config, lenses: p.lenses, templates: p.templates, source: c.source, base: c.base, requirement: []byte(c.Requirement)}
	q.dirty = func() ([]string, error) { return nil, nil }
	q.gate = &gate{base: c.base, head: c.head, mergeBase: c.base, fresh: true, digest: hashed([]byte(c.Digest + seat.Name + rand.Text()))}
	conf := &q.config
	conf.Seats = []config.Seat{seat}
	conf.Discipline, conf.ReviewWhen, conf.RequireFindings, conf.RequireDiversity = "basic", "verified", true, false
	conf.Quorum, conf.SeatConcurrency, conf.Budget = 0, 0, config.Budget{}
	conf.VerifyCmd, conf.SetupCmd, conf.LintCmd = "", "", ""
	conf.Review.SizeLimit, conf.AllowProtected = 0, true
	conf.Review.AllowSecrets = []string{"**"} // a planted one is a fault to find, and no gate that keeps the seat from looking
	return q
}

// carryOut runs one review to its end. A review that waits, which none should, has no valid answer.
func (a *app) carryOut(ctx context.Context, q *plan, configFile string) (record.Run, error) {
	c, err := a.launch(ctx, q, configFile)
	if err != nil {
		return record.Run{}, err
	}
	defer c.discard(q.gate.digest)
	if err := c.work(c.share()); err != nil {
		return record.Run{}, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case err := <-c.lost:
			cancel(err)
		case <-ctx.Done():
		}
	}()
	end, err := host.Follow(ctx, c.conn.Client, c.entry.WorkflowID, false, func(host.Look) {})
	if err != nil {
		return record.Run{}, errors.Join(context.Cause(ctx), err)
	}
	return c.finalRecord(end), nil
}

// discard ends what is left of a review and takes it out of the state folder.
func (c *carriage) discard(digest string) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	_ = c.conn.TerminateWorkflow(ctx, c.entry.WorkflowID, "", "the calibration is over") // refused where it has ended
	c.close()
	if err := errors.Join(c.index.Forget(c.entry.RunID), c.index.ForgetGate(digest)); err != nil {
		c.app.say("warning: %v", err)
	}
}

// takeIn reads what the seat said out of the record of its review.
func takeIn(answer *calibration.Answer, run record.Run) {
	answer.Failed, answer.Lost = "the review ended without its turn: "+cmp.Or(run.Message, string(run.Stop)), true
	for _, s := range run.Steps { // the last attempt counts
		if s.Role != record.RoleReviewer {
			continue
		}
		answer.Failed, answer.Lost = "", unasked[s.Class]
		if s.Status != record.OK || s.Verdict == "" {
			answer.Failed = cmp.Or(s.Message, run.Message, string(s.Status))
		}
		answer.Lost = answer.Lost && answer.Failed != ""
		if r := s.Identity.Reported; r != nil {
			answer.Reported = r.Model
		}
	}
	for _, f := range run.Findings {
		var severity review.Severity
		_ = severity.UnmarshalText([]byte(f.Severity)) // an unknown word counts as high
		finding := calibration.Finding{Severity: severity, Title: f.Title}
		for _, place := range f.Evidence {
			finding.Places = append(finding.Places, review.Evidence{Path: place.Path, Line: place.Line, EndLine: place.EndLine})
		}
		answer.Findings = append(answer.Findings, finding)
	}
}

// unasked are the classes of turns in which no model could show what it is worth.
var unasked = map[record.Class]bool{
	record.ClassTransient: true, record.ClassQuota: true, record.ClassPermanent: true, record.ClassAborted: true,
}

func answerWords(a calibration.Answer) string {
	if a.Failed != "" {
		return "no valid answer: " + printable(a.Failed)
	}
	high := 0
	for _, f := range a.Findings {
		if f.Severity <= review.High {
			high++
		}
	}
	return fmt.Sprintf("%s, %d of them high", several(len(a.Findings), "finding"), high)
}
