package fakemodel

import (
	"encoding/json"
	"maps"
	"strings"
)

// Finding is one finding of a scripted review.
type Finding struct {
	Severity string // high when empty
	Title    string
	Claim    string // the title when empty
	Path     string
	Line     int
}

// Pass is a whole review without a high finding.
func Pass(findings ...Finding) string { return review("pass", findings) }

// Block is a whole review with high findings.
func Block(findings ...Finding) string { return review("block", findings) }

func review(verdict string, findings []Finding) string {
	list := []object{}
	for _, f := range findings {
		severity, claim := f.Severity, f.Claim
		if severity == "" {
			severity = "high"
		}
		if claim == "" {
			claim = f.Title
		}
		list = append(list, object{
			"severity": severity, "kind": "patch", "title": f.Title, "claim": claim,
			"evidence": []object{{"path": f.Path, "line": f.Line}},
		})
	}
	return "I read the change.\n\n" + block(object{
		"verdict": verdict, "confidence": 0.9, "evidence": "{{evidence}}", "reviewed": "{{reviewed}}", "findings": list,
	}) + "\n\nVERDICT: " + strings.ToUpper(verdict)
}

// Confirmed is a confirmer's answer that the finding of its prompt holds.
func Confirmed() string {
	return block(object{"finding": "{{findings}}", "confirmed": true, "reason": "I followed it through the code.", "evidence": "{{evidence}}"})
}

// Addressed is a whole re-review in which every finding of its prompt is gone.
func Addressed() string {
	return block(object{
		"verdict": "pass", "confidence": 0.9, "evidence": "{{evidence}}", "reviewed": "{{reviewed}}", "rechecked": "{{addressed}}", "findings": []object{},
	}) + "\n\nVERDICT: PASS"
}

// Fixed is a writer's report that every finding of its prompt is mended.
func Fixed() string { return block(object{"fix_report": "{{fixed}}"}) }

// lists are the placeholders that stand for JSON lists; elsewhere in a JSON value a placeholder is text.
var lists = strings.NewReplacer(`"{{reviewed}}"`, "{{reviewed}}", `"{{addressed}}"`, "{{addressed}}", `"{{fixed}}"`, "{{fixed}}")

func block(answer object) string {
	text, _ := json.Marshal(answer)
	return "```json\n" + lists.Replace(string(text)) + "\n```"
}

// addressed and fixed say of each finding that it is gone: in a re-review, and in a writer's report.
func addressed(findings []string) string {
	return perFinding(findings, object{"status": "addressed", "reason": "I read the code."})
}

func fixed(findings []string) string {
	return perFinding(findings, object{"status": "fixed", "tests": []string{"TestSum"}, "command": "go test ./...", "output": "ok"})
}

func perFinding(findings []string, entry object) string {
	list := []object{}
	for _, id := range findings {
		one := maps.Clone(entry)
		one["finding"] = id
		list = append(list, one)
	}
	text, _ := json.Marshal(list)
	return string(text)
}

type object = map[string]any
