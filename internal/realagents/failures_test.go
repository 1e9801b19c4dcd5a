//go:build linux || darwin

package realagents

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"conclave/internal/fakemodel"
	"conclave/internal/record"
)

const (
	okay      = record.ClassOK
	malformed = record.ClassMalformed
	transient = record.ClassTransient
	quota     = record.ClassQuota
	permanent = record.ClassPermanent
	timeout   = record.ClassTimeout
)

// trouble is one way in which a turn goes wrong, and the class that each program's turn gets.
type trouble struct {
	name string
	fail fakemodel.Failure
	// class is the expected one.
	class record.Class
	// refused: nobody listens at all.
	refused bool
	// idle is the limit without a line of output; 0 is none.
	idle time.Duration
	// reset: the time until a quota's reset is known.
	reset bool
}

const resetIn = 2 * time.Hour

var troubles = []trouble{
	{name: "401", fail: fakemodel.Failure{Kind: fakemodel.Unauthorized}, class: permanent},
	{name: "403", fail: fakemodel.Failure{Kind: fakemodel.Forbidden}, class: permanent},
	{name: "404 model", fail: fakemodel.Failure{Kind: fakemodel.NoModel}, class: permanent},
	{name: "429", fail: fakemodel.Failure{Kind: fakemodel.RateLimited}, class: quota},
	{name: "429 with a reset", fail: fakemodel.Failure{Kind: fakemodel.QuotaReset, Reset: resetIn}, class: quota, reset: true, idle: time.Minute},
	{name: "500", fail: fakemodel.Failure{Kind: fakemodel.ServerError}, class: transient},
	{name: "529/503", fail: fakemodel.Failure{Kind: fakemodel.Overloaded}, class: transient},
	{name: "context too long", fail: fakemodel.Failure{Kind: fakemodel.TooLong}, class: permanent},
	{name: "connection refused", refused: true, class: transient},
	{name: "stream cut", fail: fakemodel.Failure{Kind: fakemodel.Cut}, class: transient},
	{name: "malformed JSON", fail: fakemodel.Failure{Kind: fakemodel.Malformed}, class: transient},
	{name: "error in the stream", fail: fakemodel.Failure{Kind: fakemodel.StreamFailure}, class: transient},
	{name: "silent server", fail: fakemodel.Failure{Kind: fakemodel.Silent}, class: timeout, idle: 25 * time.Second},
	{name: "500 once", fail: fakemodel.Failure{Kind: fakemodel.ServerError, Times: 1}, class: okay},
}

func TestFailureClasses(t *testing.T) {
	bins(t)
	for _, c := range troubles {
		for _, e := range engines {
			t.Run(c.name+"/"+e.name, func(t *testing.T) {
				t.Parallel()
				w, p := c.play(t, e)
				noted(row{e.name, c.name, string(p.Class), p.Message, p.took.Seconds()})
				if !c.refused {
					require.NotEmpty(t, w.server.Requests(), "it never asked the model")
				}
				require.Equal(t, c.class, p.Class, "%s\n%s\n%s", p.Message, p.stderr, tail(p.stdout))
				if c.reset && e.name == "codex" { // the others keep the time to themselves
					require.InDelta(t, resetIn.Seconds(), p.RetryAfter.Seconds(), 180, p.Message)
				}
				if c.class == okay {
					require.Contains(t, string(p.Final), "VERDICT: PASS")
				}
			})
		}
	}
}

// play plays the trouble with one program. Where a slow machine reaches the idle limit before the program has asked its
// model, the limit says nothing, and it gets a longer one.
func (c trouble) play(t *testing.T, e engine) (*world, played) {
	t.Helper()
	for idle := c.idle; ; idle *= 2 {
		w := newWorld(t, fakemodel.Script{SideFail: c.side(), Turns: []fakemodel.Turn{{Steps: []fakemodel.Step{{Say: "Fine.\n\nVERDICT: PASS", Fail: &c.fail}}}}})
		if c.refused {
			w.address = closedPort(t)
		}
		p := w.play(turn{engine: e, prompt: "Judge the change.", idle: idle}, w.workspace(nil))
		if idle == 0 || idle > 2*time.Minute || len(w.server.Requests()) > 0 {
			return w, p
		}
	}
}

// side is how the requests fail that are not the turn itself: summaries of a conversation that is too long.
func (c trouble) side() *fakemodel.Failure {
	if c.fail.Kind != fakemodel.TooLong {
		return nil
	}
	return &c.fail
}

func tail(text string) string {
	const most = 3000
	return text[max(0, len(text)-most):]
}

// closedPort is an address at which nobody listens, and nobody will while the test runs: it is taken.
func closedPort(t *testing.T) string {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	require.NoError(t, err)
	unix.CloseOnExec(fd)
	t.Cleanup(func() { _ = unix.Close(fd) })
	require.NoError(t, unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	bound, err := unix.Getsockname(fd)
	require.NoError(t, err)
	return fmt.Sprint("127.0.0.1:", bound.(*unix.SockaddrInet4).Port)
}
