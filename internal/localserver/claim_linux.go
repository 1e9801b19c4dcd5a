package localserver

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// claimPort keeps a free port from everybody who asks for any, while a server that is told its number can listen on it.
//
// The socket is bound and never listens; tools/devserver says why that holds.
func claimPort() (port int, drop func(), err error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, nil, fmt.Errorf("no free port for the local Temporal server: %w", os.NewSyscallError("socket", err))
	}
	err = errors.Join(unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1), unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	bound, nameErr := unix.Getsockname(fd)
	address, ok := bound.(*unix.SockaddrInet4)
	if err := errors.Join(err, nameErr); err != nil || !ok {
		_ = unix.Close(fd)
		return 0, nil, fmt.Errorf("no free port for the local Temporal server: %w", err)
	}
	return address.Port, func() { _ = unix.Close(fd) }, nil
}
