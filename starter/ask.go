package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"conclave/internal/convergence"
	"conclave/internal/host"
	"conclave/internal/loop"
	"conclave/internal/record"
	"conclave/internal/report/text"
	"conclave/internal/view"
)

// interactive says that a person sits before this process and sees what it shows.
func (a *app) interactive(out output) bool {
	if out.flags.json || out.flags.quiet {
		return false
	}
	if a.asks != nil {
		return *a.asks
	}
	file, ok := a.in.(*os.File)
	return ok && term.IsTerminal(int(file.Fd())) && out.view.Terminal
}

// followAsking is follow, and asks in place what the run asks.
func (c *carriage) followAsking(ctx context.Context, stop *interrupts, v view.View, out output) (host.End, error) {
	for {
		end, err := c.follow(ctx, stop, v, nil)
		if err != nil || !end.Waiting || len(end.Run.Questions) == 0 || stop.asked() || !c.app.interactive(out) {
			return end, err
		}
		answered, err := c.askAll(ctx, stop, v, end.Run, out)
		if err != nil || !answered {
			end.Run = c.afterAsking(ctx, end.Run)
			return end, err
		}
	}
}

// afterAsking is the run's record after somebody was asked; the bundle is brought up to it.
func (c *carriage) afterAsking(ctx context.Context, before record.Run) record.Run {
	look, err := host.LookAt(ctx, c.conn.Client, c.entry.WorkflowID)
	if err != nil || !look.Known {
		return before
	}
	if len(look.Run.Rulings) > len(before.Rulings) {
		c.refreshBundle(ctx)
	}
	return look.Run
}

// askAll asks what the run asks until nothing is left, and says whether that is
// so. A person may leave it waiting.
func (c *carriage) askAll(ctx context.Context, stop *interrupts, v view.View, run record.Run, out output) (answered bool, err error) {
	view.Pause(v, func() {
		p := &prompter{lines: c.app.readLines(), out: out.view.Out, width: out.view.Width, stop: stop.first}
		for err == nil && len(run.Questions) > 0 {
			var left bool
			if left, err = c.askOne(ctx, p, run.Questions[0]); left || err != nil {
				return
			}
			var look host.Look
			if look, err = host.AwaitLook(ctx, c.conn.Client, c.entry.WorkflowID); err != nil {
				return // it ended meanwhile, or the server did: following tells
			}
			run = look.Run
		}
		answered = true
	})
	if err != nil {
		c.app.say("note: %v", err)
		return true, nil // follow shows what became of the run
	}
	return answered, nil
}

// askOne asks one question and brings the ruling to the run. left says that the person wants to leave.
func (c *carriage) askOne(ctx context.Context, p *prompter, q record.Question) (left bool, err error) {
	ctx, done := context.WithCancel(ctx)
	defer done()
	p.gone = c.answeredElsewhere(ctx, q)
	request, outcome := p.ruling(q)
	switch outcome {
	case leaves:
		return true, nil
	case answeredMeanwhile:
		fmt.Fprintf(p.out, "\n%s was answered meanwhile\n", q.Subject)
		return false, nil
	}
	request.By, request.Head = whoAmI(), q.Head
	answer, err := c.send(ctx, request)
	if err != nil {
		return false, err
	}
	if answer.Status == loop.RulingRefused {
		fmt.Fprintf(p.out, "refused: %s\n", text.OneLine(answer.Why, 0))
		return false, nil
	}
	for _, line := range c.afterRuling(answer) {
		fmt.Fprintln(p.out, line)
	}
	return false, nil
}

// elsewhereLook is how often a question at the prompt is compared with what the run asks.
const elsewhereLook = time.Second

// answeredElsewhere tells when a question is not asked any more: by a signal, another starter, a deadline.
func (c *carriage) answeredElsewhere(ctx context.Context, q record.Question) <-chan struct{} {
	gone := make(chan struct{})
	go func() {
		ticker := time.NewTicker(elsewhereLook)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			look, err := host.LookAt(ctx, c.conn.Client, c.entry.WorkflowID)
			if err == nil && look.Known && !slices.ContainsFunc(look.Run.Questions, func(other record.Question) bool {
				return other.Subject == q.Subject && other.Number == q.Number
			}) {
				close(gone)
				return
			}
		}
	}()
	return gone
}

// readLines reads the terminal in the background, once for the process: a read cannot be taken back.
func (a *app) readLines() <-chan string {
	if a.lines == nil {
		a.lines = make(chan string)
		go func() {
			defer close(a.lines)
			scanner := bufio.NewScanner(a.in)
			for scanner.Scan() {
				a.lines <- scanner.Text()
			}
		}()
	}
	return a.lines
}

// prompter asks a person on a terminal.
type prompter struct {
	lines <-chan string
	out   io.Writer
	// width is the terminal's, 0 where it is unknown.
	width int
	// stop and gone end the asking: Ctrl-C, and a question that nobody asks any more.
	stop, gone <-chan struct{}
}

// outcome is how asking one question ended. The zero value is that the person left.
type outcome int

const (
	leaves outcome = iota
	ruledOn
	answeredMeanwhile
)

// ruling asks for a decision and, on a finding, for a reason.
func (p *prompter) ruling(q record.Question) (loop.RulingRequest, outcome) {
	own := ownQuestion(q.Subject)
	p.show(q, own)
	request := loop.RulingRequest{Finding: q.Subject}
	var end outcome
	if request.Decision, end = p.decision(own); end != ruledOn {
		return request, end
	}
	request.Reason, end = p.reason(request, own)
	return request, end
}

func (p *prompter) decision(own bool) (string, outcome) {
	for {
		fmt.Fprint(p.out, "your ruling: ")
		line, end := p.line()
		if end != ruledOn {
			return "", end
		}
		switch word := strings.ToLower(line); {
		case word == "q" || word == "quit":
			return "", leaves
		case word == "s" || word == "stand":
			return convergence.DecisionStand, ruledOn
		case (word == "f" || word == "fix") && !own:
			return convergence.DecisionFix, ruledOn
		case word == "a" || word == "abort":
			return convergence.DecisionAbort, ruledOn
		}
		fmt.Fprintln(p.out, choices(own))
	}
}

// reason asks until the ruling is one: a finding needs a reason, and it has a longest length.
func (p *prompter) reason(request loop.RulingRequest, own bool) (string, outcome) {
	prompt := "why: "
	if own {
		prompt = "why (may be left empty): "
	}
	for {
		fmt.Fprint(p.out, prompt)
		line, end := p.line()
		if end != ruledOn {
			return "", end
		}
		request.Reason = line
		_, err := loop.ReadRuling(rulingJSON(request))
		if err == nil {
			return line, ruledOn
		}
		if line != "" {
			fmt.Fprintln(p.out, err)
		}
	}
}

func ownQuestion(subject string) bool {
	switch subject {
	case convergence.SubjectSize, convergence.SubjectProtected, convergence.SubjectBudget:
		return true
	}
	return false
}

func choices(own bool) string {
	if own {
		return "s stand · a abort · q leave the run waiting"
	}
	return "s stand · f fix · a abort · q leave the run waiting"
}

// show prints the question. Its text is an agent's: it cannot move the cursor.
func (p *prompter) show(q record.Question, own bool) {
	again := ""
	if q.Number > 1 {
		again = fmt.Sprintf(", for the %s time", text.Ordinal(q.Number))
	}
	fmt.Fprintf(p.out, "\n%s needs a ruling%s\n", text.OneLine(q.Subject, 40), again)
	if q.Text != "" {
		fmt.Fprintln(p.out, indented(text.OneLine(q.Text, 0), p.width))
	}
	fmt.Fprintf(p.out, "  %s\n", choices(own))
}

// indented breaks a line between words, so that a terminal does not do it within one.
func indented(line string, width int) string {
	const margin = "  "
	if width > 2*len(margin) {
		line = ansi.Wrap(line, width-len(margin), "")
	}
	return margin + strings.ReplaceAll(line, "\n", "\n"+margin)
}

// line reads one line; the end of input and Ctrl-C leave.
func (p *prompter) line() (string, outcome) {
	select {
	case line, ok := <-p.lines:
		if !ok {
			return "", leaves
		}
		return strings.TrimSpace(line), ruledOn
	case <-p.stop:
		return "", leaves
	case <-p.gone:
		return "", answeredMeanwhile
	}
}

func rulingJSON(request loop.RulingRequest) []byte {
	raw, err := json.Marshal(request)
	if err != nil { // a struct of strings
		panic(err)
	}
	return raw
}
