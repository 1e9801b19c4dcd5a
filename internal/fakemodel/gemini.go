package fakemodel

import "encoding/json"

type geminiRequest struct {
	System struct {
		Parts []geminiPart `json:"parts"`
	} `json:"systemInstruction"`
	Contents []struct {
		Parts []geminiPart `json:"parts"`
	} `json:"contents"`
	Tools []struct {
		Declarations []struct {
			Name string `json:"name"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
}

type geminiPart struct {
	Text     string `json:"text"`
	Response *struct {
		ID string `json:"id"`
	} `json:"functionResponse"`
}

func readGemini(body []byte, model string, stream bool) (conversation, error) {
	var r geminiRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return conversation{}, err
	}
	c := conversation{api: Gemini, model: model, stream: stream}
	for _, t := range r.Tools {
		for _, d := range t.Declarations {
			c.tools = append(c.tools, d.Name)
		}
	}
	var items []item
	for _, p := range r.System.Parts {
		items = append(items, item{text: p.Text})
	}
	for _, content := range r.Contents {
		answered := false // one content holds the results of all calls of one message
		for _, p := range content.Parts {
			switch {
			case p.Response == nil:
				items = append(items, item{text: p.Text})
			case !answered:
				answered = true
				items = append(items, item{result: "?"})
			}
		}
	}
	c.settle(items)
	return c, nil
}

func (r reply) geminiParts() []object {
	var parts []object
	if r.text != "" {
		parts = append(parts, object{"text": r.text})
	}
	for _, c := range r.calls {
		parts = append(parts, object{"functionCall": object{"name": c.name, "args": c.input}, "thoughtSignature": "c2lnbmVk"})
	}
	return parts
}

func (r reply) geminiChunk(parts []object, last bool) object {
	candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
	if last {
		candidate["finishReason"] = "STOP"
	}
	return object{
		"candidates": []object{candidate}, "modelVersion": r.model, "responseId": r.id,
		"usageMetadata": object{
			"promptTokenCount": r.usage.Input, "cachedContentTokenCount": r.usage.Cached, "candidatesTokenCount": r.usage.Output,
			"totalTokenCount": r.usage.Input + r.usage.Output,
		},
	}
}

func (r reply) geminiWhole() object { return r.geminiChunk(r.geminiParts(), true) }

func (r reply) geminiStream(s *stream) {
	if r.text != "" {
		parts := halves(r.text)
		for i, part := range parts {
			s.event("", r.geminiChunk([]object{{"text": part}}, len(r.calls) == 0 && i == len(parts)-1))
			s.maybeCut()
		}
	}
	if calls := (reply{calls: r.calls}).geminiParts(); len(calls) > 0 {
		s.event("", r.geminiChunk(calls, true))
	}
}
