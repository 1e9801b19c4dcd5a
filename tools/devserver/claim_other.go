//go:build !linux

package main

import "net"

// claim is nothing here: between the listener that reserves a port and the server's own, another process can take it.
type claim struct{}

func claimPort(_ net.IP, port int) (claim, int, error) { return claim{}, port, nil }

func (claim) drop() {}
