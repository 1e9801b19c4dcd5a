package calibration

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"conclave/internal/review"
)

const (
	// Tolerance is how many lines a finding may lie beside what was expected.
	Tolerance = 3
	// widest is the most lines that one place may span: who points at a whole file points at nothing.
	widest = 40
)

// Engine is the engine of a seat as the configuration asks for it.
type Engine struct {
	Adapter     string `json:"adapter"`
	Provider    string `json:"provider"`
	ModelFamily string `json:"model_family"`
	Model       string `json:"model"`
}

// Finding is what a seat raised about a case.
type Finding struct {
	Severity review.Severity   `json:"severity"`
	Title    string            `json:"title"`
	Places   []review.Evidence `json:"places"`
}

// Answer is one seat's review of one case.
type Answer struct {
	Case string `json:"case"`
	Seat string `json:"seat"`
	Lens string `json:"lens"`
	// Engine is who was asked, Reported the model that answered ("" where none was told).
	Engine   Engine `json:"engine"`
	Reported string `json:"reported,omitempty"`
	// Failed is why there is no valid answer, "" where there is one.
	Failed string `json:"failed,omitempty"`
	// Lost says that the engine could not be asked, which tells nothing about it.
	Lost     bool      `json:"lost,omitempty"`
	Findings []Finding `json:"findings,omitempty"`
}

// Counts is what precision and recall are shares of.
type Counts struct {
	// Cases were reviewed; Failed of them have no valid answer, and what they expect counts as missed.
	Cases  int `json:"cases"`
	Failed int `json:"failed"`
	// Lost counts those of the failed ones whose engine could not be asked.
	Lost int `json:"lost,omitempty"`
	// Expected counts the faults of the cases that the seat's lens must see (no optional ones), Found those that it raised.
	Expected int `json:"expected"`
	Found    int `json:"found"`
	// Raised counts what the seat raised as high, and lesser findings that are expected; Correct those at a planted fault,
	// of any lens.
	Raised  int `json:"raised"`
	Correct int `json:"correct"`
}

// Precision is the share of what was raised that is right; false where nothing was raised.
func (c Counts) Precision() (float64, bool) { return share(c.Correct, c.Raised) }

// Recall is the share of what was expected that was raised; false where nothing was expected.
func (c Counts) Recall() (float64, bool) { return share(c.Found, c.Expected) }

func share(part, whole int) (float64, bool) {
	if whole == 0 {
		return 0, false
	}
	return float64(part) / float64(whole), true
}

func (c Counts) plus(d Counts) Counts {
	return Counts{Cases: c.Cases + d.Cases, Failed: c.Failed + d.Failed, Lost: c.Lost + d.Lost, Expected: c.Expected + d.Expected, Found: c.Found + d.Found,
		Raised: c.Raised + d.Raised, Correct: c.Correct + d.Correct}
}

// Score is how one seat did over all cases.
type Score struct {
	Seat   string `json:"seat"`
	Lens   string `json:"lens"`
	Engine Engine `json:"engine"`
	// Reported lists the models that answered, sorted.
	Reported []string `json:"reported"`
	Counts
	// Missed names what was not raised, False what was raised beside every fault, Unanswered the cases without an answer.
	Missed     []string `json:"missed"`
	False      []string `json:"false"`
	Unanswered []string `json:"unanswered"`
}

// Measure scores every seat that answered, in the order in which they first appear. An answer to an unknown case is
// left out.
func Measure(cases []Case, answers []Answer) []Score {
	var scores []Score
	for _, a := range answers {
		i := slices.IndexFunc(cases, func(c Case) bool { return c.Name == a.Case })
		if i < 0 {
			continue
		}
		j := slices.IndexFunc(scores, func(s Score) bool { return s.Seat == a.Seat })
		if j < 0 {
			j = len(scores)
			scores = append(scores, Score{Seat: a.Seat, Lens: a.Lens, Engine: a.Engine, Reported: []string{}, Missed: []string{}, False: []string{}, Unanswered: []string{}})
		}
		scores[j].add(cases[i], a)
	}
	return scores
}

// add counts one answer.
func (s *Score) add(c Case, a Answer) {
	s.Cases++
	if a.Reported != "" && !slices.Contains(s.Reported, a.Reported) {
		s.Reported = append(s.Reported, a.Reported)
		slices.Sort(s.Reported)
	}
	if a.Failed != "" {
		a.Findings = nil
		s.Failed++
		s.Unanswered = append(s.Unanswered, c.Name+": "+a.Failed)
		if a.Lost {
			s.Lost++
		}
	}
	s.demand(c, a)
	for _, f := range a.Findings {
		s.judge(c, f)
	}
}

// demand counts what the case expects of the seat's lens.
func (s *Score) demand(c Case, a Answer) {
	for _, e := range c.Expected {
		if e.Lens != a.Lens || e.Optional {
			continue
		}
		s.Expected++
		if slices.ContainsFunc(a.Findings, func(f Finding) bool { return f.finds(e) }) {
			s.Found++
		} else {
			s.Missed = append(s.Missed, c.Name+": "+e.String())
		}
	}
}

// judge counts one finding, if it would cost a round or was expected.
func (s *Score) judge(c Case, f Finding) {
	hit := slices.ContainsFunc(c.Expected, f.at)
	switch {
	case hit && (f.high() || slices.ContainsFunc(c.Expected, f.finds)):
		s.Raised++
		s.Correct++
	case !hit && f.high():
		s.Raised++
		s.False = append(s.False, c.Name+": "+cmp.Or(f.place(), "no place")+" "+f.Title)
	}
}

// finds says that the finding is what was expected, and no less severe.
func (f Finding) finds(e Expectation) bool { return f.at(e) && f.rank() <= e.Severity }

// at says that one of the finding's places is that of the expectation.
func (f Finding) at(e Expectation) bool {
	return slices.ContainsFunc(f.Places, func(p review.Evidence) bool {
		if path.Clean(strings.ReplaceAll(p.Path, `\`, "/")) != e.Path {
			return false
		}
		if e.From == 0 {
			return true
		}
		last := max(p.Line, p.EndLine)
		return p.Line > 0 && last-p.Line < widest && p.Line <= e.To+Tolerance && last >= e.From-Tolerance
	})
}

// rank is the severity; a finding that states none is high, as everywhere.
func (f Finding) rank() review.Severity { return max(f.Severity, review.High) }

func (f Finding) high() bool { return f.rank() == review.High }

func (f Finding) place() string {
	if len(f.Places) == 0 {
		return ""
	}
	p := f.Places[0]
	return Expectation{Path: p.Path, From: p.Line, To: max(p.Line, p.EndLine)}.String()
}

// Group is the sum of several scores.
type Group struct {
	Name string `json:"name"`
	Counts
}

// ByLens sums the scores of each lens, sorted.
func ByLens(scores []Score) []Group {
	return group(scores, func(s Score) string { return s.Lens })
}

// ByModel sums the scores of each model that answered, sorted; where none was told, of the one that was asked for.
func ByModel(scores []Score) []Group { return group(scores, Score.ModelName) }

// ModelName is the adapter with the model that answered, else the one that was asked for.
func (s Score) ModelName() string {
	return s.Engine.Adapter + ":" + cmp.Or(strings.Join(s.Reported, "+"), s.Engine.Model)
}

func group(scores []Score, name func(Score) string) []Group {
	var groups []Group
	for _, s := range scores {
		i := slices.IndexFunc(groups, func(g Group) bool { return g.Name == name(s) })
		if i < 0 {
			i = len(groups)
			groups = append(groups, Group{Name: name(s)})
		}
		groups[i].Counts = groups[i].plus(s.Counts)
	}
	slices.SortFunc(groups, func(a, b Group) int { return strings.Compare(a.Name, b.Name) })
	return groups
}
