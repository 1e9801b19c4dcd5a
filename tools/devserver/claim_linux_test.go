package main

import (
	"errors"
	"net"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Without the claims, one start of a thousand or so ended with "address already in use": another program had got the port in between.
func TestAReleasedPortIsTheServersAndNobodyElses(t *testing.T) {
	h, err := reservePorts(parse(t, "--port", "0"))
	require.NoError(t, err)
	defer h.drop()
	h.release()
	p := h.ports
	for _, port := range []int{p.frontend, p.history, p.matching, p.worker, p.ui} {
		_, err := listenOnFreePortWithin(t, port)
		require.ErrorIs(t, err, syscall.EADDRINUSE, "nobody gets it as a free port")
		l, err := net.Listen("tcp", hostPort(loopback, port))
		require.NoError(t, err, "the server gets it")
		require.NoError(t, l.Close())
	}
	h.drop()
	l, err := listenOnFreePortWithin(t, p.worker)
	require.NoError(t, err, "as soon as it is given up, it is a free port")
	require.NoError(t, l.Close())
}

func TestTwoServersDoNotClaimOnePort(t *testing.T) {
	h, err := reservePorts(parse(t, "--port", "0", "--headless"))
	require.NoError(t, err)
	defer h.drop()
	_, err = reservePorts(parse(t, "--port", strconv.Itoa(h.ports.frontend), "--headless"))
	require.ErrorContains(t, err, "already in use")
}

// listenOnFreePortWithin asks the kernel for any free port out of one.
func listenOnFreePortWithin(t *testing.T, port int) (net.Listener, error) {
	const ipLocalPortRange = 51 // of ip(7), since Linux 6.3
	lc := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var failed error
		if err := c.Control(func(fd uintptr) {
			failed = syscall.SetsockoptInt(int(fd), syscall.SOL_IP, ipLocalPortRange, port<<16|port)
		}); err != nil {
			return err
		}
		return failed
	}}
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if errors.Is(err, syscall.ENOPROTOOPT) {
		t.Skip("this kernel cannot be asked for a free port out of a few")
	}
	return l, err
}
