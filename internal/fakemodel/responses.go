package fakemodel

import (
	"encoding/json"
	"maps"
)

type responsesRequest struct {
	Model        string          `json:"model"`
	Stream       bool            `json:"stream"`
	Instructions string          `json:"instructions"`
	Input        json.RawMessage `json:"input"`
	Tools        []struct {
		Type string `json:"type"`
		Name string `json:"name"`
	} `json:"tools"`
}

func readResponses(body []byte) (conversation, error) {
	var r responsesRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return conversation{}, err
	}
	c := conversation{api: Responses, model: r.Model, stream: r.Stream}
	for _, t := range r.Tools {
		if t.Name == "" {
			t.Name = t.Type
		}
		c.tools = append(c.tools, t.Name)
	}
	items := []item{{text: r.Instructions}}
	var list []struct {
		Type    string          `json:"type"`
		Content json.RawMessage `json:"content"`
		CallID  string          `json:"call_id"`
	}
	if json.Unmarshal(r.Input, &list) != nil {
		items = append(items, asItems(texts(r.Input))...)
	}
	for _, in := range list {
		switch in.Type {
		case "function_call_output", "custom_tool_call_output":
			items = append(items, item{result: in.CallID})
		default:
			items = append(items, asItems(texts(in.Content))...)
		}
	}
	c.settle(items)
	return c, nil
}

func (r reply) responsesItems() []object {
	items := []object{}
	if r.text != "" {
		items = append(items, object{
			"type": "message", "id": "msg_" + r.id, "role": "assistant", "status": "completed",
			"content": []object{{"type": "output_text", "text": r.text, "annotations": []any{}}},
		})
	}
	for _, c := range r.calls {
		one := object{"type": "function_call", "id": "fc_" + c.id, "call_id": c.id, "name": c.name, "status": "completed", "arguments": string(c.input)}
		if c.custom {
			var input string
			_ = json.Unmarshal(c.input, &input)
			one = object{"type": "custom_tool_call", "id": "ctc_" + c.id, "call_id": c.id, "name": c.name, "status": "completed", "input": input}
		}
		items = append(items, one)
	}
	return items
}

func (r reply) responsesWhole(status string) object {
	whole := object{"id": "resp_" + r.id, "object": "response", "created_at": r.at.Unix(), "status": status, "model": r.model, "output": []object{}, "usage": nil}
	if status == "completed" {
		whole["output"] = r.responsesItems()
		whole["usage"] = object{
			"input_tokens": r.usage.Input, "input_tokens_details": object{"cached_tokens": r.usage.Cached},
			"output_tokens": r.usage.Output, "output_tokens_details": object{"reasoning_tokens": 0},
			"total_tokens": r.usage.Input + r.usage.Output,
		}
	}
	return whole
}

func (r reply) responsesStream(s *stream) {
	s.numbered("response.created", object{"response": r.responsesWhole("in_progress")})
	for i, it := range r.responsesItems() {
		started := maps.Clone(it)
		started["status"] = "in_progress"
		switch it["type"] {
		case "message":
			started["content"] = []object{}
			s.numbered("response.output_item.added", object{"output_index": i, "item": started})
			s.numbered("response.content_part.added", object{
				"item_id": it["id"], "output_index": i, "content_index": 0, "part": object{"type": "output_text", "text": "", "annotations": []any{}},
			})
			for _, part := range halves(r.text) {
				s.numbered("response.output_text.delta", object{"item_id": it["id"], "output_index": i, "content_index": 0, "delta": part})
				s.maybeCut()
			}
			s.numbered("response.output_text.done", object{"item_id": it["id"], "output_index": i, "content_index": 0, "text": r.text})
		case "custom_tool_call":
			started["input"] = ""
			s.numbered("response.output_item.added", object{"output_index": i, "item": started})
			s.numbered("response.custom_tool_call_input.delta", object{"item_id": it["id"], "output_index": i, "delta": it["input"]})
			s.numbered("response.custom_tool_call_input.done", object{"item_id": it["id"], "output_index": i, "input": it["input"]})
		default:
			started["arguments"] = ""
			s.numbered("response.output_item.added", object{"output_index": i, "item": started})
			s.numbered("response.function_call_arguments.delta", object{"item_id": it["id"], "output_index": i, "delta": it["arguments"]})
			s.numbered("response.function_call_arguments.done", object{"item_id": it["id"], "output_index": i, "arguments": it["arguments"]})
		}
		s.numbered("response.output_item.done", object{"output_index": i, "item": it})
	}
	s.numbered("response.completed", object{"response": r.responsesWhole("completed")})
}
