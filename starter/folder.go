package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// countPatience is how long files are counted before the count is called a least one.
const countPatience = 3 * time.Second

// checkFolder looks at a work directory that is no repository: everything in it would be copied for the agents. A home
// folder is certainly not meant.
func (p *plan) checkFolder(ctx context.Context, _ *cobra.Command) error {
	if p.source.IsRepository() {
		return nil
	}
	root := p.source.Root()
	if holdsHome(root) {
		return usage("go to the project's folder or name it with --workdir; `git init` and a first commit make one of any folder",
			"%s is no git repository, and too much to copy for the agents: it is your home folder or holds it", root)
	}
	p.folder = countFolder(ctx, root).words(root)
	return nil
}

// holdsHome says that a folder is the home folder or a parent of it.
func holdsHome(root string) bool {
	if root == filepath.Dir(root) {
		return true
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return false
	}
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	below, err := filepath.Rel(root, home)
	return err == nil && below != ".." && !strings.HasPrefix(below, ".."+string(filepath.Separator))
}

// folderSize is what lies below a folder; more says that the count is not complete.
type folderSize struct {
	files, bytes int64
	more         bool
}

func countFolder(ctx context.Context, root string) folderSize {
	ctx, cancel := context.WithTimeout(ctx, countPatience)
	defer cancel()
	var n folderSize
	_ = filepath.WalkDir(root, func(_ string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			n.more = true
			return fs.SkipAll
		case err != nil:
			return nil //nolint:nilerr // what cannot be read is the snapshot's to complain about
		case entry.IsDir() && (entry.Name() == ".git" || entry.Name() == ".conclave"):
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		n.files++
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			n.bytes += info.Size()
		}
		return nil
	})
	return n
}

func (n folderSize) words(root string) string {
	const mega = 1 << 20
	size := fmt.Sprintf("%.1f MB", float64(n.bytes)/mega)
	if n.bytes >= 10*mega {
		size = fmt.Sprintf("%d MB", n.bytes/mega)
	}
	count := fmt.Sprintf("all %d files", n.files)
	if n.more {
		count, size = fmt.Sprintf("more than %d files", n.files), "more than "+size
	}
	return fmt.Sprintf("%s is no git repository: %s (%s) below it are copied for the agents, except what a .gitignore names", printable(root), count, size)
}
