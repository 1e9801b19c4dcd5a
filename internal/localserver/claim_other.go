//go:build !linux

package localserver

import (
	"fmt"
	"net"
)

// claimPort finds a free port. Here another process can get it before the server listens.
func claimPort() (port int, drop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, nil, fmt.Errorf("no free port for the local Temporal server: %w", err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port, func() {}, nil
}
