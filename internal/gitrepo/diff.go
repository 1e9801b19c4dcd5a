package gitrepo

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Statuses of a Change.
const (
	StatusAdded       = "added"
	StatusModified    = "modified"
	StatusDeleted     = "deleted"
	StatusTypeChanged = "type-changed" // between file, link and submodule
	StatusModeChanged = "mode-changed" // the executable bit only
)

// Change is one path that differs between two commits. A rename is a deletion and an addition.
type Change struct {
	Path    string `json:"path"` // bytes of the name; need not be UTF-8
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	Status  string `json:"status"`
	Binary  bool   `json:"binary,omitempty"` // lines are not counted
	OldMode string `json:"-"`                // "000000" where there was nothing
	NewMode string `json:"-"`
	OldID   string `json:"-"`
	NewID   string `json:"-"`
}

// diffArgs is every difference we make: no driver, no conversion, prefixes and ids fixed.
var diffArgs = []string{"diff-tree", "-r", "--no-commit-id", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=none"}

// Diff gives the unified difference of two commits or trees ("" = the empty tree) as bytes: binary, full ids, renames
// marked, prefixes a/ and b/. It can be applied by `git apply`.
func (r *RunRepo) Diff(ctx context.Context, from, to string) ([]byte, error) {
	var out bytes.Buffer
	err := r.WriteDiff(ctx, &out, from, to)
	return out.Bytes(), err
}

// WriteDiff is Diff for a difference of any size.
func (r *RunRepo) WriteDiff(ctx context.Context, w io.Writer, from, to string) error {
	trees, err := r.trees(ctx, from, to)
	if err != nil {
		return err
	}
	args := append(append([]string{}, diffArgs...), "-p", "--binary", "--full-index", "-M",
		"--src-prefix=a/", "--dst-prefix=b/", "--submodule=short", "--diff-algorithm=myers", "-U3")
	c := r.call()
	c.heavy, c.stdout = true, w
	if _, err := r.runner.run(ctx, c, append(args, trees...)...); err != nil {
		return fmt.Errorf("diff %s..%s: %w", short(from), short(to), missing(err))
	}
	return nil
}

// Changes lists the paths that differ between two commits or trees ("" = the empty tree) in git's order.
func (r *RunRepo) Changes(ctx context.Context, from, to string) ([]Change, error) {
	trees, err := r.trees(ctx, from, to)
	if err != nil {
		return nil, err
	}
	args := append(append([]string{}, diffArgs...), "--no-renames", "--raw", "--numstat", "--no-abbrev", "-z")
	c := r.call()
	c.heavy = true
	out, err := r.runner.run(ctx, c, append(args, trees...)...)
	if err != nil {
		return nil, fmt.Errorf("list changes %s..%s: %w", short(from), short(to), missing(err))
	}
	raw, rest := parseRaw(out)
	counts, err := parseNumstat(rest)
	if err != nil {
		return nil, err
	}
	return joinChanges(raw, counts), nil
}

// trees gives the tree ids of both sides.
func (r *RunRepo) trees(ctx context.Context, from, to string) ([]string, error) {
	left, err := r.TreeOf(ctx, from)
	if err != nil {
		return nil, err
	}
	right, err := r.TreeOf(ctx, to)
	if err != nil {
		return nil, err
	}
	return []string{left, right}, nil
}

// lineCount is what numstat says of one path.
type lineCount struct {
	added, removed int
	binary         bool
}

// parseNumstat reads `--numstat -z` records: "added TAB removed TAB path", with "-" for binaries.
func parseNumstat(out []byte) (map[string]lineCount, error) {
	counts := map[string]lineCount{}
	for _, record := range splitZ(bytes.TrimPrefix(out, []byte{0})) {
		fields := strings.SplitN(record, "\t", 3)
		if len(fields) != 3 {
			return nil, fmt.Errorf("unexpected numstat record %q", record)
		}
		if fields[0] == "-" {
			counts[fields[2]] = lineCount{binary: true}
			continue
		}
		added, err := strconv.Atoi(fields[0])
		if err != nil {
			return nil, fmt.Errorf("unexpected numstat record %q: %w", record, err)
		}
		removed, err := strconv.Atoi(fields[1])
		if err != nil {
			return nil, fmt.Errorf("unexpected numstat record %q: %w", record, err)
		}
		counts[fields[2]] = lineCount{added: added, removed: removed}
	}
	return counts, nil
}

func joinChanges(raw []rawChange, counts map[string]lineCount) []Change {
	changes := make([]Change, 0, len(raw))
	for _, change := range raw {
		count := counts[change.path]
		changes = append(changes, Change{
			Path: change.path, Added: count.added, Removed: count.removed, Binary: count.binary, Status: statusOf(change),
			OldMode: change.oldMode, NewMode: change.newMode, OldID: change.oldID, NewID: change.newID,
		})
	}
	return changes
}

func statusOf(change rawChange) string {
	switch {
	case change.status == 'A':
		return StatusAdded
	case change.status == 'D':
		return StatusDeleted
	case change.status == 'T':
		return StatusTypeChanged
	case change.oldID == change.newID:
		return StatusModeChanged
	}
	return StatusModified
}
