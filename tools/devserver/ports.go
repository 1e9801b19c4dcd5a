package main

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

// ports are the TCP ports of one server. The three inner services listen on the loopback address only.
type ports struct {
	frontend                  int // where clients find it
	service                   int // where it listens itself: another one behind the door of a guarded server
	history, matching, worker int
	ui                        int // 0: no Web UI
}

// heldPorts keeps the chosen ports occupied until the server listens itself.
type heldPorts struct {
	ports     ports
	claims    []claim        // kept for as long as the server runs
	listeners []net.Listener // keep out who asks for the very port, until they are released for the server
	door      net.Listener   // of a guarded server: it is kept, and serves
}

var loopback = net.IPv4(127, 0, 0, 1)

// reservePorts checks the wanted ports, picks free ones for the rest and holds all of them. A port that is taken is an error naming port and flag:
// the server itself would crash on it, because matching serves on a nil listener.
func reservePorts(opts options) (*heldPorts, error) {
	h := &heldPorts{}
	wanted := []struct {
		flag string
		ip   net.IP
		port int
		into *int
	}{
		{"--port", opts.ip, opts.port, &h.ports.frontend},
		{"--ui-port", opts.uiIP, opts.uiPort, &h.ports.ui},
		{"", loopback, 0, &h.ports.history},
		{"", loopback, 0, &h.ports.matching},
		{"", loopback, 0, &h.ports.worker},
		{"", loopback, 0, &h.ports.service},
	}
	for _, w := range wanted {
		if opts.headless && w.flag == "--ui-port" || !opts.guarded && w.into == &h.ports.service {
			continue
		}
		port, err := h.hold(w.ip, w.port)
		if err != nil {
			h.drop()
			return nil, portError(w.flag, w.ip, w.port, err)
		}
		*w.into = port
	}
	if opts.guarded { // the frontend's listener is the first
		h.door, h.listeners = h.listeners[0], h.listeners[1:]
	} else {
		h.ports.service = h.ports.frontend
	}
	return h, nil
}

func (h *heldPorts) hold(ip net.IP, port int) (int, error) {
	c, port, err := claimPort(ip, port)
	if err != nil {
		return 0, err
	}
	h.claims = append(h.claims, c)
	l, err := net.Listen("tcp", hostPort(ip, port))
	if err != nil {
		return 0, err
	}
	h.listeners = append(h.listeners, l)
	return l.Addr().(*net.TCPAddr).Port, nil
}

// release lets the server listen; a second call does nothing. On Linux nobody else gets a port by chance even then: the claims stay.
func (h *heldPorts) release() {
	for _, l := range h.listeners {
		l.Close()
	}
	h.listeners = nil
}

// drop gives everything up.
func (h *heldPorts) drop() {
	h.release()
	for _, c := range h.claims {
		c.drop()
	}
	h.claims = nil
}

func portError(flag string, ip net.IP, port int, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE) && flag != "":
		return coded(exitUsage, "port %d (%s) is already in use on %s: end what listens there, or choose another with %s (0 picks a free one)", port, flag, ip, flag)
	case flag != "":
		return coded(exitUsage, "cannot listen on %s (%s): %w", hostPort(ip, port), flag, err)
	default:
		return fmt.Errorf("no free port on %s for an inner service: %w", ip, err)
	}
}

func hostPort(ip net.IP, port int) string {
	return net.JoinHostPort(ip.String(), strconv.Itoa(port))
}

// reachable is the address that a client on this machine dials for a listener on ip.
func reachable(ip net.IP, port int) string {
	if ip.IsUnspecified() {
		ip = loopback
	}
	return hostPort(ip, port)
}
