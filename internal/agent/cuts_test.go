package agent

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// cutEveryByte is the length up to which a stream is cut at every byte; beyond, at every line.
const cutEveryByte = 32 << 10

// TestStreamsCutAtEveryByte: a stream that ends before its terminal event is never ok, whatever the exit code, and what
// is left of the line that was cut changes nothing. So one parser per line does for all cuts within the next one.
func TestStreamsCutAtEveryByte(t *testing.T) {
	cutsMade := 0
	eachCapture(t, func(t *testing.T, adapter string, e expectation) {
		stdout, stderr := readCapture(t, adapter, e.name)
		terminal := terminalLine(stdout)
		pos := 0
		for line := range bytes.Lines(stdout) {
			p := newParser(t, adapter)
			feed(p, stdout[:pos])
			before := [2]Outcome{p.Outcome(EndFromExit(0, stderr)), p.Outcome(EndFromExit(1, stderr))}
			body := bytes.TrimSuffix(line, []byte("\n"))
			for n := range body[:min(len(body), max(cutEveryByte-pos, 0))] {
				cutsMade++
				if events := p.Line(body[:n]); len(events) > 0 {
					require.Empty(t, events, "cut at byte %d", pos+n)
				}
			}
			for exit, o := range before {
				require.Equal(t, o, p.Outcome(EndFromExit(exit, stderr)), "a line that was cut has changed something, at byte %d", pos)
				require.NotEmpty(t, o.Class)
				if terminal < 0 || pos < terminal {
					require.NotEqual(t, ok, o.Class, "cut at byte %d, exit %d", pos, exit)
					require.Empty(t, o.Final)
					require.NotEmpty(t, o.Message)
					require.NotEmpty(t, o.Code)
				}
			}
			pos += len(line)
		}
	})
	require.Greater(t, cutsMade, 400_000)
}

// TestALimitOfOursEndsEveryStream: 124 and 137 mean that we ended the program, in every stream and wherever it is cut.
func TestALimitOfOursEndsEveryStream(t *testing.T) {
	eachCapture(t, func(t *testing.T, adapter string, e expectation) {
		stdout, stderr := readCapture(t, adapter, e.name)
		for _, n := range cuts(stdout) {
			for _, exit := range []int{124, 137} {
				p := newParser(t, adapter)
				events := feed(p, stdout[:n])
				want := timeout
				if firstFatal(events) > 0 { // after which going on was of no use
					want = permanent
				}
				o := p.Outcome(EndFromExit(exit, stderr))
				require.Equal(t, want, o.Class, "cut at byte %d, exit %d", n, exit)
				require.Empty(t, o.Final)
			}
		}
	})
}
