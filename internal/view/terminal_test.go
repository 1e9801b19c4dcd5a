package view

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"conclave/internal/record"
)

// onTTY is a terminal view whose clock is the script's and which paints only when told.
func onTTY(y *tty, color bool) *terminal {
	v := newTerminal(Options{Out: y, Terminal: true, Width: y.width, Color: color})
	v.clock = func() time.Time { return began }
	close(v.ended) // nothing spins
	return v
}

// The whole life of a run on a terminal, with each frame on the way.
func TestTerminalGolden(t *testing.T) {
	for _, width := range []int{80, 40} {
		for name, make := range stories() {
			t.Run(fmt.Sprintf("%s at %d", name, width), func(t *testing.T) {
				y, s := newTTY(t, width), make()
				v := onTTY(y, true)
				var frames strings.Builder
				for i, u := range s.updates[:len(s.updates)-1] {
					v.Update(u)
					fmt.Fprintf(&frames, "--- update %d\n%s\n", i+1, y.screen())
				}
				v.Close(s.run, []string{"bundle: .conclave/runs/add-endpoint-k3f9q"})
				fmt.Fprintf(&frames, "--- end\n%s", y.screen())
				requireGolden(t, fmt.Sprintf("terminal-%s-%d.txt", name, width), frames.String())
				require.Zero(t, y.col)
				require.Equal(t, len(y.rows)-1, y.row, "the cursor is below everything")
			})
		}
	}
}

// A watcher's Ctrl-C ends nothing but the watching, and the hint is never cut off by a long run id.
func TestTheHintFits(t *testing.T) {
	u := blocked().updates[1]
	u.Run.DryRun = true
	frame := screen{width: 80, height: 24}.frame(u, u.Now, 0)
	require.Contains(t, frame, " · Ctrl-C stops; the run can be resumed · dry run · replace-the-l")
	y := newTTY(t, 80)
	v := newTerminal(Options{Out: y, Terminal: true, Width: 80, Watching: true})
	close(v.ended)
	v.Update(u)
	require.Contains(t, y.screen(), " · Ctrl-C ends the watching · dry run · replace-the-l")
	require.NotContains(t, y.screen(), "resumed")
	require.Contains(t, screen{width: 40, height: 24, watching: true}.frame(u, u.Now, 0), "Ctrl-C ends the watching")
}

func TestSteps(t *testing.T) {
	here, err := os.Getwd()
	require.NoError(t, err)
	running := record.Run{RunID: "r"}
	require.Equal(t, []string{"watch: starter watch r", "cancel: starter cancel r", "bundle: .conclave/runs/r"},
		steps(running, []string{"watch again: starter watch r", "bundle: " + filepath.Join(here, ".conclave", "runs", "r")}))
	for path, want := range map[string]string{
		"/a/b/c/d": "c/d", "/a/b": "/a/b", "/a": "/a", "/a/bc/d": "/a/bc/d", "c/d": "c/d", "starter watch r": "starter watch r", "": "",
	} {
		require.Equal(t, want, nearer("/a/b", path), path)
	}
	require.Equal(t, "/a/b/c", nearer("", "/a/b/c"))
}

// Colour adds nothing that is seen.
func TestWithoutColorThereAreNoStyles(t *testing.T) {
	var out strings.Builder
	v := newTerminal(Options{Out: &out, Terminal: true})
	close(v.ended)
	play(v, converging())
	require.NotRegexp(t, `\x1b\[[0-9;]*m`, out.String())
	require.NotContains(t, out.String(), "\x1b[?25l", "the cursor is never hidden")
}

func TestManySeatsFitALowTerminal(t *testing.T) {
	s := newScript()
	s.after(0, func(r *record.Run) {
		for range 30 {
			s.begin(r, 1, "reviewer", "review", "codex", "tests")
		}
	})
	frame := screen{width: 80, height: 12}.frame(s.updates[0], began, 0)
	require.Len(t, strings.Split(frame, "\n"), 9)
	require.Contains(t, frame, "and 23 more")
}

// A terminal breaks the live lines when it gets narrower; the next frame starts above all of them.
func TestPainterAfterAResize(t *testing.T) {
	p := painter{}
	p.paint(nil, []string{strings.Repeat("a", 70), strings.Repeat("日", 30), "footer"}, 80)
	require.Equal(t, 3, p.rows(80))
	require.Equal(t, 5, p.rows(40))
	require.Equal(t, 8, p.rows(20))
	require.True(t, strings.HasPrefix(p.paint(nil, []string{"footer"}, 40), frameBegin+"\x1b[5A"+eraseBelow))
	require.Equal(t, 1, p.rows(40))
}

func TestFrameShowsTimeThatPasses(t *testing.T) {
	s := converging()
	u := s.updates[1]
	require.Contains(t, screen{width: 80, height: 24}.frame(u, u.Now.Add(65*time.Second), 3), "1m05s")
	require.Contains(t, screen{width: 80, height: 24}.frame(u, began.Add(-time.Hour), 3), " 0s", "another machine's clock is behind")
	u.Run.StartedAt = "yesterday"
	require.NotPanics(t, func() { screen{width: 1, height: 1}.frame(u, u.Now, 3) })
}

func TestTinyWidthsDoNotPanic(t *testing.T) {
	for width := 1; width < 40; width++ {
		s := screen{theme: newTheme(true), width: width, height: 3}
		for _, u := range converging().updates {
			events, _ := diff(nothing(), u.Run)
			for _, e := range events {
				s.line(e)
			}
			s.frame(u, u.Now, 1)
			s.box(u.Run, nil)
		}
	}
}

func TestUseFromManyGoroutines(t *testing.T) {
	defer goleak.VerifyNone(t)
	v := New(Options{Out: io.Discard, Terminal: true})
	s := converging()
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for _, u := range s.updates {
				v.Update(u)
				v.Message("message")
			}
			v.Close(s.run, nil)
		})
	}
	group.Wait()
}
