package hunt

import (
	"fmt"
	"slices"

	"conclave/internal/loop"
	"conclave/internal/record"
)

// book is what really happened, kept by the one who made it happen. It knows
// nothing of the machine: findings go by their titles, answers by their trees.
type book struct {
	w       *world
	tree    string
	proved  bool // the verifier passed on that tree
	writes  int  // turns that wrote and ended well: reviews between two of them are of one round
	writers []record.Engine
	// heard is each seat's last answer.
	heard    map[string]heard
	findings map[string]*finding
	// pending is what a turn said, until it is known that its class is ok.
	pending map[string]func()
	// log tells a failed case.
	log []string
}

type heard struct {
	valid  bool
	tree   string
	engine *record.Engine
}

// finding is what was reported, as its raisers see it.
type finding struct {
	// by are all who reported it, at whatever severity.
	by []string
	// high: somebody called it high, so that it stands until it is settled.
	high bool
	// since is how often was written when somebody called it high first.
	since int
	// closed says how it was settled, "" while it stands.
	closed string
	// gone is who said in this round that it is addressed.
	gone map[string]bool
}

func newBook(w *world) *book {
	return &book{w: w, heard: map[string]heard{}, findings: map[string]*finding{}, pending: map[string]func(){}}
}

// title finds a finding by the id that the run gave it.
func (b *book) title(id string) string {
	for _, f := range b.w.run.Record(b.w.now).Findings {
		if f.ID == id {
			return f.Title
		}
	}
	return ""
}

// said remembers what a reading turn answered, to be taken in once its class is known.
func (b *book) said(call loop.Call, say said, engine *record.Engine) {
	seat, tree := call.Turn.Seat, call.Turn.From.Tree
	b.pending[call.Position] = func() {
		b.tell("%s %s (%s) by %s on %s: valid %t, raises %v, addressed %v, confirmed %t, decides %v", call.Step, call.Turn.Turn, seat, who(engine), tree, say.valid, say.raised, say.addressed, say.confirmed, say.decisions)
		switch call.Turn.Turn {
		case "review", "recheck":
			b.heard[seat] = heard{valid: say.valid, tree: tree, engine: engine}
			if say.valid {
				b.review(seat, say)
			}
		case "confirm":
			if f := b.findings[b.title(call.Turn.Findings[0])]; f != nil && say.valid && !say.confirmed && !b.isWriter(engine) {
				f.closed = "refuted"
			}
		case "arbitrate":
			for id, decision := range say.decisions {
				if f := b.findings[b.title(id)]; f != nil && say.valid && decision == "stand" && !b.isWriter(engine) {
					f.closed = "ruled"
				}
			}
		}
	}
}

// review takes in a valid answer of a seat.
func (b *book) review(seat string, say said) {
	for _, r := range say.raised {
		f := b.findings[r.title]
		switch {
		case f == nil:
			f = &finding{gone: map[string]bool{}}
			b.findings[r.title] = f
		case seat == "final":
			continue // it is in the log that the final reviewer was given
		case !r.high && f.high && f.since < b.writes:
			continue // a passing mention of what others called high in an earlier round: it goes to the log
		case r.high && f.closed == "addressed":
			f.closed = ""
		}
		if r.high {
			if !f.high {
				f.since = b.writes
			}
			f.high, f.gone[seat] = true, false
		}
		if !slices.Contains(f.by, seat) {
			f.by = append(f.by, seat)
		}
	}
	for id, gone := range say.addressed { // last: what an answer raises and calls addressed is not
		if f := b.findings[b.title(id)]; f != nil {
			b.recheck(f, seat, gone)
		}
	}
}

func (b *book) recheck(f *finding, seat string, gone bool) {
	if before, ok := f.gone[seat]; ok && !before {
		gone = false // not taken back in one round
	}
	f.gone[seat] = gone
	if f.closed != "" {
		return
	}
	for _, owner := range b.owners(f) {
		if !f.gone[owner] {
			return
		}
	}
	if f.high {
		f.closed = "addressed"
	}
}

// owners are whose word closes a finding: the seats that raised it, else the first one.
func (b *book) owners(f *finding) []string {
	var seats []string
	for _, seat := range f.by {
		if seat != "final" {
			seats = append(seats, seat)
		}
	}
	if len(seats) == 0 {
		return []string{"seat1"}
	}
	return seats
}

// silent forgets what a turn said: it gave no result.
func (b *book) silent(call loop.Call) {
	if call.Turn.Writing {
		b.pending[call.Position] = nil
		return
	}
	seat, review := call.Turn.Seat, call.Turn.Turn == "review" || call.Turn.Turn == "recheck"
	b.pending[call.Position] = func() {
		if review {
			b.heard[seat] = heard{}
		}
	}
}

// wrote takes in a turn whose class is known.
func (b *book) wrote(call loop.Call, result loop.TurnResult) {
	if call.Turn.Writing {
		b.note(call.Turn.Target, result.Reported)
	}
	if take := b.pending[call.Position]; take != nil {
		take()
	}
	delete(b.pending, call.Position)
	if !call.Turn.Writing || result.Class != record.ClassOK {
		b.tell("%s ended as %q", call.Step, result.Class)
		return
	}
	b.tell("%s %s by %s leaves %s, report %v", call.Step, call.Turn.Turn, who(result.Reported), result.Snapshot.Tree, result.FixReport)
	b.tree, b.proved = result.Snapshot.Tree, false
	b.writes++
	for _, f := range b.findings {
		f.gone = map[string]bool{}
	}
}

// note keeps who wrote: whoever reports itself, else whoever was asked.
func (b *book) note(asked record.Engine, reported *record.Engine) {
	if reported == nil {
		reported = &asked
	}
	b.writers = append(b.writers, *reported)
}

// isWriter says that an engine's word can settle nothing: it writes, or nobody knows who it is.
func (b *book) isWriter(e *record.Engine) bool {
	return e == nil || slices.ContainsFunc(b.writers, func(w record.Engine) bool {
		return w.Provider == e.Provider || w.ModelFamily == e.ModelFamily
	})
}

func (b *book) verified(ok bool) {
	b.proved = ok
	b.tell("verified: %t", ok)
}

func (b *book) tell(format string, args ...any) { b.log = append(b.log, fmt.Sprintf(format, args...)) }

func who(e *record.Engine) string {
	if e == nil {
		return "nobody knows whom"
	}
	return e.Provider + "/" + e.ModelFamily
}

// ruled takes in a person's word.
func (b *book) ruled(id, decision string) {
	b.tell("a person rules %s: %s", id, decision)
	if f := b.findings[b.title(id)]; f != nil && decision == "stand" {
		f.closed = "ruled"
	}
}

// faults says what is wrong with calling this run a success.
func (b *book) faults(run record.Run) []string {
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if !b.proved {
		fault("the verifier did not pass on the last tree")
	}
	for seat := range b.w.voting {
		h := b.heard[seat]
		engine := h.engine
		if engine == nil {
			asked := b.w.seats[seat]
			engine = &asked
		}
		switch {
		case !h.valid:
			fault("the last answer of %s is not valid", seat)
		case h.tree != b.tree:
			fault("the last answer of %s is about %s, the run ended with %s", seat, h.tree, b.tree)
		case b.isWriter(engine):
			fault("%s was answered by a writer's engine, %s/%s", seat, engine.Provider, engine.ModelFamily)
		}
	}
	for title, f := range b.findings {
		if f.high && f.closed == "" {
			fault("%q of %v stands", title, f.by)
		}
		if f.closed == "ruled" && run.Stop != record.Ruled {
			fault("%q was ruled on, and the run is called %s", title, run.Stop)
		}
	}
	slices.Sort(faults)
	return faults
}
