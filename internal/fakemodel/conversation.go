package fakemodel

import (
	"encoding/json"
	"regexp"
	"strconv"

	"conclave/internal/prompt"
)

// conversation is a request in words that are common to all protocols.
type conversation struct {
	api       API
	model     string // as requested
	stream    bool
	tools     []string // that the program offers
	header    prompt.Header
	main      bool   // the turn itself
	prompt    string // the text that begins with the header
	workspace string // as the program says it to its model
	step      int    // how many messages the model has given since that prompt
}

// item is a part of a conversation: a text, or the result of a call.
type item struct {
	text   string
	result string // id of the call; "?" where the protocol has none
}

// stepMark stands before a step's number in the ids of its calls, which come back with the results.
const stepMark = "step"

var (
	stepPattern      = regexp.MustCompile(stepMark + `(\d+)_`)
	workspacePattern = regexp.MustCompile(`(?m)(?:[Ww]orking directory: |currently working in the directory: |<cwd>|Workspace Directories:\*{0,2}\s+- )(/[^<\n]*)`)
)

// settle derives what the protocols do not say: the header, the workspace and the step.
func (c *conversation) settle(items []item) {
	texts := make([]string, len(items))
	for i, it := range items {
		texts[i] = it.text
		if m := workspacePattern.FindStringSubmatch(it.text); m != nil && c.workspace == "" {
			c.workspace = m[1]
		}
	}
	at, h := header(texts)
	if at < 0 {
		return
	}
	c.header, c.prompt, c.main = h, texts[at], len(c.tools) > 0
	counted := 0
	for _, it := range items[at+1:] {
		if it.result == "" {
			continue
		}
		if m := stepPattern.FindStringSubmatch(it.result); m != nil {
			n, _ := strconv.Atoi(m[1])
			c.step = max(c.step, n+1)
			continue
		}
		counted++
	}
	if c.step == 0 {
		c.step = counted
	}
}

// texts reads a content that is a string or a list of parts.
func texts(raw json.RawMessage) []string {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return nil
	}
	var out []string
	for _, p := range parts {
		if p.Text != "" {
			out = append(out, p.Text)
		}
	}
	return out
}

func asItems(texts []string) []item {
	var out []item
	for _, t := range texts {
		out = append(out, item{text: t})
	}
	return out
}
