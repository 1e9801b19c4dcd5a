package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// short are answers in few words: each becomes an answer that keeps the contract
// of the prompts. Where a map is by finding, "*" stands for all others of the
// prompt. What breaks the contract is written in Say.
type short struct {
	// Review is an answer whose missing keys are filled in: token, paths, verdict
	// (block when something is high or not addressed), confidence. A key that is
	// null is left out. In a finding, severity (high), kind (patch) and claim (the
	// title) may be missing, and "at": "path:line" stands for its evidence.
	Review map[string]any `json:"review"`
	// Recheck maps findings to addressed or not-addressed; Review may stand beside it with new findings.
	Recheck map[string]string `json:"recheck"`
	// Confirm upholds or refutes the one finding of the prompt.
	Confirm *bool `json:"confirm"`
	// Arbitrate maps findings to stand, fix or person.
	Arbitrate map[string]string `json:"arbitrate"`
	// Fix maps findings to fixed or refuted, or to a whole entry of the fix report.
	Fix map[string]any `json:"fix"`
	// Reason is given with every decision.
	Reason string `json:"reason"`
}

// answer is the last message of a turn.
func (s step) answer(t turn) (string, error) {
	given, err := s.render(t)
	if err != nil {
		return "", err
	}
	say := s.Say
	if given != "" && !strings.Contains(say, "{{answer}}") {
		say = strings.TrimPrefix(say+"\n\n{{answer}}", "\n\n")
	}
	if !strings.Contains(say, "{{") {
		return say, nil
	}
	reviewed, err := encode(t.changed())
	if err != nil {
		return "", err
	}
	pairs := []string{"{{answer}}", given, "{{reviewed}}", strings.TrimSpace(reviewed)}
	for _, field := range []string{"evidence", "findings", "run", "round", "seat", "lens"} {
		pairs = append(pairs, "{{"+field+"}}", t.head[field])
	}
	return strings.NewReplacer(pairs...).Replace(say), nil
}

// render writes the short form that the step has, "" for none.
func (s step) render(t turn) (string, error) {
	ids := t.head.findings()
	switch {
	case s.Review != nil || s.Recheck != nil:
		return s.reviewed(t, ids)
	case s.Confirm != nil && len(ids) == 1:
		return block(object{"finding": ids[0], "confirmed": *s.Confirm, "reason": s.reason(), "evidence": t.head["evidence"]})
	case s.Confirm != nil:
		return "", fmt.Errorf("a confirmation is of one finding, not of %q", ids)
	case s.Arbitrate != nil:
		return s.arbitrated(ids)
	case s.Fix != nil:
		return s.fixed(ids)
	}
	return "", nil
}

func (s step) reason() string {
	if s.Reason != "" {
		return s.Reason
	}
	return "I read the code."
}

func (s step) reviewed(t turn, ids []string) (string, error) {
	findings, high := fullFindings(s.Review["findings"])
	answer := object{"confidence": 0.9, "evidence": t.head["evidence"], "reviewed": t.changed()}
	bad := high
	if s.Recheck != nil {
		rechecked := []object{}
		err := each(ids, s.Recheck, func(id, status string) {
			bad = bad || status == "not-addressed"
			rechecked = append(rechecked, object{"finding": id, "status": status, "reason": s.reason()})
		})
		if err != nil {
			return "", err
		}
		answer["rechecked"] = rechecked
	}
	answer["verdict"] = map[bool]string{true: "block", false: "pass"}[bad]
	for key, value := range s.Review {
		if answer[key] = value; value == nil {
			delete(answer, key)
		}
	}
	answer["findings"] = findings
	text, err := block(answer)
	return text + fmt.Sprintf("\n\nVERDICT: %s", strings.ToUpper(fmt.Sprint(answer["verdict"]))), err
}

// fullFindings fills in what findings leave out, and says whether one is high.
func fullFindings(given any) (full []object, high bool) {
	full = []object{}
	list, _ := given.([]any)
	for _, one := range list {
		fields, _ := one.(object)
		finding := object{"severity": "high", "kind": "patch", "title": "untitled"}
		for key, value := range fields {
			finding[key] = value
		}
		if _, ok := finding["claim"]; !ok {
			finding["claim"] = finding["title"]
		}
		if at, ok := finding["at"].(string); ok {
			path, line, _ := strings.Cut(at, ":")
			place := object{"path": path}
			if number, err := strconv.Atoi(line); err == nil {
				place["line"] = number
			}
			finding["evidence"] = []object{place}
			delete(finding, "at")
		}
		high = high || finding["severity"] == "high"
		full = append(full, finding)
	}
	return full, high
}

func (s step) arbitrated(ids []string) (string, error) {
	rulings := []object{}
	err := each(ids, s.Arbitrate, func(id, decision string) {
		ruling := object{"finding": id, "decision": decision, "reason": s.reason()}
		if decision == "fix" {
			ruling["change"] = "the smallest one"
		}
		rulings = append(rulings, ruling)
	})
	if err != nil {
		return "", err
	}
	return block(object{"rulings": rulings})
}

func (s step) fixed(ids []string) (string, error) {
	report := []object{}
	err := each(ids, s.Fix, func(id string, status any) {
		entry := object{"finding": id, "status": status}
		switch status := status.(type) {
		case object:
			for key, value := range status {
				entry[key] = value
			}
		case string:
			if status == "refuted" {
				entry["evidence"] = s.reason()
			} else {
				entry["tests"], entry["command"], entry["output"] = []string{"TestScripted"}, "go test ./...", "ok"
			}
		}
		report = append(report, entry)
	})
	if err != nil {
		return "", err
	}
	return block(object{"fix_report": report})
}

// each visits the findings of the prompt that the map names, by id or by "*". An id that the
// prompt does not have is a mistake in the script.
func each[T any](ids []string, by map[string]T, visit func(id string, value T)) error {
	left := len(by)
	all, star := by["*"]
	if star {
		left--
	}
	for _, id := range ids {
		value, named := by[id]
		if named {
			left--
		}
		switch {
		case named:
			visit(id, value)
		case star:
			visit(id, all)
		}
	}
	if left > 0 {
		return fmt.Errorf("the prompt is about %q, the script's step about %v", ids, by)
	}
	return nil
}

// block is a fenced JSON object.
func block(value object) (string, error) {
	text, err := encode(value)
	return "```json\n" + text + "```", err
}

func encode(value any) (string, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return b.String(), err
}

// findings are the ids that the prompt's first line names.
func (h header) findings() []string {
	if h["findings"] == "" || h["findings"] == "-" {
		return nil
	}
	return strings.Split(h["findings"], ",")
}

// changed reads the paths of the prompt's list of changed files: one JSON string
// a line between marks. The first such list is the prompt's own: what it quotes comes later.
func (t turn) changed() []string {
	paths := []string{}
	_, rest, _ := strings.Cut(t.prompt, "[begin untrusted changed files ")
	mark, rest, ok := strings.Cut(rest, "]\n")
	if !ok {
		return paths
	}
	list, _, _ := strings.Cut(rest, "[end untrusted changed files "+mark+"]")
	for line := range strings.Lines(list) {
		var path string
		if json.Unmarshal([]byte(line), &path) == nil {
			paths = append(paths, path)
		}
	}
	return paths
}
