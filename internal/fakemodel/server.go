package fakemodel

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/internal/prompt"
)

// Request is one request as it arrived.
type Request struct {
	API    API
	Path   string
	Model  string
	Tools  []string
	Header prompt.Header
	// Main says that it belongs to a turn, and is no side request.
	Main   bool
	Turn   int    // of the script; -1 when none fits
	Step   int    // of the turn
	Prompt string // the newest text that begins with a header
	Body   []byte
	At     time.Time
}

// Server is the handler. Its zero value has an empty script.
type Server struct {
	mutex    sync.Mutex
	script   Script
	requests []Request
	strays   []string
	failed   map[[2]int]int // requests that a step has failed
	finals   map[int]int    // final answers that a turn has given
	done     chan struct{}  // closed when silent answers are to end
	// Before, when not nil, is called with every request before it is answered. It is set before the server serves.
	Before func(Request)
}

// New returns a server that plays a script.
func New(script Script) *Server {
	s := &Server{done: make(chan struct{})}
	s.Play(script)
	return s
}

// Play replaces the script and forgets its counts. Requests stay listed.
func (s *Server) Play(script Script) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.script, s.failed, s.finals = script, map[[2]int]int{}, map[int]int{}
}

// Requests lists what has arrived so far, in order of arrival.
func (s *Server) Requests() []Request {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Clone(s.requests)
}

// Strays are the paths of requests that belong to no protocol: what was planted somewhere may call here to say that it runs.
func (s *Server) Strays() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Clone(s.strays)
}

// stray takes note of a request that belongs to no protocol.
func (s *Server) stray(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	s.strays = append(s.strays, r.URL.Path)
	s.mutex.Unlock()
	http.NotFound(w, r)
}

// ServeHTTP answers the routes of all four protocols, whatever stands before them.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	path := r.URL.Path
	model, method, _ := strings.Cut(path[strings.LastIndex(path, "/")+1:], ":")
	var c conversation
	switch {
	case r.Method == http.MethodGet && strings.HasSuffix(path, "/models"):
		writeJSON(w, http.StatusOK, object{"object": "list", "data": []object{}})
		return
	case r.Method != http.MethodPost:
		s.stray(w, r)
		return
	case strings.HasSuffix(path, "/count_tokens"), method == "countTokens":
		writeJSON(w, http.StatusOK, object{"input_tokens": 1000, "totalTokens": 1000})
		return
	case strings.HasSuffix(path, "/messages"):
		c, err = readAnthropic(body)
	case strings.HasSuffix(path, "/responses"):
		c, err = readResponses(body)
	case strings.HasSuffix(path, "/chat/completions"):
		c, err = readChat(body)
	case method == "streamGenerateContent", method == "generateContent":
		c, err = readGemini(body, model, method == "streamGenerateContent")
	default:
		s.stray(w, r)
		return
	}
	if err != nil {
		http.Error(w, "fakemodel: "+err.Error(), http.StatusBadRequest)
		return
	}
	step, failure, number, seen := s.next(c, path, body)
	if s.Before != nil {
		s.Before(seen)
	}
	s.answer(w, r, c, step, failure, number)
}

// next chooses the step for a request and takes the request into the list, where it has a number.
func (s *Server) next(c conversation, path string, body []byte) (Step, *Failure, int, Request) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	turn, at := -1, 0
	step, failure := Step{Say: s.script.Side}, s.script.SideFail
	if step.Say == "" {
		step.Say = "A side answer"
	}
	if c.main {
		turn = slices.IndexFunc(s.script.Turns, func(t Turn) bool { return t.fits(c) })
		for turn >= 0 && s.used(turn) {
			next := slices.IndexFunc(s.script.Turns[turn+1:], func(t Turn) bool { return t.fits(c) })
			if turn += next + 1; next < 0 {
				turn = -1
			}
		}
		if step, at, failure = s.play(turn, c); failure == nil && turn >= 0 && at == len(s.script.Turns[turn].Steps)-1 {
			s.finals[turn]++
		}
	}
	seen := Request{
		API: c.api, Path: path, Model: c.model, Tools: c.tools, Header: c.header, Main: c.main, Turn: turn, Step: at,
		Prompt: c.prompt, Body: body, At: time.Now(),
	}
	s.requests = append(s.requests, seen)
	return step, failure, len(s.requests), seen
}

func (s *Server) used(turn int) bool {
	times := s.script.Turns[turn].Times
	return times > 0 && s.finals[turn] >= times
}

// play is the step that a conversation has come to.
func (s *Server) play(turn int, c conversation) (Step, int, *Failure) {
	if turn < 0 || len(s.script.Turns[turn].Steps) == 0 {
		return Step{}, 0, &Failure{Kind: Unscripted}
	}
	steps := s.script.Turns[turn].Steps
	at := min(c.step, len(steps)-1)
	step := steps[at]
	if c.step >= len(steps) { // its tools were called already
		step = Step{Say: step.Say, Model: step.Model, Usage: step.Usage}
	}
	key := [2]int{turn, at}
	if f := step.Fail; f != nil && (f.Times == 0 || s.failed[key] < f.Times) {
		s.failed[key]++
		return step, at, f
	}
	return step, at, nil
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, c conversation, step Step, failure *Failure, number int) {
	if !s.wait(r, step.Delay) {
		return
	}
	w.Header().Set("Request-Id", fmt.Sprintf("req_scripted%04d", number))
	out := reply{
		id: fmt.Sprintf("scripted%04d", number), model: c.model, text: c.fill(step.Say), calls: c.calls(step, number), usage: DefaultUsage, at: time.Now(),
	}
	if step.Model != "" {
		out.model = step.Model
	}
	if step.Usage != nil {
		out.usage = *step.Usage
	}
	if failure != nil && s.fail(w, r, c, *failure) {
		return
	}
	if out.text == "" && len(out.calls) == 0 {
		out.text = "Nothing to say."
	}
	cut := failure != nil && failure.Kind == Cut
	if !c.stream && !cut {
		writeJSON(w, http.StatusOK, out.whole(c.api))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	out.stream(c.api, &stream{w: w, cut: cut})
}

// fail answers with a failure; false leaves the answer to the caller.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, c conversation, f Failure) bool {
	if status := f.Kind.status(c.api); status != http.StatusOK {
		now := time.Now()
		f.head(w.Header(), c.api, now)
		writeJSON(w, status, f.body(c.api, now))
		return true
	}
	if f.Kind == Cut {
		return false
	}
	w.Header().Set("Content-Type", "text/event-stream")
	out := &stream{w: w}
	switch f.Kind {
	case Malformed:
		out.raw("data: {\"type\": \"message_st\n\ndata: <html>bad gateway</html>\n\n")
	case StreamFailure:
		streamError(out, c.api)
	default: // silent
		out.raw("")
		s.wait(r, time.Hour)
	}
	return true
}

// streamError is the protocol's way to say in a stream that it is overloaded.
func streamError(s *stream, api API) {
	f := Failure{Kind: Overloaded}
	body := f.body(api, time.Now())
	switch api {
	case Anthropic:
		s.event("error", body)
	case Responses:
		failed := reply{id: "failed", at: time.Now()}.responsesWhole("failed")
		failed["error"] = object{"code": openAIWords[Overloaded].code, "message": openAIWords[Overloaded].text}
		s.numbered("response.failed", object{"response": failed})
	default:
		s.event("", body)
	}
}

// wait passes time; false means that nobody waits for the answer any more.
func (s *Server) wait(r *http.Request, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	select {
	case <-time.After(d):
		return true
	case <-r.Context().Done():
	case <-s.done:
	}
	return false
}

func (r reply) whole(api API) object {
	switch api {
	case Anthropic:
		return r.anthropicWhole()
	case Responses:
		return r.responsesWhole("completed")
	case Chat:
		return r.chatWhole()
	}
	return r.geminiWhole()
}

func (r reply) stream(api API, s *stream) {
	switch api {
	case Anthropic:
		r.anthropicStream(s)
	case Responses:
		r.responsesStream(s)
	case Chat:
		r.chatStream(s)
	default:
		r.geminiStream(s)
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// Listen serves on a free port of the loopback device. end closes all connections, silent ones too.
func (s *Server) Listen() (address string, end func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	return listener.Addr().String(), func() {
		close(s.done)
		_ = server.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			panic(err)
		}
	}, nil
}
