package agent

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"conclave/internal/process"
)

// Recording is what a program left when it ran somewhere else.
type Recording struct {
	Stdout io.Reader
	Stderr string
	// Exit is its exit code: 124 and 137 mean that a limit of ours ended it, a negative number is a signal.
	Exit int
	// LastMessage is the content of the file for the final message, SessionDir the program's session files; both optional.
	LastMessage []byte
	SessionDir  string
}

// stderrMost is how much of a standard error's end is judged, as in a turn.
const stderrMost = 16 << 10

// Explain reads a recording as a turn would read the live program. The turn need hold a target only.
func Explain(a Adapter, t TurnSpec, r Recording) (Outcome, []Event, error) {
	parser := a.Parser(t)
	reader := bufio.NewReaderSize(r.Stdout, 64<<10)
	events := []Event{}
	for {
		line, err := reader.ReadBytes('\n')
		if len(line) > 0 {
			events = append(events, parser.Line(bytes.TrimSuffix(line, []byte("\n")))...)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Outcome{}, nil, err
		}
	}
	stderr := process.Clean(r.Stderr)
	if len(stderr) > stderrMost {
		stderr = lastLines(stderr, stderrMost)
	}
	end := EndFromExit(r.Exit, stderr)
	end.LastMessage, end.SessionDir = r.LastMessage, r.SessionDir
	return parser.Outcome(end), events, nil
}
