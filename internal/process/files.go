//go:build linux || darwin

package process

import (
	"errors"
	"os"
	"slices"
	"syscall"
)

// opened collects files that are closed together unless they are kept; the first error makes the rest do nothing.
type opened struct {
	files []*os.File
	err   error
}

func (o *opened) add(f *os.File, err error) *os.File {
	if err != nil {
		o.err = err
		return nil
	}
	o.files = append(o.files, f)
	return f
}

func (o *opened) open(path string, flags int) *os.File {
	if o.err != nil {
		return nil
	}
	return o.add(os.OpenFile(path, flags, 0))
}

// fresh makes a new file even where one exists: a process left over from an earlier attempt then writes to the old one,
// which has no name any more, and a link that somebody planted is not followed.
func (o *opened) fresh(path string, flags int) *os.File {
	if o.err != nil {
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		o.err = err
		return nil
	}
	return o.add(os.OpenFile(path, flags|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600))
}

func (o *opened) pipe() (r, w *os.File) {
	if o.err != nil {
		return nil, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		o.err = err
		return nil, nil
	}
	o.files = append(o.files, r, w)
	return r, w
}

// keep takes files out of the collection.
func (o *opened) keep(files ...*os.File) {
	o.files = slices.DeleteFunc(o.files, func(f *os.File) bool { return slices.Contains(files, f) })
}

func (o *opened) close() {
	for _, f := range o.files {
		_ = f.Close()
	}
}
