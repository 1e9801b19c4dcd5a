package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// voice prints what a CLI prints.
type voice interface {
	begin(s step)
	action(text string)
	end(s step) error
}

func speaker(c call) voice {
	switch c.as {
	case "claude":
		return claude{c}
	case "codex":
		return codex{c}
	}
	return plain{}
}

// plain is a program without a format of its own: what it says is its answer.
type plain struct{}

func (plain) begin(step) {}

func (plain) action(string) {}

func (plain) end(s step) error {
	fmt.Println(s.Say)
	return nil
}

func line(value any) {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(raw))
}

type object = map[string]any

const session = "00000000-0000-4000-8000-000000000001"

// claude speaks stream-json.
type claude struct{ call }

func (c claude) model(s step) string {
	if s.Model != "" {
		return s.Model
	}
	if model := c.call.model(); model != "" {
		return model
	}
	return "claude-sonnet-4-5"
}

func (c claude) begin(step) {
	line(object{"type": "system", "subtype": "init", "session_id": session, "model": c.model(step{}), "tools": []string{"Read", "Edit"}, "cwd": "."})
}

func (c claude) action(text string) {
	line(object{"type": "assistant", "session_id": session, "message": object{"role": "assistant", "model": c.model(step{}), "content": []object{
		{"type": "tool_use", "id": "t1", "name": "Bash", "input": object{"command": text}},
	}}})
}

func (c claude) end(s step) error {
	line(object{"type": "assistant", "session_id": session, "message": object{"role": "assistant", "model": c.model(s), "content": []object{
		{"type": "text", "text": s.Say},
	}}})
	line(object{
		"type": "result", "subtype": "success", "is_error": false, "result": s.Say, "session_id": session, "num_turns": 1,
		"total_cost_usd": 0.01, "usage": object{"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 5},
	})
	return nil
}

// codex speaks the JSONL of `codex exec --json` and writes its last message to -o FILE.
type codex struct{ call }

func (c codex) begin(step) {
	line(object{"type": "thread.started", "thread_id": session})
	line(object{"type": "turn.started"})
}

func (c codex) action(text string) {
	line(object{"type": "item.completed", "item": object{"id": "item_0", "type": "command_execution", "command": text, "status": "completed", "exit_code": 0}})
}

func (c codex) end(s step) error {
	line(object{"type": "item.completed", "item": object{"id": "item_1", "type": "agent_message", "text": s.Say}})
	line(object{"type": "turn.completed", "usage": object{"input_tokens": 200, "cached_input_tokens": 10, "output_tokens": 30}})
	if i := slices.Index(c.rest, "-o"); i >= 0 && i+1 < len(c.rest) {
		return os.WriteFile(c.rest[i+1], []byte(s.Say), 0o600)
	}
	return nil
}

func ignoreSignals() { signal.Ignore(syscall.SIGTERM, syscall.SIGINT) }
