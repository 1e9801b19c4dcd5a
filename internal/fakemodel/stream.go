package fakemodel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"
)

// reply is an answer before it is put into a protocol.
type reply struct {
	id    string
	model string
	text  string
	calls []call
	usage Usage
	at    time.Time
}

// stream writes server-sent events.
type stream struct {
	w      http.ResponseWriter
	number int
	cut    bool
}

func (s *stream) raw(text string) {
	_, _ = fmt.Fprint(s.w, text)
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
}

func (s *stream) event(name string, data any) {
	raw, _ := json.Marshal(data)
	if name != "" {
		name = "event: " + name + "\n"
	}
	s.raw(name + "data: " + string(raw) + "\n\n")
}

// numbered is an event of the Responses API.
func (s *stream) numbered(name string, data object) {
	data["type"], data["sequence_number"] = name, s.number
	s.number++
	s.event(name, data)
}

// maybeCut ends the connection here when the step wants it.
func (s *stream) maybeCut() {
	if s.cut {
		panic(http.ErrAbortHandler)
	}
}

// halves splits a text so that it comes in two pieces.
func halves(text string) []string {
	middle := len(text) / 2
	for middle > 0 && !utf8.RuneStart(text[middle]) {
		middle--
	}
	if middle == 0 {
		return []string{text}
	}
	return []string{text[:middle], text[middle:]}
}
