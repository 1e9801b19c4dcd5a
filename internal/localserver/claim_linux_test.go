package localserver

import (
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A plain `temporal` is told its port, and takes a second until it listens there.
func TestAPortIsItsServersAndNobodyElses(t *testing.T) {
	port, drop, err := claimPort()
	require.NoError(t, err)
	l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
	require.NoError(t, err, "the server gets it")
	require.NoError(t, l.Close())

	any := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var failed error
		err := c.Control(func(fd uintptr) {
			failed = unix.SetsockoptInt(int(fd), unix.SOL_IP, unix.IP_LOCAL_PORT_RANGE, port<<16|port)
		})
		require.NoError(t, err)
		return failed
	}}
	_, err = any.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if errors.Is(err, unix.ENOPROTOOPT) {
		t.Log("this kernel cannot be asked for a free port out of one (it can since Linux 6.3)")
		drop()
		return
	}
	require.ErrorIs(t, err, unix.EADDRINUSE, "nobody gets it as a free port")
	drop()
}
