package agent

import (
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/process"
	"conclave/internal/record"
)

// TestAGeminiThatStopsOnItsWayHasNoAnswer: it ends such a turn with a result that says success (by its source, 0.61.0).
func TestAGeminiThatStopsOnItsWayHasNoAnswer(t *testing.T) {
	const said = `{"type":"message","role":"assistant","content":"I look first. VERDICT: PASS"}`
	event := func(severity, message string) string {
		return `{"type":"error","severity":"` + severity + `","message":"` + message + `"}`
	}
	for name, c := range map[string]struct {
		lines []string
		want  record.Class
	}{
		"turns are used up":   {[]string{said, event("error", "Maximum session turns exceeded")}, record.ClassPermanent},
		"a loop":              {[]string{said, event("warning", "Loop detected, stopping execution")}, record.ClassMalformed},
		"a quota":             {[]string{said, event("error", "RESOURCE_EXHAUSTED")}, record.ClassQuota},
		"a warning":           {[]string{said, event("warning", "Agent execution blocked: x")}, record.ClassOK},
		"it went on":          {[]string{event("error", "RESOURCE_EXHAUSTED"), said}, record.ClassOK},
		"it called a tool":    {[]string{event("error", "x"), `{"type":"tool_use","tool_name":"x"}`, `{"type":"tool_result","status":"success"}`, said}, record.ClassOK},
		"without an error":    {[]string{said}, record.ClassOK},
		"an error of no text": {[]string{said, event("error", "")}, record.ClassMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			p := gemini{}.Parser(TurnSpec{})
			for _, line := range append(c.lines, `{"type":"result","status":"success"}`) {
				p.Line([]byte(line))
			}
			o := p.Outcome(ProcessEnd{Cause: string(process.CauseExited)})
			require.Equal(t, c.want, o.Class, o.Message)
			require.Equal(t, c.want == record.ClassOK, len(o.Final) > 0)
		})
	}
}
