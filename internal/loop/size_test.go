package loop_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/artifact"
	"conclave/internal/loop"
	"conclave/internal/record"
)

// The most that activities let through: 20 high findings in each answer of
// eight seats in each of six rounds, all texts as long as may be.
const (
	mostSeats  = 8
	mostHigh   = 20
	mostRounds = 6
	payload    = 64 << 10
	// blob is what Temporal takes in one payload.
	blob = 2 << 20
)

// long is a finding with texts of the greatest length, unlike every other.
func long(c loop.Call, n int) loop.Finding {
	name := fmt.Sprintf("%s %d %d", c.Turn.Seat, c.Turn.Iteration, n)
	f := problem("high", name)
	f.Title = clipTo("Title of "+name+" "+digits(name)+strings.Repeat(" ünd weiter", 20), 120)
	f.Claim = clipTo(strings.Repeat("the claim of "+name+" goes on; ", 40), 600)
	f.Anchor = strings.Repeat("anchor "+digits(name)+" ", 4)
	for i := range 5 {
		f.Evidence = append(f.Evidence, record.Place{Path: fmt.Sprintf("internal/%s/%d.go", digits(name), i), Line: i + 1})
	}
	f.Text = artifact.Of([]byte(name))
	return f
}

// digits are words that no other name shares.
func digits(name string) string { return artifact.Of([]byte(name)).Digest[7:31] }

func clipTo(text string, most int) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), most)])
}

func TestNoRequestGrowsBeyondAPayloadHoweverMuchIsFound(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("plays a run of a thousand turns")
	}
	for name, distinct := range map[string]bool{"all different": true, "all seats find the same": false} {
		t.Run(name, func(t *testing.T) {
			var seats []string
			for i := range mostSeats {
				seats = append(seats, fmt.Sprintf("%s-%d", []string{"codex", "gemini"}[i%2], i))
			}
			in := fullInput(mostRounds, "", seats...)
			w := newFullWorld(t, in)
			w.limit = 5000
			finds := func(c loop.Call) []loop.Finding {
				var out []loop.Finding
				for n := range mostHigh {
					f := long(c, n)
					if !distinct {
						same := c
						request := *c.Turn
						request.Seat = "any"
						same.Turn = &request
						text := f.Text
						f = long(same, n)
						f.Text = text
					}
					out = append(out, f)
				}
				return out
			}
			w.answers["review"] = func(c loop.Call) loop.Outcome { return says(c, nil, finds(c)...) }
			w.answers["recheck"] = func(c loop.Call) loop.Outcome {
				said := rechecks(c, "not-addressed")
				for i := range said {
					said[i].Reason = strings.Repeat("reason ", 40)
				}
				return says(c, said, finds(c)...)
			}
			largest := map[string]int{}
			w.onCall = func(c loop.Call) {
				var request any = c.Turn
				kind := string(c.Kind)
				if c.Turn == nil {
					request = []any{c.Prepare, c.Verify, c.Bundle, c.Land}
				} else {
					kind = c.Turn.Turn
				}
				raw, err := json.Marshal(request)
				require.NoError(t, err)
				largest[kind] = max(largest[kind], len(raw))
			}
			if distinct { // far more than anybody reads, and more than one payload carries
				require.Equal(t, loop.CallFinish, w.run())
				run := w.record()
				require.Equal(t, record.StepFailed, run.Stop)
				require.False(t, run.Converged)
				require.Contains(t, run.Message, "too large to go on")
				require.Greater(t, len(w.progress.State.Review.Standing), 300)
				require.Equal(t, loop.CallFinish, w.progress.Next(w.now)[0].Kind, "it has ended")
				require.Contains(t, w.marks, "end", "what was found is in the bundle")
			} else {
				require.Equal(t, loop.CallWait, w.run())
				require.True(t, w.progress.MayContinue())
			}
			for kind, size := range largest {
				require.Less(t, size, payload, kind)
			}
			carry, err := json.Marshal(w.progress.Carry)
			require.NoError(t, err)
			query, err := json.Marshal(w.record())
			require.NoError(t, err)
			bundle, err := json.Marshal(w.progress.Status(w.now))
			require.NoError(t, err)
			for what, size := range map[string]int{"carry": len(carry), "status": len(query), "bundle": len(bundle)} {
				require.Less(t, size, blob, what)
			}
			if !distinct {
				require.Less(t, len(carry), 1<<20)
				require.Less(t, len(query), 512<<10)
			}
			t.Logf("requests %v, carry %d, status %d, bundle %d", largest, len(carry), len(query), len(bundle))
		})
	}
}
