package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"github.com/labstack/echo/v4"
	"github.com/temporalio/ui-server/v2/server/api"
)

// The server has no notion of who may do what: whoever reaches it may rule on findings, answer for a reviewer, or start
// activities that the worker runs outside of any sandbox. An agent shares the network with us, as does every user of this
// machine. So a guarded server looks at the process behind each connection, which no client has to know of.

// door stands before the frontend of a guarded server and lets in whom the guard allows.
type door struct {
	listener net.Listener
	inner    string // address of the frontend itself
	tls      *tls.Config
	guard    *guard

	mu     sync.Mutex
	closed bool
	open   map[net.Conn]bool
}

// openDoor serves the listener until close.
func openDoor(l net.Listener, inner string, g *guard) *door {
	d := &door{listener: l, inner: inner, tls: g.secret.client(), guard: g, open: map[net.Conn]bool{}}
	d.tls.NextProtos = []string{"h2"}
	go d.serve()
	return d
}

func (d *door) serve() {
	for {
		c, err := d.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // too many open files, or a client that has gone already
			time.Sleep(5 * time.Millisecond)
			continue
		}
		go d.admit(c)
	}
}

func (d *door) admit(c net.Conn) {
	defer c.Close()
	if !d.guard.admits(c.RemoteAddr(), c.LocalAddr()) {
		return
	}
	in, err := tls.Dial("tcp", d.inner, d.tls)
	if err != nil {
		return // it is ending; clients try again
	}
	defer in.Close()
	if !d.keep(c, in) {
		return
	}
	defer d.forget(c, in)
	ended := make(chan struct{}, 2)
	carry := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		ended <- struct{}{}
	}
	go carry(in, c)
	go carry(c, in)
	<-ended // the protocol knows no half-closed connection
}

func (d *door) keep(cs ...net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range cs {
		d.open[c] = true
	}
	return !d.closed
}

func (d *door) forget(cs ...net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range cs {
		delete(d.open, c)
	}
}

func (d *door) close() {
	_ = d.listener.Close()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for c := range d.open {
		_ = c.Close()
	}
}

// mostRefusals bounds what a client that tries again and again writes into our log.
const mostRefusals = 50

// guard decides about connections. Its secret keeps everybody out of the services behind it.
type guard struct {
	secret  *secret
	out     io.Writer
	refused atomic.Int64
}

// newGuard is nil for a server that is not guarded.
func newGuard(opts options, out io.Writer) (*guard, error) {
	if !opts.guarded {
		return nil, nil
	}
	s, err := newSecret()
	if err != nil {
		return nil, err
	}
	return &guard{secret: s, out: out}, nil
}

// admits says whether the process at the other end of a connection is one of our user's that no agent started.
func (g *guard) admits(remote, local net.Addr) bool {
	err := g.check(remote, local)
	if n := g.refused.Load(); err != nil && n < mostRefusals {
		g.refused.Add(1)
		fmt.Fprintf(g.out, "devserver: refused a connection from %v: %v\n", remote, err)
	}
	return err == nil
}

func (g *guard) check(remote, local net.Addr) error {
	from, ok := remote.(*net.TCPAddr)
	to, also := local.(*net.TCPAddr)
	if !ok || !also {
		return fmt.Errorf("not a TCP connection")
	}
	return trustedPeer(from.AddrPort(), to.AddrPort())
}

// gateUI is guard for the Web UI, which hands requests on in our name.
func (g *guard) gateUI(c echo.Context) runtime.ServeMuxOption {
	return runtime.WithMiddlewares(func(next runtime.HandlerFunc) runtime.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request, params map[string]string) {
			remote, err := net.ResolveTCPAddr("tcp", c.Request().RemoteAddr)
			local, ok := c.Request().Context().Value(http.LocalAddrContextKey).(net.Addr)
			if err != nil || !ok || !g.admits(remote, local) {
				http.Error(w, `{"message":"this server serves its own user's processes, and none that an agent started"}`, http.StatusForbidden)
				return
			}
			next(w, r, params)
		}
	})
}

var _ api.Middleware = (*guard)(nil).gateUI
