package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// dialerVariable makes the test binary a client that connects, says so, and stays until its input ends. With "by a child"
// it is the child of a process called like it.
const dialerVariable = "DEVSERVER_TEST_DIAL"

func TestMain(m *testing.M) {
	address, child, _ := strings.Cut(os.Getenv(dialerVariable), " ")
	switch {
	case address == "":
		os.Exit(m.Run())
	case child != "":
		os.Exit(parent(address))
	}
	c, err := net.Dial("tcp", address)
	fmt.Println("connected", err)
	_, _ = io.Copy(io.Discard, os.Stdin)
	runtime.KeepAlive(c) // it would be closed when it is collected
}

func parent(address string) int {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), dialerVariable+"="+address)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return 1
	}
	return 0
}

// dialled has a client connect, and gives the server's end once it did.
func dialled(t *testing.T, name, how string) *net.TCPConn {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{name}
	cmd.Env = append(os.Environ(), dialerVariable+"="+l.Addr().String()+how)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "connected <nil>\n", line)
	c, err := l.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c.(*net.TCPConn)
}

func judge(c net.Conn) error {
	return trustedPeer(c.RemoteAddr().(*net.TCPAddr).AddrPort(), c.LocalAddr().(*net.TCPAddr).AddrPort())
}

func TestAProcessOfTheUserIsTrusted(t *testing.T) {
	require.NoError(t, judge(dialled(t, "client", "")))
	require.NoError(t, judge(dialled(t, "client", " by a child")))
}

// A worker starts git, and the supervisors of its agents, while its client connects. Each has the worker's sockets from its
// fork until it is a program of its own: one that has none any more, or is gone, says nothing about the client.
func TestAClientIsNotTakenForWhatItStarts(t *testing.T) {
	c := dialled(t, "client", "")
	s, err := findSocket(c.RemoteAddr().(*net.TCPAddr).AddrPort(), c.LocalAddr().(*net.TCPAddr).AddrPort())
	require.NoError(t, err)
	gone := exec.Command("/bin/true")
	require.NoError(t, gone.Run())
	supervisor := exec.Command("/bin/sleep", "600")
	supervisor.Args[0] = supervisorName
	require.NoError(t, supervisor.Start())
	t.Cleanup(func() { _ = supervisor.Process.Kill(); _ = supervisor.Wait() })
	had := []int{gone.Process.Pid, supervisor.Process.Pid}
	require.NoError(t, trustedHolder(s.inode, func(inode uint64) (int, error) {
		if len(had) == 0 {
			return holderOf(inode)
		}
		pid := had[0]
		had = had[1:]
		return pid, nil
	}))
	require.Empty(t, had)
	require.Error(t, trustedHolder(s.inode, func(uint64) (int, error) { return supervisor.Process.Pid, nil }), "it is not asked for ever")
}

func TestWhatASupervisorStartedIsNot(t *testing.T) {
	require.ErrorContains(t, judge(dialled(t, supervisorName, "")), "belongs to an agent's turn")
	require.ErrorContains(t, judge(dialled(t, supervisorName, " by a child")), "belongs to an agent's turn")
}

func TestNeitherIsAConnectionThatNobodyHolds(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	c, err := l.Accept()
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, judge(c), "our own")
	require.NoError(t, client.Close())
	require.Error(t, judge(c))
	require.Error(t, trustedPeer(netip.MustParseAddrPort("127.0.0.1:1"), netip.MustParseAddrPort("127.0.0.1:2")))
}

// Some clients reach an IPv4 address by a socket for both protocols.
func TestASocketForBothProtocolsIsFound(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	fd, err := syscall.Socket(syscall.AF_INET6, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Logf("this machine has no IPv6: %v", err)
		return
	}
	defer syscall.Close(fd)
	to := &syscall.SockaddrInet6{Port: l.Addr().(*net.TCPAddr).Port}
	copy(to.Addr[:], net.IPv4(127, 0, 0, 1).To16())
	require.NoError(t, syscall.Connect(fd, to))
	c, err := l.Accept()
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, judge(c))
}

func TestAddressesOfTheKernelsTables(t *testing.T) {
	require.Equal(t, "", inTable(netip.MustParseAddrPort("[::1]:80"), false))
	if inTable(netip.MustParseAddrPort("1.2.3.4:80"), false) != "01020304:0050" { // a little-endian machine
		require.Equal(t, "0100007F:1C41", inTable(netip.MustParseAddrPort("127.0.0.1:7233"), false))
		require.Equal(t, "00000000000000000000000001000000:1C41", inTable(netip.MustParseAddrPort("[::1]:7233"), true))
		require.Equal(t, "0000000000000000FFFF00000100007F:1C41", inTable(netip.MustParseAddrPort("127.0.0.1:7233"), true))
	}
}
