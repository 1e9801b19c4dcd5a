package hunt

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/record"
)

var (
	cases = flag.Int("cases", 3000, "how many runs are played")
	first = flag.Uint64("first", 1, "the seed of the first run")
)

// TestNoRunIsGreenThatShouldNotBe: whatever reviewers answer, a run ends well
// only where every voting seat's last answer was valid and about the last tree,
// the verifier passed on it, and no high finding stands that nobody settled.
func TestNoRunIsGreenThatShouldNotBe(t *testing.T) {
	ends := map[record.Stop]int{}
	for i := range *cases {
		w := newWorld(t, *first+uint64(i))
		run := w.play()
		ends[run.Stop]++
		if run.Stop != record.Converged && run.Stop != record.Ruled {
			require.False(t, run.Converged, w)
			require.NotEqual(t, 0, run.ExitCode, w)
			continue
		}
		if faults := w.book.faults(run); len(faults) > 0 {
			require.Fail(t, fmt.Sprintf("%s: %s, but %q", w, run.Stop, faults), "%s", strings.Join(w.book.log, "\n"))
		}
	}
	t.Logf("ends: %v", ends)
	for _, stop := range []record.Stop{record.Converged, record.Ruled, record.Stalled, record.Aborted, record.StepFailed, record.NeedsRuling} {
		if *cases >= 1000 {
			require.Positive(t, ends[stop], "no case ended %s: the hunt is too narrow", stop)
		}
	}
}
