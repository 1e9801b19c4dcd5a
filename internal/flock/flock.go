// Package flock locks files among processes. A lock belongs to an open file: it ends when every process that has the
// file open by it has closed it or has ended, however that came.
package flock

import (
	"context"
	"os"
	"time"
)

// Wait locks an open file as soon as nobody else holds it, and asks that often. When the context ends first, the error
// is its cause.
func Wait(ctx context.Context, file *os.File, every time.Duration) error {
	for {
		if free, err := Try(file); free || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(every):
		}
	}
}
