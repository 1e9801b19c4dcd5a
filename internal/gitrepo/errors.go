package gitrepo

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"syscall"
)

// Conditions a caller can tell apart with errors.Is. The wrapped messages name the file, ref or directory and the remedy.
var (
	// ErrNotDirectory: the work directory is missing or no directory.
	ErrNotDirectory = errors.New("not a directory")
	// ErrBareRepository: the directory is a repository without a work tree, or lies inside a .git folder.
	ErrBareRepository = errors.New("bare repository")
	// ErrCorruptRepository: a .git is there but git cannot work with it.
	ErrCorruptRepository = errors.New("corrupt repository")
	// ErrForeign: the repository belongs to another user, and git's own configuration does not trust it.
	ErrForeign = errors.New("another user's repository")
	// ErrNoRepository: the call needs a git repository and the directory is none.
	ErrNoRepository = errors.New("no git repository")
	// ErrNoCommit: the repository has no commit yet.
	ErrNoCommit = errors.New("no commit yet")
	// ErrUnresolved: a ref, or the merge base of two, does not exist here.
	ErrUnresolved = errors.New("unresolved ref")
	// ErrBranchExists: the branch to land on exists and holds something else.
	ErrBranchExists = errors.New("branch exists")
	// ErrMissingObject: an object is not in the repository (a pruned or partial clone, or an import that was left out).
	ErrMissingObject = errors.New("missing object")
	// ErrNotEmpty: a checkout was asked for into a directory that holds something.
	ErrNotEmpty = errors.New("directory is not empty")
	// ErrTimeout: a git call exceeded its limit and was killed with its children.
	ErrTimeout = errors.New("git call timed out")
	// ErrNoGit: there is no git binary.
	ErrNoGit = errors.New("git not found")
)

// GitError is one failed git call. It unwraps to the system error that git reported (syscall.ENOSPC, EACCES, ...), to
// ErrTimeout, to ErrNoGit or to the context's error, where one of them is the cause.
type GitError struct {
	Args   []string // without the binary
	Dir    string   // the repository
	Exit   int      // -1 when it did not exit by itself
	Stderr string   // bounded tail
	Cause  error
}

// Error implements error: the subcommand, the repository and git's own words.
func (e *GitError) Error() string {
	name := "git"
	if len(e.Args) > 0 {
		name += " " + e.Args[0]
	}
	detail := strings.TrimSpace(e.Stderr)
	switch {
	case e.Cause != nil && detail != "":
		detail = e.Cause.Error() + ": " + detail
	case e.Cause != nil:
		detail = e.Cause.Error()
	case detail == "":
		detail = fmt.Sprintf("exit status %d", e.Exit)
	}
	if e.Dir != "" {
		return fmt.Sprintf("%s in %s: %s", name, e.Dir, detail)
	}
	return fmt.Sprintf("%s: %s", name, detail)
}

// Unwrap gives the cause.
func (e *GitError) Unwrap() error { return e.Cause }

// systemCause maps what git (in the C locale) says about the system to the error number, so that callers see a full
// disk as a full disk.
func systemCause(stderr []byte) error {
	for _, known := range []struct {
		text string
		err  error
	}{
		{"No space left on device", syscall.ENOSPC},
		{"Disk quota exceeded", syscall.EDQUOT},
		{"Read-only file system", syscall.EROFS},
		{"File too large", syscall.EFBIG},
		{"Too many open files", syscall.EMFILE},
		{"Input/output error", syscall.EIO},
		{"Permission denied", syscall.EACCES},
		{"Operation not permitted", syscall.EPERM},
	} {
		if bytes.Contains(stderr, []byte(known.text)) {
			return known.err
		}
	}
	return nil
}

// gitSays reports whether err is a failed git call whose stderr holds one of the texts.
func gitSays(err error, texts ...string) bool {
	var failed *GitError
	if !errors.As(err, &failed) {
		return false
	}
	for _, text := range texts {
		if strings.Contains(failed.Stderr, text) {
			return true
		}
	}
	return false
}

// exitOf gives the exit status of a failed git call, or -1.
func exitOf(err error) int {
	var failed *GitError
	if errors.As(err, &failed) && failed.Cause == nil {
		return failed.Exit
	}
	return -1
}
