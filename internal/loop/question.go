package loop

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"conclave/internal/convergence"
	"conclave/internal/record"
)

// Desk is what a run remembers of its questions and of the time it waited for people.
type Desk struct {
	// Asked counts how often each subject was asked.
	Asked map[string]int `json:"asked,omitempty"`
	// Kept are rulings that came before their question, at most one for each finding.
	Kept []kept `json:"kept,omitempty"`
	// Lines and Protected describe the change as it is; SizeRuled and
	// ProtectedRuled what a person let stand.
	Lines          int    `json:"lines,omitempty"`
	Protected      string `json:"protected,omitempty"`
	SizeRuled      int    `json:"size_ruled,omitempty"`
	ProtectedRuled string `json:"protected_ruled,omitempty"`
	// Facts says for SIZE, PROTECTED and BUDGET what is asked about.
	Facts map[string]string `json:"facts,omitempty"`
	// Extended counts how often the budget was given once more.
	Extended int `json:"extended,omitempty"`
	// Waited is how long the run waited for people; Since is set while it does.
	Waited time.Duration `json:"waited,omitempty"`
	Since  time.Time     `json:"since,omitzero"`
	// Remind is when the next reminder is due.
	Remind time.Time `json:"remind,omitzero"`
}

// textLimit bounds the text of a question, in bytes.
const textLimit = 1000

// pathLimit bounds one path in it: every reason has at least one.
const pathLimit = 80

// detailLimit bounds what is said of one path beside its rule: the names of tests.
const detailLimit = 60

// askAfterChange raises the questions that a writer's change poses.
func (p *Progress) askAfterChange(_ Call, result TurnResult) {
	if result.Scan != nil {
		p.askAbout(*result.Scan)
	}
}

// askAbout raises the questions that a change poses before money is spent on
// reviewing it: its size, again only once it has more than doubled; protected
// paths, again for every other change of them.
func (p *Progress) askAbout(scan Scan) {
	policy := p.in.Policy
	p.Desk.Lines, p.Desk.Protected = scan.Lines, scan.ProtectedDigest
	p.Run.ChangedLines, p.Run.Exempt = scan.Lines, scan.Exempt
	if !policy.Ask {
		return
	}
	if policy.SizeLimit > 0 && scan.Lines > policy.SizeLimit && (p.Desk.SizeRuled == 0 || scan.Lines > 2*p.Desk.SizeRuled) {
		p.pose(convergence.SubjectSize, sizeText(scan, policy.SizeLimit))
	}
	if scan.ProtectedDigest != "" && !policy.AllowProtected && scan.ProtectedDigest != p.Desk.ProtectedRuled {
		p.pose(convergence.SubjectProtected, protectedText(scan))
	}
}

func (p *Progress) pose(subject, text string) {
	if p.Desk.Facts == nil {
		p.Desk.Facts = map[string]string{}
	}
	p.Desk.Facts[subject] = shorten(text, textLimit)
	p.event(convergence.EventQuestion, map[string]any{"subject": subject})
}

func sizeText(scan Scan, limit int) string {
	text := fmt.Sprintf("%d changed lines, more than %d: one reviewer's pass over that much is not to be trusted alone. stand: review it as it is; abort: end the run", scan.Lines, limit)
	if len(scan.Exempt) > 0 {
		text += "; not counted: " + strings.Join(scan.Exempt, ", ")
	}
	return text
}

// words name a protected change: where, under which rule, and which test or what else of the file it is.
func (g Guarded) words() string {
	if g.Detail == "" {
		return fmt.Sprintf("%s (%s)", shorten(g.Path, pathLimit), g.Why)
	}
	return fmt.Sprintf("%s (%s: %s)", shorten(g.Path, pathLimit), g.Why, shorten(g.Detail, detailLimit))
}

// protectedText names what was changed in turns of reasons, so that many changes
// of one kind hide none of another.
func protectedText(scan Scan) string {
	var turns [][]string
	seen := map[string]int{}
	for _, g := range scan.Protected {
		turn := seen[g.Why]
		if seen[g.Why]++; turn == len(turns) {
			turns = append(turns, nil)
		}
		turns[turn] = append(turns[turn], g.words())
	}
	text, left := "protected paths changed (stand: let them change; abort: end the run): ", len(scan.Protected)
	for i, change := range slices.Concat(turns...) {
		if i > 0 {
			change = ", " + change
		}
		if len(text)+len(change) > textLimit-len(", and 999999 more") {
			break
		}
		text, left = text+change, left-1
	}
	if left > 0 {
		text += fmt.Sprintf(", and %d more", left)
	}
	return text
}

// ask waits for rulings. What was ruled ahead is applied at once.
func (p *Progress) ask(command convergence.Command, now time.Time) []Call {
	p.number(command.Subjects, now)
	if p.applyKept(now) {
		return p.Next(now)
	}
	reason := "a ruling on " + subjects(p.Run.Questions)
	if p.Run.Reminders > 0 {
		reason += " (reminded " + plural(p.Run.Reminders, "time") + ")"
	}
	calls := p.wait(reason)
	if !p.Interrupted && p.questionOn(convergence.SubjectBudget) >= 0 {
		p.Run.Stop, p.Run.ExitCode = record.Budget, record.Budget.ExitCode()
	}
	return calls
}

// number makes the record's questions those that are asked, and numbers new ones.
func (p *Progress) number(asked []string, now time.Time) {
	p.Run.Questions = slices.DeleteFunc(p.Run.Questions, func(q record.Question) bool { return !slices.Contains(asked, q.Subject) })
	for _, subject := range asked {
		if p.questionOn(subject) >= 0 {
			continue
		}
		if p.Desk.Asked == nil {
			p.Desk.Asked = map[string]int{}
		}
		p.Desk.Asked[subject]++
		p.Run.Questions = append(p.Run.Questions, record.Question{
			Subject: subject, Number: p.Desk.Asked[subject], Text: p.questionText(subject),
			Since: now.UTC().Format(time.RFC3339), Head: p.head(),
		})
	}
}

// questionText says what a person is asked: the finding's claim and place, or our own question.
func (p *Progress) questionText(subject string) string {
	if isHostSubject(subject) {
		return p.Desk.Facts[subject]
	}
	for _, f := range p.dispositions() {
		if f.ID != subject {
			continue
		}
		text := f.Title
		if f.Claim != "" && f.Claim != f.Title {
			text += ": " + f.Claim
		}
		if len(f.Evidence) > 0 {
			text = fmt.Sprintf("%s:%d: %s", f.Evidence[0].Path, f.Evidence[0].Line, text)
		}
		return shorten(text, textLimit)
	}
	return ""
}

// applyKept answers what is asked with the rulings that came before, and
// reports whether there was one. What does not fit any more is refused now.
func (p *Progress) applyKept(now time.Time) bool {
	applied := false
	for _, k := range p.Desk.Kept {
		asked := p.questionOn(k.Finding) >= 0
		if !asked && slices.Contains(p.State.Review.Standing, k.Finding) {
			continue // its time may come
		}
		p.Desk.Kept = slices.DeleteFunc(slices.Clone(p.Desk.Kept), func(other kept) bool { return other.Finding == k.Finding })
		if why := p.notNow(k.RulingRequest); why != "" {
			p.refuse([]byte(k.Raw), why, now)
		} else if !asked {
			st, _ := p.State.Review.Findings.Get(k.Finding)
			p.refuse([]byte(k.Raw), fmt.Sprintf("%s was not asked after that: it is %s", k.Finding, st.Status), now)
		} else {
			p.apply(k.RulingRequest, now)
			applied = true
		}
	}
	return applied
}

// goOn lets a run that waits for rulings go on once nothing is asked any more.
func (p *Progress) goOn(now time.Time) {
	if p.Run.Waiting == "" || p.Interrupted {
		return
	}
	if commands := p.machine.Decide(p.State); len(commands) > 0 && commands[0].Kind == convergence.KindAsk {
		p.Run.Waiting = "a ruling on " + subjects(p.Run.Questions)
		return
	}
	p.Waits++
	p.endWait(now)
	p.Run.Stop, p.Run.Waiting, p.Run.ExitCode, p.Run.Questions = "", "", 0, nil // an abort leaves none of them open
}

// Awake says that a waiting run has something to go on with.
func (p *Progress) Awake() bool { return p.ResumeAsked != nil || p.Run.Waiting == "" }

// BeginWait starts the clock of a wait for people, or leaves it running.
func (p *Progress) BeginWait(now time.Time) {
	if p.Desk.Since.IsZero() {
		p.Desk.Since = now
	}
	if p.Desk.Remind.IsZero() && p.in.Policy.Reminder > 0 {
		p.Desk.Remind = now.Add(p.in.Policy.Reminder)
	}
}

// Woken lets a waiting run go on that somebody resumed.
func (p *Progress) Woken(now time.Time) {
	if p.ResumeAsked != nil {
		p.endWait(now)
		p.Resumed()
	}
}

// InterruptWork is Interrupt, unless the run waits anyway: then there is
// nothing to end, and a ruling must still let it go on.
func (p *Progress) InterruptWork(reason string) {
	if p.Run.Waiting == "" {
		p.Interrupt(reason)
	}
}

// closeDesk ends all asking: the run ends.
func (p *Progress) closeDesk(now time.Time) {
	for _, k := range p.Desk.Kept {
		p.refuse([]byte(k.Raw), k.Finding+" was not asked after that, and the run has ended", now)
	}
	p.Desk.Kept, p.Run.Questions, p.Run.Budget = nil, nil, p.spending(now)
	p.endWait(now)
}

func (p *Progress) endWait(now time.Time) {
	if !p.Desk.Since.IsZero() {
		p.Desk.Waited += now.Sub(p.Desk.Since)
	}
	p.Desk.Since, p.Desk.Remind, p.Run.Reminders = time.Time{}, time.Time{}, 0
}

// waited is how long the run has waited for people until now.
func (p *Progress) waited(now time.Time) time.Duration {
	if p.Desk.Since.IsZero() {
		return p.Desk.Waited
	}
	return p.Desk.Waited + now.Sub(p.Desk.Since)
}

// Alarm is how long a waiting run sleeps until Ring is due; 0 is for ever. An
// interrupted run is not reminded: a person made it wait.
func (p *Progress) Alarm(now time.Time) time.Duration {
	if p.Interrupted {
		return 0
	}
	var at time.Time
	sooner := func(t time.Time) {
		if !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	sooner(p.Desk.Remind)
	for _, q := range p.Run.Questions {
		sooner(p.deadline(q))
	}
	if at.IsZero() {
		return 0
	}
	return max(at.Sub(now), time.Millisecond)
}

// deadline is when a question is answered by nobody's word; zero for never.
func (p *Progress) deadline(q record.Question) time.Time {
	since, err := time.Parse(time.RFC3339, q.Since)
	if err != nil || p.in.Policy.Deadline <= 0 || !p.unattended(q) {
		return time.Time{}
	}
	return since.Add(p.in.Policy.Deadline)
}

// unattended says that the configured answer may be given without a person. A
// budget that lifts itself would be none, and a fix that did not help once is
// not paid for again.
func (p *Progress) unattended(q record.Question) bool {
	switch p.in.Policy.DeadlineRuling {
	case convergence.DecisionAbort:
		return true
	case convergence.DecisionStand:
		return q.Subject != convergence.SubjectBudget
	case convergence.DecisionFix:
		return !isHostSubject(q.Subject) && q.Number == 1
	}
	return false
}

// Ring is called when an alarm went off: it answers the questions whose
// deadline has passed, or reminds.
func (p *Progress) Ring(now time.Time) {
	for _, q := range slices.Clone(p.Run.Questions) {
		if at := p.deadline(q); !at.IsZero() && !now.Before(at) && p.questionOn(q.Subject) >= 0 {
			p.apply(RulingRequest{
				Finding: q.Subject, Decision: p.in.Policy.DeadlineRuling, By: ByDeadline,
				Reason: fmt.Sprintf("nobody ruled within %s; rulings.deadline_decision is %s", p.in.Policy.Deadline, p.in.Policy.DeadlineRuling),
			}, now)
		}
	}
	if !p.Desk.Remind.IsZero() && !now.Before(p.Desk.Remind) {
		p.Run.Reminders++
		p.Desk.Remind = now.Add(p.in.Policy.Reminder)
	}
}

func (p *Progress) questionOn(subject string) int {
	return slices.IndexFunc(p.Run.Questions, func(q record.Question) bool { return q.Subject == subject })
}

// subjects names a few questions in one line.
func subjects(questions []record.Question) string {
	const shown = 10
	var names []string
	for _, q := range questions[:min(len(questions), shown)] {
		names = append(names, q.Subject)
	}
	if more := len(questions) - shown; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

func rawOf(r RulingRequest) []byte {
	raw, err := json.Marshal(r)
	if err != nil { // a struct of strings
		panic(fmt.Sprintf("a ruling cannot be written: %v", err))
	}
	return raw
}
