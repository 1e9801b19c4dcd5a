//go:build !linux

package main

import (
	"errors"
	"net/netip"
)

var errNoGuard = errors.New("--guarded works on Linux only: this system does not tell who is behind a connection")

func guardSupported() error { return errNoGuard }

func trustedPeer(netip.AddrPort, netip.AddrPort) error { return errNoGuard }
