package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// ApplyOptions say what is copied where.
type ApplyOptions struct {
	Base   string // the commit or tree the run started from
	Commit string // the run's result
	Target string // top of a work tree or any directory; need not be a repository
	// WithDeletions deletes what the run deleted. Without it deletions are only listed.
	WithDeletions bool
	// Force overwrites and deletes files that changed since the base. Nothing else that is refused becomes allowed by it.
	Force bool
}

// Applied lists what was done, in git's order of paths.
type Applied struct {
	Written          []string
	Deleted          []string
	SkippedDeletions []string
	Unchanged        []string // held the result already
	Skipped          []string // submodules
}

// Conflict is one path that cannot be applied, and why.
type Conflict struct {
	Path   string
	Reason string
	Forced bool // Force would get over it
}

// ConflictError lists everything that kept Apply from beginning. Nothing was written.
type ConflictError struct {
	Target    string
	Conflicts []Conflict
}

// Error implements error with one line per path, 20 at most.
func (e *ConflictError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "nothing was written to %s: %d file(s) cannot be applied", e.Target, len(e.Conflicts))
	forced := false
	for i, conflict := range e.Conflicts {
		forced = forced || conflict.Forced
		if i == 20 {
			fmt.Fprintf(&b, "\n  and %d more", len(e.Conflicts)-i)
			break
		}
		fmt.Fprintf(&b, "\n  %q: %s", conflict.Path, conflict.Reason)
	}
	if forced {
		b.WriteString("\nuse --force to overwrite what changed since the run's base")
	}
	return b.String()
}

// Apply copies the difference of base and commit into a directory: all of it or nothing. It never follows a link, never
// writes outside the target, and refuses with a ConflictError to overwrite what differs from the base. A file whose only
// difference are CRLF line ends counts as equal and keeps them.
func (r *RunRepo) Apply(ctx context.Context, o ApplyOptions) (Applied, error) {
	target, err := realDirectory(o.Target)
	if err != nil {
		return Applied{}, fmt.Errorf("apply: %w", err)
	}
	changes, err := r.Changes(ctx, o.Base, o.Commit)
	if err != nil {
		return Applied{}, fmt.Errorf("apply: %w", err)
	}
	root, err := os.OpenRoot(target)
	if err != nil {
		return Applied{}, fmt.Errorf("apply to %s: %w", target, err)
	}
	defer func() { _ = root.Close() }()
	p := &plan{repo: r, root: root, options: o, target: target, byPath: map[string]Change{}}
	if err := p.make(ctx, changes); err != nil {
		return Applied{}, fmt.Errorf("apply to %s: %w", target, err)
	}
	if len(p.conflicts) > 0 {
		return Applied{}, &ConflictError{Target: target, Conflicts: p.conflicts}
	}
	if err := p.carryOut(ctx); err != nil {
		return Applied{}, fmt.Errorf("apply to %s: %w", target, err)
	}
	return p.done, nil
}

// plan is what Apply is going to do.
type plan struct {
	repo      *RunRepo
	root      *os.Root
	target    string
	options   ApplyOptions
	byPath    map[string]Change
	links     map[string]string // targets of new links, by blob id
	writes    []planned
	deletes   []string
	conflicts []Conflict
	done      Applied
}

// planned is one file or link to write.
type planned struct {
	change Change
	before os.FileInfo // what lies there now; nil = nothing
	crlf   bool        // keep CRLF line ends
}

func (p *plan) make(ctx context.Context, changes []Change) error {
	for _, change := range changes {
		p.byPath[change.Path] = change
	}
	if err := p.readLinks(ctx, changes); err != nil {
		return err
	}
	for _, change := range changes {
		if err := p.one(change); err != nil {
			return fmt.Errorf("%q: %w", change.Path, err)
		}
	}
	return nil
}

// readLinks reads the targets of the links to be written.
func (p *plan) readLinks(ctx context.Context, changes []Change) error {
	var ids []string
	for _, change := range changes {
		if change.NewMode == modeLink {
			ids = append(ids, change.NewID)
		}
	}
	p.links = map[string]string{}
	return p.repo.eachBlob(ctx, ids, func(i int, _ int64, content io.Reader) error {
		target, err := io.ReadAll(content)
		p.links[ids[i]] = string(target)
		return err
	})
}

func (p *plan) one(change Change) error {
	switch {
	case !filepath.IsLocal(change.Path) || path.Clean(change.Path) != change.Path || unaddable(change.Path):
		p.refuse(change.Path, "a name that must not be written", false)
		return nil
	case change.OldMode == modeGitlink || change.NewMode == modeGitlink:
		p.done.Skipped = append(p.done.Skipped, change.Path)
		return nil
	case change.Status == StatusDeleted && !p.options.WithDeletions:
		p.done.SkippedDeletions = append(p.done.SkippedDeletions, change.Path)
		return nil
	case change.Status == StatusDeleted:
		return p.deletion(change)
	}
	return p.writing(change)
}

func (p *plan) refuse(path, reason string, forced bool) {
	p.conflicts = append(p.conflicts, Conflict{Path: path, Reason: reason, Forced: forced})
}

func (p *plan) deletion(change Change) error {
	at, err := p.look(change.Path)
	switch {
	case err != nil:
		return err
	case at.behind != "" || at.info == nil: // gone already
		return nil
	case at.info.IsDir():
		p.refuse(change.Path, "is a folder there", false)
		return nil
	}
	same, _, err := p.holds(change.Path, at.info, change.OldMode, change.OldID)
	if err != nil {
		return err
	}
	if !same && !p.options.Force {
		p.refuse(change.Path, "changed since the run's base, and would be deleted", true)
		return nil
	}
	p.deletes = append(p.deletes, change.Path)
	return nil
}

func (p *plan) writing(change Change) error {
	if target := p.links[change.NewID]; change.NewMode == modeLink && leaves(change.Path, target) {
		p.refuse(change.Path, fmt.Sprintf("is a link that leads out of the tree, to %q; merge the branch if you want it", target), false)
		return nil
	}
	at, err := p.look(change.Path)
	switch {
	case err != nil:
		return err
	case at.behind != "":
		return p.writingBehind(change, at.behind)
	case at.info == nil:
		if change.OldMode != modeNone && !p.options.Force {
			p.refuse(change.Path, "was removed since the run's base", true)
			return nil
		}
	case at.info.IsDir():
		if !p.empties(change.Path) {
			p.refuse(change.Path, "is a folder there", false)
			return nil
		}
	default:
		return p.overwriting(change, at.info)
	}
	p.writes = append(p.writes, planned{change: change})
	return nil
}

// writingBehind handles a path whose parent is a file or a link in the target.
func (p *plan) writingBehind(change Change, behind string) error {
	gone := p.byPath[behind]
	switch {
	case gone.Status == StatusDeleted && p.options.WithDeletions:
		p.writes = append(p.writes, planned{change: change})
	case gone.Status == StatusDeleted:
		p.refuse(change.Path, fmt.Sprintf("needs %q deleted: use --with-deletions", behind), false)
	default:
		p.refuse(change.Path, fmt.Sprintf("lies behind %q, which is a link or a file there", behind), false)
	}
	return nil
}

func (p *plan) overwriting(change Change, info os.FileInfo) error {
	isNew, crlf, err := p.holds(change.Path, info, change.NewMode, change.NewID)
	if err != nil {
		return err
	}
	if isNew && (change.NewMode == modeLink || executable(info) == (change.NewMode == modeExecutable)) {
		p.done.Unchanged = append(p.done.Unchanged, change.Path)
		return nil
	}
	isOld := isNew
	if !isOld && change.OldMode != modeNone {
		if isOld, crlf, err = p.holds(change.Path, info, change.OldMode, change.OldID); err != nil {
			return err
		}
	}
	if !isOld && (!p.options.Force || !holdable(info)) {
		p.refuse(change.Path, overwriteReason(change, info), holdable(info))
		return nil
	}
	p.writes = append(p.writes, planned{change: change, before: info, crlf: crlf})
	return nil
}

func overwriteReason(change Change, info os.FileInfo) string {
	switch {
	case !holdable(info):
		return "is neither a file nor a link there"
	case change.OldMode == modeNone:
		return "exists there with another content"
	}
	return "changed since the run's base"
}

// empties reports whether deletions of this plan lie below a folder; carrying out finds out whether they empty it.
func (p *plan) empties(folder string) bool {
	if !p.options.WithDeletions {
		return false
	}
	for name, change := range p.byPath {
		if change.Status == StatusDeleted && strings.HasPrefix(name, folder+"/") {
			return true
		}
	}
	return false
}

// seen is what lies at a path of the target.
type seen struct {
	info   os.FileInfo // nil = nothing
	behind string      // the first parent that is no folder
}

// look examines a path of the target without following any link.
func (p *plan) look(name string) (seen, error) {
	for i, c := range name {
		if c != '/' {
			continue
		}
		info, err := p.root.Lstat(name[:i])
		if errors.Is(err, os.ErrNotExist) {
			return seen{}, nil
		}
		if err != nil {
			return seen{}, err
		}
		if !info.IsDir() {
			return seen{behind: name[:i]}, nil
		}
	}
	info, err := p.root.Lstat(name)
	if errors.Is(err, os.ErrNotExist) {
		return seen{}, nil
	}
	return seen{info: info}, err
}

// leaves tells a link target that leads out of the tree.
func leaves(name, target string) bool {
	if path.IsAbs(target) || filepath.IsAbs(target) {
		return true
	}
	joined := path.Join(path.Dir(name), target)
	return joined == ".." || strings.HasPrefix(joined, "../")
}

// holdable tells what git can hold.
func holdable(info os.FileInfo) bool {
	return info.Mode().IsRegular() || info.Mode()&os.ModeSymlink != 0
}

func executable(info os.FileInfo) bool { return info.Mode().Perm()&0o100 != 0 }
