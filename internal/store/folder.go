package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/internal/artifact"
)

// Folder is a Store in a directory: `sha256/ab/abcd...` and `keys/<key>`.
// Every file is written beside its place and renamed, so that a reader never
// sees half of it and a full disk leaves nothing behind.
type Folder struct{ dir string }

// OpenFolder creates the directory when needed and proves that it can be written.
func OpenFolder(dir string) (*Folder, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", dir, err)
	}
	for _, sub := range []string{"sha256", "keys", "tmp"} {
		if err := os.MkdirAll(filepath.Join(abs, sub), 0o700); err != nil {
			return nil, fmt.Errorf("store %s cannot be written (choose another with --store or CONCLAVE_STORE): %w", abs, err)
		}
	}
	return &Folder{dir: abs}, nil
}

// Dir is the directory.
func (f *Folder) Dir() string { return f.dir }

// Put implements Store.
func (f *Folder) Put(_ context.Context, content []byte) (artifact.Ref, error) {
	ref := artifact.Of(content)
	target, err := f.blob(ref)
	if err != nil {
		return artifact.Ref{}, err
	}
	if present(target, ref.Size) {
		return ref, nil
	}
	return ref, f.write(target, content)
}

// PutFile implements Store.
func (f *Folder) PutFile(_ context.Context, path string) (artifact.Ref, error) {
	in, err := os.Open(path)
	if err != nil {
		return artifact.Ref{}, fmt.Errorf("store: %w", err)
	}
	defer in.Close()
	sum := sha256.New()
	var ref artifact.Ref
	tmp, err := f.temporary(func(out io.Writer) (err error) {
		ref.Size, err = io.Copy(io.MultiWriter(out, sum), in)
		return err
	})
	if err != nil {
		return artifact.Ref{}, err
	}
	ref.Digest = "sha256:" + hex.EncodeToString(sum.Sum(nil))
	target, err := f.blob(ref)
	if err != nil {
		return artifact.Ref{}, err
	}
	return ref, place(tmp, target)
}

// Get implements Store.
func (f *Folder) Get(_ context.Context, ref artifact.Ref) ([]byte, error) {
	path, err := f.blob(ref)
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, f.missing(ref, err)
	}
	if got := artifact.Of(content); got.Digest != ref.Digest {
		return nil, fmt.Errorf("artifact %s is damaged in the store: its content has digest %s", ref.Digest, got.Digest)
	}
	return content, nil
}

// Open implements Store.
func (f *Folder) Open(_ context.Context, ref artifact.Ref) (io.ReadCloser, error) {
	path, err := f.blob(ref)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, f.missing(ref, err)
	}
	return file, nil
}

// missing says what to do about an artifact that is not here.
func (f *Folder) missing(ref artifact.Ref, err error) error {
	if IsNotFound(err) {
		return fmt.Errorf("artifact %s is not in the store %s; starter and workers must name the same store (--store or CONCLAVE_STORE): %w", ref.Digest, f.dir, fs.ErrNotExist)
	}
	return fmt.Errorf("artifact %s: %w", ref.Digest, err)
}

// SetKey implements Store.
func (f *Folder) SetKey(_ context.Context, key string, value []byte) error {
	path, err := f.key(key)
	if err != nil {
		return err
	}
	return f.write(path, value)
}

// Key implements Store.
func (f *Folder) Key(_ context.Context, key string) ([]byte, error) {
	path, err := f.key(key)
	if err != nil {
		return nil, err
	}
	value, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("store key %s: %w", key, err)
	}
	return value, nil
}

// Keys implements Store.
func (f *Folder) Keys(_ context.Context, prefix string) ([]string, error) {
	root, err := f.key(prefix)
	if err != nil {
		return nil, err
	}
	var keys []string
	base := filepath.Join(f.dir, "keys")
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		rel, err := filepath.Rel(base, path)
		keys = append(keys, filepath.ToSlash(rel))
		return err
	})
	if IsNotFound(err) {
		return nil, nil
	}
	slices.Sort(keys)
	return keys, err
}

func (f *Folder) blob(ref artifact.Ref) (string, error) {
	digits, err := ref.Hex()
	if err != nil {
		return "", err
	}
	return filepath.Join(f.dir, "sha256", digits[:2], digits), nil
}

func (f *Folder) key(key string) (string, error) {
	if !fs.ValidPath(key) || strings.ContainsRune(key, '\\') {
		return "", fmt.Errorf("invalid store key %q", key)
	}
	return filepath.Join(f.dir, "keys", filepath.FromSlash(key)), nil
}

func (f *Folder) write(target string, content []byte) error {
	tmp, err := f.temporary(func(out io.Writer) error {
		_, err := out.Write(content)
		return err
	})
	if err != nil {
		return err
	}
	return place(tmp, target)
}

func (f *Folder) temporary(fill func(io.Writer) error) (string, error) {
	out, err := os.CreateTemp(filepath.Join(f.dir, "tmp"), "put-*")
	if err != nil {
		return "", fmt.Errorf("store: %w", err)
	}
	err = fill(out)
	if closing := out.Close(); err == nil {
		err = closing
	}
	if err != nil {
		_ = os.Remove(out.Name())
		return "", fmt.Errorf("store: %w", err)
	}
	return out.Name(), nil
}

func place(tmp, target string) error {
	err := os.MkdirAll(filepath.Dir(target), 0o700)
	if err == nil {
		err = os.Rename(tmp, target)
	}
	if err != nil {
		_ = os.Remove(tmp)
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

func present(path string, size int64) bool {
	info, err := os.Stat(path)
	return err == nil && info.Size() == size
}
