package fakemodel

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"conclave/internal/prompt"
)

// API is one of the protocols.
type API string

// The protocols.
const (
	Anthropic API = "anthropic" // Messages: claude
	Responses API = "responses" // OpenAI Responses: codex
	Chat      API = "chat"      // OpenAI Chat Completions: opencode
	Gemini    API = "gemini"    // generateContent: gemini
)

// Script says what the model does in every turn.
type Script struct {
	// Turns are tried in order; the first that fits plays. A request that none fits gets HTTP 400 with an explanation.
	Turns []Turn `json:"turns"`
	// Side answers requests that are not the turn itself (titles, routing): those without a header or without tools.
	Side string `json:"side,omitempty"`
	// SideFail takes the place of those answers, without a count.
	SideFail *Failure `json:"side_fail,omitempty"`
}

// Turn is what the model does in the turns that it fits. Empty conditions fit everything.
type Turn struct {
	API      API    `json:"api,omitempty"`
	Role     string `json:"role,omitempty"`
	Seat     string `json:"seat,omitempty"`
	Lens     string `json:"lens,omitempty"`
	Round    string `json:"round,omitempty"` // decimal
	Contains string `json:"contains,omitempty"`
	// Times is how many final answers this turn gives before it fits no more; 0 is no limit.
	Times int `json:"times,omitempty"`
	// Steps are the model's messages, one per request: each but the last calls tools. What comes after the last one repeats
	// its text.
	Steps []Step `json:"steps"`
}

// Step is one message of the model. {{workspace}}, {{evidence}}, {{reviewed}} (a JSON list of the changed paths),
// {{findings}}, {{addressed}} and {{fixed}} (JSON lists of what became of these), {{run}}, {{round}}, {{seat}} and {{lens}}
// are replaced in all its texts.
type Step struct {
	Say   string `json:"say,omitempty"`
	Write []File `json:"write,omitempty"` // by the program's own tool for files
	Edit  []Edit `json:"edit,omitempty"`
	Shell string `json:"shell,omitempty"` // by its shell tool
	Read  string `json:"read,omitempty"`  // by its tool that reads a file; codex: by its shell
	Calls []Call `json:"calls,omitempty"` // any other tools, as they are named in the protocol
	Model string `json:"model,omitempty"` // as which the server answers; "" is the requested one
	Usage *Usage `json:"usage,omitempty"` // nil is DefaultUsage
	// Delay passes before the answer begins.
	Delay time.Duration `json:"delay,omitempty"`
	// Fail takes the place of the answer.
	Fail *Failure `json:"fail,omitempty"`
}

// File is a file to write.
type File struct {
	Path    string `json:"path"` // relative to the workspace, or absolute
	Content string `json:"content"`
	// Existing: it is there already, so that a program that wants it read before reads it.
	Existing bool `json:"existing,omitempty"`
}

// Edit replaces whole lines of a file.
type Edit struct {
	Path string `json:"path"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

// Call is one call of a tool.
type Call struct {
	API    API             `json:"api,omitempty"` // "" is every protocol
	Name   string          `json:"name"`
	Input  json.RawMessage `json:"input"`
	Custom bool            `json:"custom,omitempty"` // Responses: the input is a JSON string for a custom tool
}

// Usage is what an answer is said to have cost, in tokens.
type Usage struct {
	Input  int `json:"input"` // cached ones included
	Cached int `json:"cached"`
	Output int `json:"output"`
}

// DefaultUsage is the usage of answers that name none.
var DefaultUsage = Usage{Input: 1000, Cached: 100, Output: 50}

// ParseScript reads a script from JSON. Unknown keys are refused: a misspelt condition would fit everything.
func ParseScript(text []byte) (Script, error) {
	var s Script
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return Script{}, fmt.Errorf("fakemodel: script: %w", err)
	}
	return s, nil
}

// fits says whether the turn is meant for a request.
func (t Turn) fits(c conversation) bool {
	h := c.header
	if t.Round != "" && t.Round != strconv.Itoa(h.Round) {
		return false
	}
	return one(t.API, c.api) && one(t.Role, h.Role) && one(t.Seat, h.Seat) && one(t.Lens, h.Lens) && strings.Contains(c.prompt, t.Contains)
}

func one[T ~string](want, have T) bool { return want == "" || want == have }

// fill replaces the placeholders.
func (c conversation) fill(text string) string {
	if !strings.Contains(text, "{{") {
		return text
	}
	reviewed, _ := json.Marshal(changedPaths(c.prompt))
	h := c.header
	return strings.NewReplacer(
		"{{workspace}}", c.workspace, "{{evidence}}", h.Evidence, "{{reviewed}}", string(reviewed), "{{run}}", h.Run,
		"{{round}}", strconv.Itoa(h.Round), "{{seat}}", h.Seat, "{{lens}}", h.Lens, "{{findings}}", strings.Join(h.Findings, ","),
		"{{addressed}}", addressed(h.Findings), "{{fixed}}", fixed(h.Findings),
	).Replace(text)
}

// changedPaths reads the list of changed paths from a prompt for reviewers.
func changedPaths(text string) []string {
	paths := []string{}
	_, rest, _ := strings.Cut(text, "[begin untrusted changed files ")
	key, rest, found := strings.Cut(rest, "]\n")
	if !found {
		return paths
	}
	list, _, _ := strings.Cut(rest, "[end untrusted changed files "+key)
	for line := range strings.Lines(list) {
		var path string
		if json.Unmarshal([]byte(line), &path) == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

// header finds the newest Conclave header among a conversation's texts: its place, or -1. A text that only quotes one
// does not begin with it.
func header(texts []string) (int, prompt.Header) {
	for i, text := range slices.Backward(texts) {
		if h, err := prompt.ParseHeader([]byte(strings.TrimLeft(text, "\n \""))); err == nil {
			return i, h
		}
	}
	return -1, prompt.Header{}
}
