package gitrepo

import (
	"context"
	"fmt"
	"io"
)

// TreeFile is a file of a commit. The content of a link is its target.
type TreeFile struct {
	Path    string
	Link    bool
	Content []byte
}

// longestFile bounds what Files reads of one file, in bytes.
const longestFile = 1 << 20

// Files gives those of the paths that are files or links of a commit, with at most 1 MiB of each one's content.
func (r *RunRepo) Files(ctx context.Context, commit string, paths []string) ([]TreeFile, error) {
	tree, err := r.TreeOf(ctx, commit)
	if err != nil {
		return nil, err
	}
	c := r.call()
	c.env = []string{"GIT_LITERAL_PATHSPECS=1"}
	out, err := r.runner.run(ctx, c, append([]string{"ls-tree", "-z", "--full-tree", tree, "--"}, paths...)...)
	if err != nil {
		return nil, fmt.Errorf("list files of %s: %w", short(commit), err)
	}
	var files []TreeFile
	var ids []string
	for _, entry := range parseTree(out) {
		if entry.mode != modeGitlink && entry.mode != modeTree {
			files = append(files, TreeFile{Path: entry.path, Link: entry.mode == modeLink})
			ids = append(ids, entry.id)
		}
	}
	err = r.eachBlob(ctx, ids, func(i int, _ int64, content io.Reader) (err error) {
		files[i].Content, err = io.ReadAll(io.LimitReader(content, longestFile))
		return err
	})
	return files, err
}
