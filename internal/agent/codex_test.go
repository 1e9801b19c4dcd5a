package agent

import (
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/process"
	"conclave/internal/record"
)

// TestWhatCodexSaysOnItsWayIsNoAnswer: a turn can end without a message, and then leaves an empty file for it. What was said
// before the last call of a tool may look like an answer.
func TestWhatCodexSaysOnItsWayIsNoAnswer(t *testing.T) {
	say := func(text string) string {
		return `{"type":"item.completed","item":{"type":"agent_message","text":"` + text + `"}}`
	}
	const ended = `{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}`
	for _, tool := range []string{"command_execution", "file_change", "web_search", "mcp_tool_call"} {
		for _, kind := range []string{"item.started", "item.completed"} {
			used := `{"type":"` + kind + `","item":{"type":"` + tool + `"}}`
			for want, lines := range map[record.Class][]string{
				record.ClassMalformed: {say("VERDICT: PASS"), used, ended},
				record.ClassOK:        {say("I look"), used, say("VERDICT: BLOCK"), ended},
			} {
				p := codex{}.Parser(TurnSpec{})
				for _, line := range lines {
					p.Line([]byte(line))
				}
				o := p.Outcome(ProcessEnd{Cause: string(process.CauseExited), LastMessage: []byte{}})
				require.Equal(t, want, o.Class, o.Message)
				require.NotContains(t, string(o.Final), "PASS")
			}
		}
	}
}
