package fakemodel

import "encoding/json"

type chatRequest struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
		CallID  string          `json:"tool_call_id"`
	} `json:"messages"`
	Tools []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tools"`
}

func readChat(body []byte) (conversation, error) {
	var r chatRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return conversation{}, err
	}
	c := conversation{api: Chat, model: r.Model, stream: r.Stream}
	for _, t := range r.Tools {
		c.tools = append(c.tools, t.Function.Name)
	}
	var items []item
	for _, m := range r.Messages {
		if m.Role == "tool" {
			items = append(items, item{result: m.CallID})
			continue
		}
		items = append(items, asItems(texts(m.Content))...)
	}
	c.settle(items)
	return c, nil
}

func (r reply) chatCalls() []object {
	var calls []object
	for i, c := range r.calls {
		calls = append(calls, object{"index": i, "id": c.id, "type": "function", "function": object{"name": c.name, "arguments": string(c.input)}})
	}
	return calls
}

func (r reply) chatStop() string {
	if len(r.calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}

func (r reply) chatUsage() object {
	return object{
		"prompt_tokens": r.usage.Input, "completion_tokens": r.usage.Output, "total_tokens": r.usage.Input + r.usage.Output,
		"prompt_tokens_details": object{"cached_tokens": r.usage.Cached},
	}
}

func (r reply) chatWhole() object {
	message := object{"role": "assistant", "content": r.text}
	if len(r.calls) > 0 {
		message["tool_calls"] = r.chatCalls()
	}
	return object{
		"id": r.id, "object": "chat.completion", "created": r.at.Unix(), "model": r.model, "usage": r.chatUsage(),
		"choices": []object{{"index": 0, "message": message, "finish_reason": r.chatStop()}},
	}
}

func (r reply) chatStream(s *stream) {
	chunk := func(delta object, stop any) object {
		return object{
			"id": r.id, "object": "chat.completion.chunk", "created": r.at.Unix(), "model": r.model,
			"choices": []object{{"index": 0, "delta": delta, "finish_reason": stop}},
		}
	}
	s.event("", chunk(object{"role": "assistant", "content": ""}, nil))
	if r.text != "" {
		for _, part := range halves(r.text) {
			s.event("", chunk(object{"content": part}, nil))
			s.maybeCut()
		}
	}
	for _, c := range r.chatCalls() {
		s.event("", chunk(object{"tool_calls": []object{c}}, nil))
	}
	s.event("", chunk(object{}, r.chatStop()))
	last := chunk(object{}, nil)
	last["choices"], last["usage"] = []object{}, r.chatUsage()
	s.event("", last)
	s.raw("data: [DONE]\n\n")
}
