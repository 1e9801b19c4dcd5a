package verifier

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// plain turns output into readable text: events of go test -json become the text they carry, terminal sequences and
// control characters go, a carriage return starts its line anew as a terminal shows it, bad bytes become U+FFFD.
func plain(output []byte) string {
	output = fromEvents(output)
	var out strings.Builder
	out.Grow(len(output))
	for len(output) > 0 {
		line := output
		if end := bytes.IndexByte(output, '\n'); end >= 0 {
			line, output = output[:end], output[end+1:]
		} else {
			output = nil
		}
		writeLine(&out, line)
		out.WriteByte('\n')
	}
	return out.String()
}

// writeLine writes what stays of one line.
func writeLine(out *strings.Builder, line []byte) {
	line = bytes.TrimRight(line, "\r")
	if i := bytes.LastIndexByte(line, '\r'); i >= 0 {
		line = line[i+1:] // a progress line that was overwritten
	}
	for i := 0; i < len(line); {
		b := line[i]
		switch {
		case b == 0x1b:
			i += sequence(line[i:])
		case b == '\t' || b >= 0x20 && b < 0x7f:
			out.WriteByte(b)
			i++
		case b < utf8.RuneSelf:
			i++
		default:
			r, size := utf8.DecodeRune(line[i:])
			out.WriteRune(r)
			i += size
		}
	}
}

// sequence returns the length of the terminal sequence at the start of s.
func sequence(s []byte) int {
	if len(s) < 2 {
		return 1
	}
	n := 2
	switch s[1] {
	case '[':
		for n < len(s) && s[n] >= 0x20 && s[n] <= 0x3f {
			n++
		}
		if n < len(s) && s[n] >= 0x40 && s[n] <= 0x7e {
			n++
		}
	case ']':
		for ; n < len(s); n++ {
			if s[n] == 0x07 {
				return n + 1
			}
			if s[n] == 0x1b && n+1 < len(s) && s[n+1] == '\\' {
				return n + 2
			}
		}
	}
	return n
}

// event is one line of go test -json.
type event struct {
	Action string
	Output *string
}

// fromEvents replaces the events of go test -json by their output; other lines stay. Output of another tool that
// happens to be JSON is left alone: an event has an action that go test knows.
func fromEvents(output []byte) []byte {
	if !bytes.Contains(output, []byte(`"Action":"`)) {
		return output
	}
	var out bytes.Buffer
	for len(output) > 0 {
		line := output
		if end := bytes.IndexByte(output, '\n'); end >= 0 {
			line, output = output[:end+1], output[end+1:]
		} else {
			output = nil
		}
		var e event
		if !bytes.HasPrefix(line, []byte("{")) || json.Unmarshal(line, &e) != nil || !actions[e.Action] {
			out.Write(line)
			continue
		}
		if e.Output != nil {
			out.WriteString(*e.Output)
		}
	}
	return out.Bytes()
}

var actions = map[string]bool{
	"start": true, "run": true, "pause": true, "cont": true, "pass": true, "bench": true, "fail": true, "output": true,
	"skip": true, "attr": true, "artifacts": true, "build-output": true, "build-fail": true,
}
