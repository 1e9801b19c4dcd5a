package config

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"conclave/internal/convergence"
)

// DefaultLens is the lens of a seat that names none.
const DefaultLens = "correctness"

var seatName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$`)

const nameRemedy = "use letters, digits, dots, dashes and underscores, at most 40"

// seatText is a seat as it is written: [NAME=]ADAPTER[:MODEL][@LENS].
type seatText struct {
	name, lens string
	lane       Lane
}

func splitSeat(s string) seatText {
	var t seatText
	if name, rest, ok := strings.Cut(s, "="); ok {
		t.name, s = name, rest
	}
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		s, t.lens = s[:i], s[i+1:]
	}
	t.lane = splitLane(s)
	return t
}

func splitLane(s string) Lane {
	adapter, model, _ := strings.Cut(s, ":")
	return Lane{Adapter: adapter, Model: model}
}

// lanes resolves writer, designer and seats.
func (l *loading) lanes(c *Config) {
	c.Writer = l.lane(*c, l.text("implementer"), l.where["implementer"])
	c.Designer = c.Writer
	if text := l.text("designer"); text != "" {
		c.Designer = l.lane(*c, text, l.where["designer"])
	}
	entries := l.seatEntries()
	for _, s := range l.seatList(entries) {
		c.Seats = append(c.Seats, l.seat(*c, s, entries))
	}
	nameSeats(c.Seats)
	l.refine(c, entries)
	l.checkSeats(*c)
}

func (l *loading) lane(c Config, text, where string) Lane {
	lane := splitLane(text)
	if err := l.adapter(c, lane.Adapter, where); err != nil {
		l.problems = append(l.problems, err)
	}
	lane.Model = cmp.Or(lane.Model, c.Models[lane.Adapter])
	return lane
}

// listIsStrong says that the seats were named by flag, variable or preset, so that files only refine them.
func (l *loading) listIsStrong() bool {
	where := l.where["reviewers"]
	return l.named || strings.HasPrefix(where, "-") || strings.HasPrefix(where, "CONCLAVE_")
}

// seatList is the text of each seat in declaration order.
func (l *loading) seatList(entries []seatEntry) []string {
	seats := splitList(l.text("reviewers"))
	if l.listIsStrong() {
		return seats
	}
	if _, ok := l.fromFile("reviewers"); !ok && slices.ContainsFunc(entries, func(e seatEntry) bool { return e.Adapter != "" }) {
		seats = nil // seats of a file replace the default preset's
	}
	for _, e := range entries {
		named := slices.ContainsFunc(seats, func(s string) bool { return cmp.Or(splitSeat(s).name, splitSeat(s).lane.Adapter) == e.Name })
		if e.Adapter != "" && !named {
			seats = append(seats, e.Name+"="+e.Adapter)
		}
	}
	return seats
}

// seatEntries are the `seats` of all files, the fields of a stronger file over those of a weaker one.
func (l *loading) seatEntries() []seatEntry {
	var all []seatEntry
	for _, file := range l.layers {
		for _, e := range file.seats {
			i := slices.IndexFunc(all, func(known seatEntry) bool { return known.Name == e.Name })
			if i < 0 {
				all = append(all, e)
				continue
			}
			all[i] = e.over(all[i])
		}
	}
	return all
}

func (e seatEntry) over(weak seatEntry) seatEntry {
	e.Adapter, e.Model, e.Lens = cmp.Or(e.Adapter, weak.Adapter), cmp.Or(e.Model, weak.Model), cmp.Or(e.Lens, weak.Lens)
	e.Skippable = cmp.Or(e.Skippable, weak.Skippable)
	if e.Substitutions == nil {
		e.Substitutions = weak.Substitutions
	}
	if e.EvidencePaths == nil {
		e.EvidencePaths = weak.EvidencePaths
	}
	return e
}

func (l *loading) seat(c Config, text string, entries []seatEntry) Seat {
	where := l.where["reviewers"]
	t := splitSeat(text)
	if i := slices.IndexFunc(entries, func(e seatEntry) bool { return e.Name == t.name }); i >= 0 && entries[i].Adapter != "" && !l.listIsStrong() {
		where = entries[i].Where
	}
	if strings.Contains(text, "=") && !seatName.MatchString(t.name) {
		l.problems = append(l.problems, Problem{What: fmt.Sprintf("%s: %q is no name for a seat", where, t.name), Remedy: "write NAME=ADAPTER[:MODEL][@LENS]; " + nameRemedy})
	}
	if err := l.adapter(c, t.lane.Adapter, where); err != nil {
		l.problems = append(l.problems, err)
	}
	if strings.Contains(text, "@") {
		l.checkLens(c, t.lens, where)
	}
	return Seat{Name: t.name, Lane: t.lane, Lens: t.lens}
}

func (l *loading) checkLens(c Config, lens, where string) {
	if !slices.Contains(c.lensNames(), lens) {
		l.problems = append(l.problems, Problem{What: fmt.Sprintf("%s: unknown lens %q", where, lens), Remedy: oneOf(lens, c.lensNames()) + "; or name a file of your own under `lenses`"})
	}
}

// nameSeats names seats after their adapter; where several have the same, after adapter and lens; else with a number.
func nameSeats(seats []Seat) {
	adapters, taken := map[string]int{}, map[string]bool{}
	for _, s := range seats {
		adapters[s.Adapter]++
		taken[s.Name] = s.Name != ""
	}
	for i := range seats {
		if seats[i].Name != "" {
			continue
		}
		base := seats[i].Adapter
		if adapters[base] > 1 && seats[i].Lens != "" {
			base += "-" + seats[i].Lens
		}
		name := base
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		seats[i].Name, taken[name] = name, true
	}
}

// refine applies the `seats` of files to the seats that exist.
func (l *loading) refine(c *Config, entries []seatEntry) {
	for _, e := range entries {
		i := slices.IndexFunc(c.Seats, func(s Seat) bool { return s.Name == e.Name })
		if i < 0 {
			l.unusedEntry(*c, e)
			continue
		}
		s := &c.Seats[i]
		s.Model, s.Lens = cmp.Or(s.Model, e.Model), cmp.Or(s.Lens, e.Lens)
		if e.Lens != "" {
			l.checkLens(*c, e.Lens, e.Where+": seats."+e.Name+".lens")
		}
		s.Skippable = e.Skippable != nil && *e.Skippable
		s.EvidencePaths = e.EvidencePaths
		for _, text := range e.Substitutions {
			s.Substitutions = append(s.Substitutions, l.lane(*c, text, e.Where+": seats."+e.Name+".substitutions"))
		}
	}
	for i := range c.Seats {
		s := &c.Seats[i]
		s.Model, s.Lens = cmp.Or(s.Model, c.Models[s.Adapter]), cmp.Or(s.Lens, DefaultLens)
	}
}

func (l *loading) unusedEntry(c Config, e seatEntry) {
	var have []string
	for _, s := range c.Seats {
		have = append(have, s.Name)
	}
	if l.listIsStrong() {
		l.warnings = append(l.warnings, fmt.Sprintf("%s: seats.%s does not apply: the seats of this run are %s", e.Where, e.Name, strings.Join(have, ", ")))
		return
	}
	l.problems = append(l.problems, Problem{What: fmt.Sprintf("%s: seats.%s is no seat of this run and names no adapter", e.Where, e.Name), Remedy: "add an adapter, or " + oneOf(e.Name, have)})
}

// reservedSeats are words that nodes, lanes and questions of our own use.
var reservedSeats = append(convergence.ReservedIDs(), NodeImplement, NodeVerify, NodeRepair, LaneWriter, LaneRepair)

func (l *loading) checkSeats(c Config) {
	where := l.where["reviewers"]
	if len(c.Seats) == 0 {
		l.problems = append(l.problems, Problem{What: where + ": there is no reviewer", Remedy: "name one, for instance --reviewers codex"})
	}
	seen := map[string]bool{}
	for _, name := range reservedSeats {
		seen[name] = true
	}
	for _, s := range c.Seats {
		if seen[s.Name] {
			l.problems = append(l.problems, Problem{What: fmt.Sprintf("%s: the seat name %s is taken", where, s.Name), Remedy: "give each seat a name of its own, other than " + strings.Join(reservedSeats, ", ")})
		}
		seen[s.Name] = true
		if slices.Contains(s.EvidencePaths, "") {
			l.problems = append(l.problems, Problem{What: "seats." + s.Name + ".evidence_paths has an empty entry", Remedy: "leave it out"})
		}
	}
}
