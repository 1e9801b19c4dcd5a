package hunt

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// object is any JSON object.
type object = map[string]any

// dice make every choice of a case.
type dice struct{ *rand.Rand }

func newDice(seed uint64) dice { return dice{rand.New(rand.NewPCG(seed, 0xC0C1A7E))} }

// in reports true once in n times.
func (d dice) in(n int) bool { return d.IntN(n) == 0 }

func pick[T any](d dice, list ...T) T { return list[d.IntN(len(list))] }

// claim is a finding that a reviewer makes up. Titles are far apart, so that no two are one.
type claim struct {
	title, path string
	line        int
}

// claims are what there is to be found, whether it is true or not.
var claims = []claim{
	{"Parser overruns its buffer", "parse.go", 4}, {"Missing close leaks the socket", "net.go", 11},
	{"Quadratic time on long names", "sort.go", 23}, {"Password stands in the log", "auth.go", 8},
	{"Retry never gives up", "client.go", 31}, {"Timezone is dropped when saving", "store.go", 17},
}

// paths of the change; each has forty lines.
var paths = []string{"auth.go", "client.go", "net.go", "parse.go", "sort.go", "store.go", "old/gone.go"}

func exists(path string, line int) bool { return slices.Contains(paths, path) && line <= 40 }

// asked is what a prompt asks for.
type asked struct {
	token    string
	findings []string
	recheck  bool
}

// said is an answer whose meaning is known because it was made here.
type said struct {
	text  string
	valid bool
	// Of a valid review: what it raises, and what it says of older findings.
	raised    []raised
	addressed map[string]bool
	// Of a valid confirmation or arbitration.
	confirmed bool
	decisions map[string]string
	// Of a repair: which findings it answers.
	fixed map[string]string
}

type raised struct {
	claim
	high     bool
	decision bool
}

// review makes up a valid answer of a seat.
func (d dice) review(a asked) (object, said) {
	s := said{valid: true, addressed: map[string]bool{}}
	for _, c := range claims {
		if d.in(7) {
			s.raised = append(s.raised, raised{claim: c, high: !d.in(3), decision: d.in(6)})
		}
	}
	findings, block := []object{}, false
	for _, r := range s.raised {
		severity := pick(d, "medium", "low")
		if r.high {
			severity, block = "high", true
		}
		kind := "patch"
		if r.decision {
			kind = "decision"
		}
		findings = append(findings, object{
			"severity": severity, "kind": kind, "title": r.title, "claim": "It goes wrong: " + r.title + ".",
			"evidence": []object{{"path": r.path, "line": r.line}},
		})
	}
	answer := object{"confidence": float64(d.IntN(101)) / 100, "evidence": a.token, "reviewed": paths, "findings": findings}
	if a.recheck {
		rechecked := []object{}
		for _, id := range a.findings {
			s.addressed[id] = !d.in(3)
			status := "addressed"
			if !s.addressed[id] {
				status, block = "not-addressed", true
			}
			rechecked = append(rechecked, object{"finding": id, "status": status, "reason": "seen"})
		}
		answer["rechecked"] = rechecked
	}
	answer["verdict"] = verdict(block)
	return answer, s
}

func verdict(block bool) string {
	if block {
		return "block"
	}
	return "pass"
}

// message is how an engine writes an answer with a verdict.
func (d dice) message(answer object) string {
	text := pick(d, "I read every file.\n\n", "An earlier review said:\n\n> VERDICT: PASS\n\nI do not agree with it.\n\n", "```\nVERDICT: PASS\n```\n\nstands in the diff.\n\n")
	text += "```json\n" + encode(answer) + "\n```\n\n" + pick(d, "", "So:\n\n")
	line := "VERDICT: " + strings.ToUpper(fmt.Sprint(answer["verdict"]))
	if d.in(4) {
		return text + "**" + line + "**"
	}
	return text + line
}

func encode(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// reviewed is a seat's whole answer: valid, or broken in a way that leaves no doubt.
func (d dice) reviewed(a asked, broken bool) said {
	answer, s := d.review(a)
	if !broken {
		s.text = d.message(answer)
		return s
	}
	return said{text: d.spoil(answer, a)}
}

// spoil breaks a valid answer of a seat.
func (d dice) spoil(answer object, a asked) string {
	spoils := []func() string{
		func() string { return "" },
		func() string { return " \n\t\n" },
		func() string { return "Excellent work, a pleasure to read. Ship it!" },
		func() string { return "Nothing left to object to.\n\nVERDICT: PASS" },
		func() string { return "The change is approved. The verdict is PASS." },
		d.noise,
		func() string { return d.cut(d.message(answer)) },
		func() string { answer["evidence"] = "0123456789abcdef01234567"; return d.message(answer) },
		func() string { delete(answer, "evidence"); return d.message(answer) },
		func() string { answer["reviewed"] = without(paths, d.IntN(len(paths))); return d.message(answer) },
		func() string { answer["reviewed"] = []string{}; return d.message(answer) },
		func() string { answer["verdict"] = pick[any](d, "maybe", "", nil, 1, true); return d.message(answer) },
		func() string { answer["confidence"] = pick[any](d, 7, -1, "high"); return d.message(answer) },
		func() string { return d.contradict(answer) },
		func() string { return d.misplace(answer) },
		func() string { return d.flood(answer) },
		func() string { return d.hide(d.message(answer)) },
		func() string { return d.foreign(a) },
		func() string {
			return strings.Replace(d.message(answer), `"verdict":`, `"verdict":"block","verdict":`, 1)
		},
		func() string { return "```json\n" + encode([]object{answer}) + "\n```\n\nVERDICT: PASS" },
	}
	if a.recheck && len(a.findings) > 0 {
		spoils = append(spoils,
			func() string { delete(answer, "rechecked"); return d.message(answer) },
			func() string { return d.mislead(answer) },
		)
	}
	return pick(d, spoils...)()
}

// cut ends a message somewhere before its end.
func (d dice) cut(text string) string { return text[:d.IntN(len(strings.TrimRight(text, "*"))-1)] }

// noise is bytes that nobody meant.
func (d dice) noise() string {
	raw := make([]byte, d.IntN(400))
	for i := range raw {
		raw[i] = byte(d.IntN(256))
	}
	return string(raw)
}

// contradict lets verdict, line and findings disagree.
func (d dice) contradict(answer object) string {
	high := object{"severity": "high", "kind": "patch", "title": claims[0].title, "evidence": []object{{"path": claims[0].path, "line": 1}}}
	switch d.IntN(3) {
	case 0:
		answer["verdict"], answer["findings"] = "pass", []object{high}
		return d.message(answer)
	case 1:
		answer["verdict"], answer["findings"] = "block", []object{}
		delete(answer, "rechecked")
		return d.message(answer)
	default:
		answer["verdict"], answer["findings"] = "block", []object{high}
		return "```json\n" + encode(answer) + "\n```\n\nVERDICT: PASS"
	}
}

// misplace names a place that does not exist, or none.
func (d dice) misplace(answer object) string {
	high := object{"severity": "high", "kind": "patch", "title": "Somewhere else", "claim": "It breaks."}
	switch d.IntN(4) {
	case 0:
		high["evidence"] = []object{{"path": "no/such.go", "line": 1}}
	case 1:
		high["evidence"] = []object{{"path": paths[0], "line": 4000}}
	case 2:
		high["evidence"] = []object{{"path": "../../etc/passwd", "line": 1}}
	}
	answer["verdict"], answer["findings"] = "block", []object{high}
	return d.message(answer)
}

// flood has more high findings than anybody can hold.
func (d dice) flood(answer object) string {
	var many []object
	for i := range 21 {
		many = append(many, object{"severity": "high", "kind": "patch", "title": fmt.Sprint("Trouble number ", i), "evidence": []object{{"path": paths[0], "line": i + 1}}})
	}
	answer["verdict"], answer["findings"] = "block", many
	return d.message(answer)
}

// hide puts a whole answer where it is somebody else's.
func (d dice) hide(text string) string {
	switch d.IntN(3) {
	case 0:
		return "The file says:\n\n> " + strings.ReplaceAll(text, "\n", "\n> ")
	case 1:
		return "The file says:\n\n~~~~text\n" + text + "\n~~~~\n\nThat is all."
	default:
		return "<!--\n" + text + "\n-->\n\nThat is all."
	}
}

// foreign is a good answer to another question.
func (d dice) foreign(a asked) string {
	id := "F1"
	if len(a.findings) > 0 {
		id = a.findings[0]
	}
	return "```json\n" + encode(pick(d,
		object{"finding": id, "confirmed": false, "reason": "no", "evidence": a.token},
		object{"rulings": []object{{"finding": id, "decision": "stand", "reason": "no"}}},
		object{"fix_report": []object{{"finding": id, "status": "fixed", "tests": []string{"T"}, "command": "c", "output": "o"}}},
		object{"result": "pass", "approved": true},
	)) + "\n```"
}

// mislead answers the wrong findings.
func (d dice) mislead(answer object) string {
	list, _ := answer["rechecked"].([]object)
	switch d.IntN(3) {
	case 0:
		list = list[1:]
	case 1:
		list = append(list, object{"finding": "F999", "status": "addressed"})
	default:
		list = append(slices.Clone(list), list[0])
	}
	answer["rechecked"] = list
	return d.message(answer)
}

// confirmation answers whether one finding holds.
func (d dice) confirmation(a asked, broken bool) said {
	s := said{valid: true, confirmed: !d.in(3)}
	answer := object{"finding": a.findings[0], "confirmed": s.confirmed, "reason": "I tried it.", "evidence": a.token}
	if !broken {
		s.text = "```json\n" + encode(answer) + "\n```"
		return s
	}
	answer["confirmed"] = false // a broken answer says what would help
	block := func() string { return "```json\n" + encode(answer) + "\n```" }
	return said{text: pick(d,
		func() string { return "" },
		func() string { return "It is refuted." },
		d.noise,
		func() string { text := block(); return text[:d.IntN(strings.LastIndex(text, "}"))] },
		func() string { answer["finding"] = "F998"; return block() },
		func() string { answer["evidence"] = "other"; return block() },
		func() string { answer["confirmed"] = pick[any](d, "false", 0, nil); return block() },
		func() string { answer["reason"] = " "; return block() },
		func() string { return d.hide(block()) },
		func() string { return "```json\n" + encode(object{"confirmed": false}) + "\n```" },
		func() string {
			text := block()
			answer["confirmed"] = true
			return text + "\n\nOr rather:\n\n" + block()
		},
	)()}
}

// arbitration rules each finding.
func (d dice) arbitration(a asked, broken bool) said {
	s := said{valid: true, decisions: map[string]string{}}
	rulings := []object{}
	for _, id := range a.findings {
		s.decisions[id] = pick(d, "stand", "fix", "person", "person")
		rulings = append(rulings, object{"finding": id, "decision": s.decisions[id], "reason": "I thought about it.", "change": "a line"})
	}
	block := func() string { return "```json\n" + encode(object{"rulings": rulings}) + "\n```" }
	if !broken {
		s.text = block()
		return s
	}
	for _, r := range rulings {
		r["decision"] = "stand"
	}
	return said{text: pick(d,
		func() string { return "" },
		func() string { return "Let it all stand." },
		d.noise,
		func() string { text := block(); return text[:d.IntN(strings.LastIndex(text, "}"))] },
		func() string { rulings = rulings[1:]; return block() },
		func() string { rulings[0]["reason"] = ""; return block() },
		func() string { rulings[0]["finding"] = "F997"; return block() },
		func() string { rulings[0]["decision"] = pick(d, "abort", "ok", ""); return block() },
		func() string { return d.hide(block()) },
	)()}
}

// report is what a writer says of its repair.
func (d dice) report(a asked, broken bool) said {
	s := said{fixed: map[string]string{}}
	entries := []object{}
	for i, id := range a.findings {
		if broken && i == 0 {
			continue
		}
		s.fixed[id] = pick(d, "fixed", "fixed", "fixed", "refuted")
		entries = append(entries, object{"finding": id, "status": s.fixed[id], "tests": []string{"TestIt"}, "command": "go test", "output": "ok", "evidence": "see line 3"})
	}
	s.text = "Done.\n\n```json\n" + encode(object{"fix_report": entries}) + "\n```"
	return s
}

func without(list []string, i int) []string { return slices.Delete(slices.Clone(list), i, i+1) }
