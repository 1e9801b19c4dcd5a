package report

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"conclave/internal/artifact"
)

const (
	tempPrefix = ".conclave-tmp-"
	// tempAge is how old a left temporary file is before it counts as abandoned.
	tempAge = time.Hour
)

// folder writes the bundle. It is confined to the repository's root: a link in
// the repository that leads out of it is refused by the operating system's calls.
type folder struct {
	root *os.Root
	// dir is the bundle below root, slash separated.
	dir string
}

func openFolder(root, dir string) (*folder, error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	if err := r.MkdirAll(dir, 0o755); err != nil {
		_ = r.Close()
		return nil, fmt.Errorf("bundle folder %s in %s cannot be made (is .conclave writable, and a folder inside the repository?): %w", dir, root, err)
	}
	return &folder{root: r, dir: dir}, nil
}

func (f *folder) close() { _ = f.root.Close() }

// write puts content at name, unless it is there already.
func (f *folder) write(name string, content []byte) error {
	if f.holds(name, artifact.Of(content)) {
		return nil
	}
	return f.fill(name, func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(content))
		return err
	})
}

// holds reports whether the file at name is a plain file with ref's content.
func (f *folder) holds(name string, ref artifact.Ref) bool {
	full := path.Join(f.dir, name)
	info, err := f.root.Lstat(full)
	if err != nil || !info.Mode().IsRegular() || info.Size() != ref.Size {
		return false
	}
	file, err := f.root.Open(full)
	if err != nil {
		return false
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return false
	}
	return ref.Digest == "sha256:"+hex.EncodeToString(sum.Sum(nil))
}

// fill writes a file beside its place and renames it: a reader sees the old
// content or the new, and a full disk leaves the old.
func (f *folder) fill(name string, content func(io.Writer) error) error {
	full := path.Join(f.dir, name)
	if err := f.root.MkdirAll(path.Dir(full), 0o755); err != nil {
		return fmt.Errorf("bundle folder %s: %w", path.Dir(full), err)
	}
	temp := path.Join(path.Dir(full), tempPrefix+rand.Text())
	file, err := f.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("bundle file %s: %w", full, err)
	}
	err = content(file)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = f.root.Rename(temp, full)
	}
	if err != nil {
		_ = f.root.Remove(temp)
		return fmt.Errorf("bundle file %s: %w", full, err)
	}
	return nil
}

// excerpt returns at most limit bytes of a file's end, or of its beginning
// when head is set, and whether more was there.
func (f *folder) excerpt(name string, limit int64, head bool) (content string, cut bool, err error) {
	file, err := f.root.Open(path.Join(f.dir, name))
	if err != nil {
		return "", false, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", false, err
	}
	start := int64(0)
	if !head {
		start = max(0, info.Size()-limit)
	}
	data, err := io.ReadAll(io.NewSectionReader(file, start, limit))
	return string(data), info.Size() > limit, err
}

// sweep removes temporary files that a killed process left long ago.
func (f *folder) sweep(now time.Time) {
	_ = fs.WalkDir(f.root.FS(), f.dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasPrefix(entry.Name(), tempPrefix) {
			return nil //nolint:nilerr // what cannot be read cannot be swept
		}
		if info, err := entry.Info(); err == nil && now.Sub(info.ModTime()) > tempAge {
			_ = f.root.Remove(name)
		}
		return nil
	})
}

// errDamaged is for content that does not have the digest it is known by.
var errDamaged = errors.New("its content does not have its digest")
