package activities

import (
	"time"

	"conclave/internal/agent"
	"conclave/internal/loop"
	"conclave/internal/record"
)

// What a codex prints: a session, a last message, its end.
const (
	codexBegins = `printf '%s\n' '{"type":"thread.started","thread_id":"t-1"}'; printf '%s\n' '{"type":"turn.started"}'` + "\n"
	codexSays   = `printf '%s\n' '{"type":"item.completed","item":{"id":"i1","type":"agent_message","text":"Read it all.\n\nVERDICT: PASS"}}'` + "\n"
	codexEnds   = `printf '%s\n' '{"type":"turn.completed","usage":{"input_tokens":3,"cached_input_tokens":0,"output_tokens":1}}'` + "\n"
	codexFails  = `printf '%s\n' '{"type":"turn.failed","error":{"message":"unexpected status 401 Unauthorized: Incorrect API key provided"}}'` + "\n"
	passes      = codexBegins + codexSays + codexEnds
)

// codexReview is a review by a codex that is a script.
func (l *lab) codexReview(step, script string, limit time.Duration, change loop.Snapshot) *loop.TurnRequest {
	l.plays(script)
	req := l.review(step, change)
	req.Target = record.Engine{Adapter: "codex", Provider: "openai", ModelFamily: "gpt", Model: agent.DefaultModel}
	req.Timeout = limit
	return req
}
