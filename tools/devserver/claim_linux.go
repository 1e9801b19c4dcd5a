package main

import (
	"net"
	"os"
	"syscall"
)

// claim keeps a port of this process from everybody who asks for any free one, while a listener of our choice can still take it.
type claim struct{ fd int }

// claimPort claims a port of ip, or any free one for 0. A port on which somebody listens is EADDRINUSE.
//
// The socket is bound and never listens. Linux shares a port among sockets that all allow the re-use of addresses as long as one of them at most
// listens, and every listener of Go allows it; but it does not hand out such a port as a free one, neither to a listener nor to a connection.
func claimPort(ip net.IP, port int) (claim, int, error) {
	family, address := syscall.AF_INET6, syscall.Sockaddr(&syscall.SockaddrInet6{Port: port, Addr: [16]byte(ip.To16())})
	if v4 := ip.To4(); v4 != nil {
		family, address = syscall.AF_INET, &syscall.SockaddrInet4{Port: port, Addr: [4]byte(v4)}
	}
	fd, err := syscall.Socket(family, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return claim{}, 0, os.NewSyscallError("socket", err)
	}
	c := claim{fd}
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		c.drop()
		return claim{}, 0, os.NewSyscallError("setsockopt", err)
	}
	if err := syscall.Bind(fd, address); err != nil {
		c.drop()
		return claim{}, 0, os.NewSyscallError("bind", err)
	}
	bound, err := syscall.Getsockname(fd)
	if err != nil {
		c.drop()
		return claim{}, 0, os.NewSyscallError("getsockname", err)
	}
	return c, portOf(bound), nil
}

func portOf(a syscall.Sockaddr) int {
	switch a := a.(type) {
	case *syscall.SockaddrInet4:
		return a.Port
	case *syscall.SockaddrInet6:
		return a.Port
	}
	return 0
}

func (c claim) drop() { _ = syscall.Close(c.fd) }
