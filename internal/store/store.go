// Package store keeps artifacts by digest and finished results by key. Starter
// and workers of one cluster name the same store; locally it is a folder.
package store

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"conclave/internal/artifact"
)

// ErrNotFound is returned when an artifact or a key is not in the store.
var ErrNotFound = fs.ErrNotExist

// Store keeps bytes for the time of a run and its bundle.
type Store interface {
	// Put stores content under its digest. Putting the same content again is a no-op.
	Put(ctx context.Context, content []byte) (artifact.Ref, error)
	// PutFile stores a file's content without reading it whole into memory.
	PutFile(ctx context.Context, path string) (artifact.Ref, error)
	// Get returns the content of ref, verified against its digest.
	Get(ctx context.Context, ref artifact.Ref) ([]byte, error)
	// Open gives the content of ref in parts, not verified: for what need not be
	// in memory and carries its own check, or is checked by who reads it.
	Open(ctx context.Context, ref artifact.Ref) (io.ReadCloser, error)
	// SetKey stores a value under a slash-separated key, atomically; a later value replaces an earlier one.
	SetKey(ctx context.Context, key string, value []byte) error
	// Key returns the value under a key, or ErrNotFound.
	Key(ctx context.Context, key string) ([]byte, error)
	// Keys lists the keys below a prefix, sorted.
	Keys(ctx context.Context, prefix string) ([]string, error)
}

// IsNotFound reports whether err says that something is not in the store.
func IsNotFound(err error) bool { return errors.Is(err, ErrNotFound) }
