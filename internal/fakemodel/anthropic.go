package fakemodel

import "encoding/json"

type anthropicRequest struct {
	Model    string          `json:"model"`
	Stream   bool            `json:"stream"`
	System   json.RawMessage `json:"system"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name string `json:"name"`
	} `json:"tools"`
}

func readAnthropic(body []byte) (conversation, error) {
	var r anthropicRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return conversation{}, err
	}
	c := conversation{api: Anthropic, model: r.Model, stream: r.Stream}
	for _, t := range r.Tools {
		c.tools = append(c.tools, t.Name)
	}
	items := asItems(texts(r.System))
	for _, m := range r.Messages {
		var parts []struct {
			Type string `json:"type"`
			Text string `json:"text"`
			ID   string `json:"tool_use_id"`
		}
		if json.Unmarshal(m.Content, &parts) != nil {
			items = append(items, asItems(texts(m.Content))...)
			continue
		}
		for _, p := range parts {
			items = append(items, item{text: p.Text, result: p.ID})
		}
	}
	c.settle(items)
	return c, nil
}

func (r reply) anthropicContent() []object {
	content := []object{}
	if r.text != "" {
		content = append(content, object{"type": "text", "text": r.text})
	}
	for _, c := range r.calls {
		content = append(content, object{"type": "tool_use", "id": c.id, "name": c.name, "input": c.input})
	}
	return content
}

func (r reply) anthropicUsage() object {
	return object{
		"input_tokens": r.usage.Input - r.usage.Cached, "cache_read_input_tokens": r.usage.Cached,
		"cache_creation_input_tokens": 0, "output_tokens": r.usage.Output,
	}
}

func (r reply) anthropicStop() string {
	if len(r.calls) > 0 {
		return "tool_use"
	}
	return "end_turn"
}

func (r reply) anthropicWhole() object {
	return object{
		"id": r.id, "type": "message", "role": "assistant", "model": r.model, "content": r.anthropicContent(),
		"stop_reason": r.anthropicStop(), "stop_sequence": nil, "usage": r.anthropicUsage(),
	}
}

func (r reply) anthropicStream(s *stream) {
	start := r.anthropicWhole()
	start["content"], start["stop_reason"] = []object{}, nil
	s.event("message_start", object{"type": "message_start", "message": start})
	for i, block := range r.anthropicContent() {
		empty, delta := object{"type": "text", "text": ""}, object{"type": "text_delta"}
		key, whole := "text", r.text
		if block["type"] == "tool_use" {
			input, _ := block["input"].(json.RawMessage)
			empty = object{"type": "tool_use", "id": block["id"], "name": block["name"], "input": object{}}
			delta, key, whole = object{"type": "input_json_delta"}, "partial_json", string(input)
		}
		s.event("content_block_start", object{"type": "content_block_start", "index": i, "content_block": empty})
		for _, part := range halves(whole) {
			delta[key] = part
			s.event("content_block_delta", object{"type": "content_block_delta", "index": i, "delta": delta})
			s.maybeCut()
		}
		s.event("content_block_stop", object{"type": "content_block_stop", "index": i})
	}
	s.event("message_delta", object{
		"type": "message_delta", "delta": object{"stop_reason": r.anthropicStop(), "stop_sequence": nil}, "usage": r.anthropicUsage(),
	})
	s.event("message_stop", object{"type": "message_stop"})
}
