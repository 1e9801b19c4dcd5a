package localserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// answerTimeout is how long a living server may take to answer. A machine that swaps is slow; a server that takes longer than this is stuck.
const answerTimeout = 5 * time.Second

// find reads server.json and verifies that its server lives and answers.
func find(ctx context.Context, f files) (*Server, error) {
	info, err := f.readReady()
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, ErrNotRunning
		}
		return nil, fmt.Errorf("%w: %w", ErrNotRunning, err) // a broken file says as little as none
	}
	alive, err := locked(lockOf(info.DB))
	if err != nil {
		return nil, err
	}
	if !alive {
		return nil, ErrNotRunning // it was killed and could not remove the file
	}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	if err := frontendAnswers(ctx, info.Address); err != nil {
		return nil, fmt.Errorf("the local Temporal server (process %d, %s) lives but does not answer: %w. End it with `kill %d` and start again; its log is %s",
			info.PID, info.Address, err, info.PID, f.log())
	}
	return serverOf(info, f), nil
}

// settle is find for the holder of the start lock. It waits for a server that is just starting (its starter was killed) or just ending: both hold a
// database without saying in server.json that they can be used. ErrNotRunning means that a server may be started now.
func settle(ctx context.Context, f files) (*Server, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("a server holds a database in %s but does not become usable; see %s, and `cat %s/server-*.db.lock` for its process", f.dir, f.log(), f.dir))
	defer cancel()
	for {
		s, err := find(ctx, f)
		if err == nil || !errors.Is(err, ErrNotRunning) {
			return s, err
		}
		busy, err := anyDatabaseHeld(f)
		if err != nil {
			return nil, err
		}
		if !busy {
			if err := os.Remove(f.ready()); err != nil && !errors.Is(err, os.ErrNotExist) {
				return nil, fmt.Errorf("remove the entry of a dead server: %w", err)
			}
			return nil, ErrNotRunning
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
}

func anyDatabaseHeld(f files) (bool, error) {
	locks, err := f.databaseLocks()
	if err != nil {
		return false, err
	}
	for _, l := range locks {
		if held, err := locked(l); held || err != nil {
			return held, err
		}
	}
	return false, nil
}
