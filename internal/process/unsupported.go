//go:build !linux && !darwin

package process

import "context"

// Main does nothing here: there are no supervisors on this system.
func Main() {}

// Run refuses: see ErrUnsupported.
func Run(context.Context, Spec, func(line []byte) error) (Result, error) {
	return Result{Cause: CauseStartFailed, ExitCode: -1, Message: ErrUnsupported.Error()}, ErrUnsupported
}

// KillRegistered finds nothing here: no supervisor was ever started.
func KillRegistered(string) ([]int, error) { return nil, nil }
