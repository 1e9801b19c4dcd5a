package localserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// answerTimeout is how long a living server may take to answer. A machine that swaps is slow; a server that takes longer than this is stuck.
const answerTimeout = 10 * time.Second

// errNoAnswer says that a server lives but does not answer. It may be ending just now.
var errNoAnswer = errors.New("does not answer")

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
		return nil, fmt.Errorf("the local Temporal server (process %d, %s) lives but %w: %w. End it with `kill %d` and start again; its log is %s",
			info.PID, info.Address, errNoAnswer, err, info.PID, f.log())
	}
	return serverOf(info, f), nil
}

// settle is find for the holder of the start lock. It waits for a server that is just starting (its starter was killed) or just ending: both hold a
// database and cannot be used. ErrNotRunning means that a server may be started now.
func settle(ctx context.Context, f files) (*Server, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	silentSince := time.Now()
	for {
		s, err := find(ctx, f)
		switch {
		case err == nil:
			return s, nil
		case errors.Is(err, ErrNotRunning):
			silentSince = time.Now()
			busy, busyErr := anyDatabaseHeld(f)
			if busyErr != nil {
				return nil, busyErr
			}
			if !busy {
				return nil, clearReady(f)
			}
			err = fmt.Errorf("a server holds a database in %s and does not become usable: its process is in server-*.db.lock there, its log is %s", f.dir, f.log())
		case !errors.Is(err, errNoAnswer) || time.Since(silentSince) > answerTimeout:
			return nil, err
		}
		if pause(ctx) != nil {
			return nil, errors.Join(context.Cause(ctx), err)
		}
	}
}

// clearReady removes what a dead server left, and returns ErrNotRunning.
func clearReady(f files) error {
	if err := os.Remove(f.ready()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the entry of a dead server: %w", err)
	}
	return ErrNotRunning
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
