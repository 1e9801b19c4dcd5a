package agent

import (
	"context"
	"os/exec"
	"sync"
	"time"
)

// sandboxed says whether claude's own sandbox is to be demanded. It needs bubblewrap and socat, and a kernel that lets
// bubblewrap work; where it does not, claude would refuse to start, so this is tried once per process.
func sandboxed(s Settings) bool {
	switch s.CLISandbox {
	case CLISandboxOn:
		return true
	case CLISandboxOff:
		return false
	}
	bwrap := onPath("bwrap", s.path())
	return bwrap != "" && onPath("socat", s.path()) != "" && bwrapWorks(bwrap)
}

var (
	bwrapMutex sync.Mutex
	bwrapTried = map[string]bool{}
)

func bwrapWorks(path string) bool {
	bwrapMutex.Lock()
	defer bwrapMutex.Unlock()
	if works, tried := bwrapTried[path]; tried {
		return works
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	err := exec.CommandContext(ctx, path, "--ro-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "--die-with-parent", "true").Run()
	bwrapTried[path] = err == nil
	return err == nil
}
