package fakemodel

import (
	"encoding/json"
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
	answer, _ := json.Marshal(object{
		"verdict": verdict, "confidence": 0.9, "evidence": "{{evidence}}", "reviewed": "{{reviewed}}", "findings": list,
	})
	text := strings.Replace(string(answer), `"{{reviewed}}"`, "{{reviewed}}", 1)
	return "I read the change.\n\n```json\n" + text + "\n```\n\nVERDICT: " + strings.ToUpper(verdict)
}

type object = map[string]any
