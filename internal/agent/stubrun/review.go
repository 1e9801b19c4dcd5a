package stubrun

import (
	"encoding/json"
	"strings"
)

// reviewAnswer is a reviewer's answer: JSON where the prompt asks for it, and the verdict line.
func reviewAnswer(role string, h map[string]string, prompt string) string {
	const words = "Dry run: a stub stands for this reviewer and has read nothing.\n\n"
	const verdict = "VERDICT: PASS"
	if !asksForJSON(prompt) {
		return words + verdict
	}
	answer := map[string]any{
		"verdict": "pass", "confidence": 0.5, "evidence": h["evidence"], "reviewed": changedPaths(prompt), "findings": []any{},
	}
	if role == "recheck" {
		rechecked := []any{}
		for _, f := range findings(h) {
			rechecked = append(rechecked, map[string]any{"finding": f, "status": "addressed", "reason": "dry run"})
		}
		answer["rechecked"] = rechecked
	}
	return words + jsonBlock(answer) + "\n" + verdict
}

// asksForJSON looks for the form of a JSON answer outside of the fences.
func asksForJSON(prompt string) bool { return strings.Contains(outside(prompt), "\"reviewed\":") }

// changedPaths reads the paths of the fence with the changed files: a JSON string in each line.
func changedPaths(prompt string) []string {
	paths := []string{}
	for line := range strings.Lines(fenced(prompt, "untrusted changed files")) {
		var path string
		if json.Unmarshal([]byte(line), &path) == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

// fenced is the text of the first fence with this label; "" when there is none.
func fenced(prompt, label string) string {
	_, fences := unfence(prompt)
	for _, f := range fences {
		if f.label == label {
			return f.text
		}
	}
	return ""
}

// outside is the prompt without what stands in fences.
func outside(prompt string) string {
	text, _ := unfence(prompt)
	return text
}

type fence struct{ label, text string }

// unfence takes the fences out of a prompt. Marks inside of a fence are its text; one that nothing closes ends the prompt.
func unfence(prompt string) (string, []fence) {
	var kept strings.Builder
	var fences []fence
	for {
		before, rest, _ := strings.Cut(prompt, "\n[begin ")
		kept.WriteString(before)
		mark, rest, ok := strings.Cut(rest, "]\n")
		if !ok {
			return kept.String(), fences
		}
		var text string
		if text, prompt, ok = strings.Cut("\n"+rest, "\n[end "+mark+"]"); !ok {
			return kept.String(), fences
		}
		label := mark
		if i := strings.LastIndexByte(mark, ' '); i >= 0 {
			label = mark[:i]
		}
		fences = append(fences, fence{label, strings.TrimPrefix(text, "\n")})
	}
}
