package gitrepo

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strconv"
	"syscall"
)

// crlfLimit bounds the files whose line ends are examined.
const crlfLimit = 64 << 20

// holds reports whether the target has a blob at a path, and whether only by reading CRLF as LF.
func (p *plan) holds(name string, info os.FileInfo, mode, id string) (same, crlf bool, err error) {
	if mode == modeLink {
		if info.Mode()&os.ModeSymlink == 0 {
			return false, false, nil
		}
		target, err := p.root.Readlink(name)
		if err != nil {
			return false, false, err
		}
		got, err := blobID(p.repo.format, int64(len(target)), bytes.NewReader([]byte(target)))
		return got == id, false, err
	}
	if !info.Mode().IsRegular() {
		return false, false, nil
	}
	file, err := p.root.Open(name)
	if err != nil {
		return false, false, err
	}
	defer func() { _ = file.Close() }()
	got, err := blobID(p.repo.format, info.Size(), file)
	if err != nil || got == id || info.Size() > crlfLimit {
		return got == id, false, err
	}
	return p.holdsLines(file, id)
}

// holdsLines compares with CRLF read as LF, as a clone with text conversion has it.
func (p *plan) holdsLines(file *os.File, id string) (same, crlf bool, err error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return false, false, err
	}
	content, err := io.ReadAll(file)
	if err != nil || bytes.IndexByte(content, 0) >= 0 || !bytes.Contains(content, []byte("\r\n")) {
		return false, false, err
	}
	lines := bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
	got, err := blobID(p.repo.format, int64(len(lines)), bytes.NewReader(lines))
	return got == id, got == id, err
}

// transaction is a plan in execution, with what undoes each step taken.
type transaction struct {
	*plan
	staging string
	undo    []func() error
	kept    int
}

// carryOut prepares every new file in a folder of its own inside the target (the same file system), then moves them into
// place; a failure undoes all moves.
func (p *plan) carryOut(ctx context.Context) (err error) {
	if len(p.writes)+len(p.deletes) == 0 {
		return nil
	}
	t := &transaction{plan: p, staging: ".conclave-apply-" + randomName()}
	if err := p.root.Mkdir(t.staging, 0o700); err != nil {
		return err
	}
	keep := false
	defer func() {
		if !keep {
			err = errors.Join(err, p.root.RemoveAll(t.staging))
		}
	}()
	if err := t.stage(ctx); err != nil {
		return fmt.Errorf("nothing was changed: %w", err)
	}
	if err := t.move(); err != nil {
		if undoErr := t.rollBack(); undoErr != nil {
			keep = true
			return fmt.Errorf("%w; taking the changes back failed too, the earlier files are in %s/%s: %w", err, p.target, t.staging, undoErr)
		}
		return fmt.Errorf("nothing was changed: %w", err)
	}
	return nil
}

func randomName() string {
	var b [6]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// stage writes the new files and links.
func (t *transaction) stage(ctx context.Context) error {
	ids := make([]string, len(t.writes))
	for i, w := range t.writes {
		ids[i] = w.change.NewID
	}
	return t.repo.eachBlob(ctx, ids, func(i int, _ int64, content io.Reader) error {
		w := t.writes[i]
		var err error
		if w.change.NewMode == modeLink {
			err = t.root.Symlink(t.links[w.change.NewID], t.staged(i))
		} else {
			err = t.stageFile(t.staged(i), w, content)
		}
		if err != nil {
			return fmt.Errorf("prepare %q: %w", w.change.Path, err)
		}
		return nil
	})
}

func (t *transaction) staged(i int) string { return t.staging + "/n" + strconv.Itoa(i) }

// stageFile writes one file with the permissions it is to have: those of the file it replaces, with the executable bits
// as git has them, else the user's default.
func (t *transaction) stageFile(name string, w planned, content io.Reader) error {
	perm := os.FileMode(0o666)
	if w.change.NewMode == modeExecutable {
		perm = 0o777
	}
	file, err := t.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, perm)
	if err != nil {
		return err
	}
	if w.crlf {
		content, err = withCRLF(content)
	}
	if err == nil {
		_, err = io.Copy(file, content)
	}
	if err == nil && w.before != nil && w.before.Mode().IsRegular() {
		err = file.Chmod(adjusted(w.before.Mode().Perm(), w.change.NewMode))
	}
	return errors.Join(err, file.Close())
}

// withCRLF gives a text its CRLF line ends; a content that has some, or is binary, stays.
func withCRLF(content io.Reader) (io.Reader, error) {
	all, err := io.ReadAll(content)
	if err != nil {
		return nil, err
	}
	if bytes.IndexByte(all, 0) < 0 && !bytes.Contains(all, []byte("\r\n")) {
		all = bytes.ReplaceAll(all, []byte("\n"), []byte("\r\n"))
	}
	return bytes.NewReader(all), nil
}

// adjusted sets or clears the executable bits of who may read.
func adjusted(perm os.FileMode, mode string) os.FileMode {
	if mode == modeExecutable {
		return perm | (perm&0o444)>>2
	}
	return perm &^ 0o111
}

// move carries out deletions, then writes.
func (t *transaction) move() error {
	for _, name := range t.deletes {
		if err := t.setAside(name); err != nil {
			return fmt.Errorf("delete %q: %w", name, err)
		}
		if err := t.prune(path.Dir(name)); err != nil {
			return fmt.Errorf("delete %q: %w", name, err)
		}
		t.done.Deleted = append(t.done.Deleted, name)
	}
	for i, w := range t.writes {
		if err := t.place(i, w.change.Path); err != nil {
			return fmt.Errorf("write %q: %w", w.change.Path, err)
		}
		t.done.Written = append(t.done.Written, w.change.Path)
	}
	return nil
}

// setAside moves what lies at a path into the staging folder.
func (t *transaction) setAside(name string) error {
	aside := t.staging + "/o" + strconv.Itoa(t.kept)
	t.kept++
	if err := t.rename(name, aside); err != nil {
		return err
	}
	t.undo = append(t.undo, func() error { return t.rename(aside, name) })
	return nil
}

// prune removes the folders that deletions emptied.
func (t *transaction) prune(folder string) error {
	for ; folder != "."; folder = path.Dir(folder) {
		info, err := t.root.Lstat(folder)
		if err != nil {
			return err
		}
		if t.root.Remove(folder) != nil { // not empty
			return nil //nolint:nilerr // a folder that holds something else stays, which is what the caller wants
		}
		gone, perm := folder, info.Mode().Perm()
		t.undo = append(t.undo, func() error { return t.root.Mkdir(gone, perm) })
	}
	return nil
}

// place moves a staged file to its path.
func (t *transaction) place(i int, name string) error {
	if err := t.makeParents(name); err != nil {
		return err
	}
	info, err := t.root.Lstat(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("a folder with other files stands there")
	default:
		if err := t.setAside(name); err != nil {
			return err
		}
	}
	if err := t.rename(t.staged(i), name); err != nil {
		return err
	}
	t.undo = append(t.undo, func() error { return t.root.Remove(name) })
	return nil
}

// makeParents makes the missing folders of a path and refuses a parent that is no folder.
func (t *transaction) makeParents(name string) error {
	for i, c := range name {
		if c != '/' {
			continue
		}
		folder := name[:i]
		info, err := t.root.Lstat(folder)
		if err == nil && !info.IsDir() {
			return fmt.Errorf("%q is no folder", folder)
		}
		if err == nil {
			continue
		}
		if !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if err := t.root.Mkdir(folder, 0o777); err != nil {
			return err
		}
		t.undo = append(t.undo, func() error { return t.root.Remove(folder) })
	}
	return nil
}

// rename moves a file or link; where a folder of the target is another file system, by copying.
func (t *transaction) rename(from, to string) error {
	err := t.root.Rename(from, to)
	if !errors.Is(err, syscall.EXDEV) {
		return err
	}
	info, err := t.root.Lstat(from)
	if err != nil {
		return err
	}
	if info.Mode()&os.ModeSymlink != 0 {
		target, err := t.root.Readlink(from)
		if err != nil {
			return err
		}
		return errors.Join(t.root.Symlink(target, to), t.root.Remove(from))
	}
	if err := t.copy(from, to, info.Mode().Perm()); err != nil {
		return errors.Join(err, t.root.Remove(to))
	}
	return t.root.Remove(from)
}

func (t *transaction) copy(from, to string, perm os.FileMode) error {
	in, err := t.root.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := t.root.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, perm)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Chmod(perm), out.Close())
}

// rollBack undoes every step, the last one first.
func (t *transaction) rollBack() error {
	var failed error
	for i := len(t.undo) - 1; i >= 0; i-- {
		failed = errors.Join(failed, t.undo[i]())
	}
	return failed
}
