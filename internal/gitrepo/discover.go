package gitrepo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// found is where a work directory's repository lies. An empty gitDir means that there is none.
type found struct {
	root   string // work tree root, absolute, without links
	gitDir string // absolute; of a linked worktree: its own
}

// WorkTreeRoot gives the root of the git work tree that holds dir, or dir itself (absolute, without links) and false
// where there is none.
func WorkTreeRoot(dir string) (root string, isRepository bool, err error) {
	place, err := discover(dir)
	return place.root, place.gitDir != "", err
}

// discover walks up from dir. We do it ourselves, and name the result to git by GIT_DIR, because git's own search
// depends on the environment and on an ownership list in the user's configuration that our calls do not read.
func discover(dir string) (found, error) {
	start, err := realDirectory(dir)
	if err != nil {
		return found{}, err
	}
	for at := start; ; at = filepath.Dir(at) {
		gitDir, err := gitDirOf(at)
		if err != nil {
			return found{}, err
		}
		if gitDir != "" {
			return found{root: at, gitDir: gitDir}, nil
		}
		if isGitDir(at) {
			return found{}, fmt.Errorf("%w: %s has no work tree; name a clone of it or a worktree (git worktree add)", ErrBareRepository, at)
		}
		if at == filepath.Dir(at) {
			return found{root: start}, nil
		}
	}
}

// realDirectory gives the absolute path of an existing directory without links.
func realDirectory(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("work directory %q: %w", dir, err)
	}
	realPath, err := filepath.EvalSymlinks(abs)
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("work directory %s: %w: it does not exist", dir, ErrNotDirectory)
	}
	if err != nil {
		return "", fmt.Errorf("work directory %s: %w", dir, err)
	}
	info, err := os.Stat(realPath)
	if err != nil {
		return "", fmt.Errorf("work directory %s: %w", dir, err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("work directory %s: %w: it is a file", dir, ErrNotDirectory)
	}
	return realPath, nil
}

// gitDirOf gives the git directory that at/.git names, or "" where there is none.
func gitDirOf(at string) (string, error) {
	dotGit := filepath.Join(at, ".git")
	info, err := os.Stat(dotGit)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("%w: %s: %w", ErrCorruptRepository, dotGit, err)
	}
	if info.IsDir() {
		return gitDirFromFolder(dotGit)
	}
	return gitDirFromFile(dotGit)
}

// gitDirFromFolder accepts a .git folder. An empty one is what sandboxes leave as a mount point: no repository.
func gitDirFromFolder(dotGit string) (string, error) {
	if isGitDir(dotGit) {
		return dotGit, nil
	}
	entries, err := os.ReadDir(dotGit)
	if err != nil {
		return "", fmt.Errorf("%w: %s: %w", ErrCorruptRepository, dotGit, err)
	}
	if len(entries) == 0 {
		return "", nil
	}
	return "", fmt.Errorf("%w: %s lacks HEAD, objects or refs; restore it, or clone again", ErrCorruptRepository, dotGit)
}

// gitDirFromFile follows a "gitdir: PATH" file of a linked worktree or a submodule.
func gitDirFromFile(dotGit string) (string, error) {
	content, err := os.ReadFile(dotGit)
	if err != nil {
		return "", fmt.Errorf("%w: %s: %w", ErrCorruptRepository, dotGit, err)
	}
	target, ok := strings.CutPrefix(strings.TrimRight(string(content), "\r\n"), "gitdir: ")
	if !ok {
		return "", fmt.Errorf("%w: %s is a file but names no gitdir", ErrCorruptRepository, dotGit)
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(dotGit), target)
	}
	if _, err := os.Stat(filepath.Join(target, "HEAD")); err != nil {
		return "", fmt.Errorf("%w: %s points to %s, which is no git directory; `git worktree repair` may mend it", ErrCorruptRepository, dotGit, target)
	}
	return filepath.Clean(target), nil
}

// isGitDir tells a git directory by the three entries that git itself demands.
func isGitDir(dir string) bool {
	head, err := os.Lstat(filepath.Join(dir, "HEAD"))
	if err != nil || head.IsDir() {
		return false
	}
	for _, name := range []string{"objects", "refs"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}
