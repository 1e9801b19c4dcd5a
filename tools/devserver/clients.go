package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// clientPoll is how often clients are looked for; a look costs one lock attempt per client.
const clientPoll = 500 * time.Millisecond

// clientWatch tells when a server has had no client for a while. A client is a process that holds an exclusive lock on a *.lock file in dir: locks
// vanish with their process however it ends, and unlike process ids they are never taken over by a stranger.
type clientWatch struct {
	dir   string
	grace time.Duration
}

// awaitIdle blocks until no client was seen for the grace time (true) or ctx is done (false).
func (w clientWatch) awaitIdle(ctx context.Context) bool {
	tick := time.NewTicker(min(clientPoll, max(w.grace/4, time.Millisecond)))
	defer tick.Stop()
	lastSeen := time.Now()
	for {
		select {
		case <-ctx.Done():
			return false
		case now := <-tick.C:
			if w.anyClient() {
				lastSeen = now
			} else if now.Sub(lastSeen) >= w.grace {
				return true
			}
		}
	}
}

// anyClient reports whether a client holds its lock, and removes the files of those that do not.
func (w clientWatch) anyClient() bool {
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		return !os.IsNotExist(err)
	}
	found := false
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), lockSuffix) && held(filepath.Join(w.dir, e.Name())) {
			found = true
		}
	}
	return found
}

// held tests one lock file. What cannot be tested counts as held: ending the server under a client is worse than staying.
func held(file string) bool {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return !os.IsNotExist(err)
	}
	defer f.Close()
	free, err := tryLock(f)
	if err != nil || !free {
		return true
	}
	// We hold the lock now. A client that opened the same file a moment ago finds after locking it that the name is gone, and makes a new one.
	os.Remove(file)
	return false
}
