package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// attributeRules lie in info/attributes, which no file of a tree can override: no conversion of bytes, no filter, no
// driver, and no attribute that hides a difference.
const attributeRules = "* -text !eol -ident !filter !working-tree-encoding !diff !merge !crlf !export-subst !export-ignore !conflict-marker-size !whitespace\n"

// RunRepo is a run's own bare repository. It is safe for concurrent use; calls on one workspace directory wait for each
// other, calls on different ones run in parallel.
type RunRepo struct {
	runner Runner
	dir    string
	format string
}

// RunRepoOptions describe a new run repository.
type RunRepoOptions struct {
	Dir          string   // absolute path of the repository, made with its parents
	Alternates   []string // object directories to borrow from (Source.ObjectsDir), when they are on this machine
	Excludes     []byte   // ignore rules beside the tree's .gitignore (Source.Excludes)
	ObjectFormat string   // "" = sha1
	Shallow      []byte   // Source.ShallowFile: where the borrowed history ends
}

// CreateRunRepo makes the repository, or opens it where it exists already; alternates, excludes and shallow are
// written again in both cases. It appears under its name only when it is complete.
func CreateRunRepo(ctx context.Context, o RunRepoOptions) (*RunRepo, error) {
	if !filepath.IsAbs(o.Dir) {
		return nil, fmt.Errorf("run repository %q: the path must be absolute", o.Dir)
	}
	if !isGitDir(o.Dir) {
		if err := initRunRepo(ctx, o); err != nil {
			return nil, fmt.Errorf("create the run repository %s: %w", o.Dir, err)
		}
	}
	if err := writeRunFiles(o); err != nil {
		return nil, fmt.Errorf("create the run repository %s: %w", o.Dir, err)
	}
	return OpenRunRepo(ctx, o.Dir)
}

// initRunRepo builds the repository beside its place and renames it there.
func initRunRepo(ctx context.Context, o RunRepoOptions) error {
	if err := os.MkdirAll(filepath.Dir(o.Dir), 0o755); err != nil {
		return err
	}
	staging, err := os.MkdirTemp(filepath.Dir(o.Dir), ".new-repo-")
	if err != nil {
		return err
	}
	defer func() { _ = RemoveTree(staging) }()
	args := []string{"init", "-q", "--bare", "--template=", "--initial-branch=none", "--object-format=" + firstOf(o.ObjectFormat, "sha1"), staging}
	if _, err := (Runner{}).run(ctx, call{}, args...); err != nil {
		return err
	}
	if err := os.Chmod(staging, 0o755); err != nil {
		return err
	}
	err = os.Rename(staging, o.Dir)
	if err != nil && isGitDir(o.Dir) {
		return nil // another process was first
	}
	return err
}

// writeRunFiles writes what makes the repository ours.
func writeRunFiles(o RunRepoOptions) error {
	info := filepath.Join(o.Dir, "info")
	objectInfo := filepath.Join(o.Dir, "objects", "info")
	for _, dir := range []string{info, objectInfo} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	alternates, err := alternatesFile(o.Alternates)
	if err != nil {
		return err
	}
	files := []struct {
		path    string
		content []byte
	}{
		{filepath.Join(info, "attributes"), []byte(attributeRules)},
		{filepath.Join(info, "exclude"), o.Excludes},
		{filepath.Join(objectInfo, "alternates"), alternates},
		{filepath.Join(o.Dir, "shallow"), o.Shallow},
	}
	for _, file := range files {
		if err := writeOrRemove(file.path, file.content); err != nil {
			return err
		}
	}
	return nil
}

// writeOrRemove writes a file atomically; no content means no file.
func writeOrRemove(path string, content []byte) error {
	if len(content) == 0 {
		err := os.Remove(path)
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return err
	}
	return writeAtomically(path, content)
}

func writeAtomically(path string, content []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), ".new-")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temporary.Name()) }()
	_, err = temporary.Write(content)
	if err = errors.Join(err, temporary.Chmod(0o644), temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}

// alternatesFile is the content of objects/info/alternates. A path that git would read as something else is quoted in
// its way.
func alternatesFile(dirs []string) ([]byte, error) {
	var b bytes.Buffer
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		if !filepath.IsAbs(dir) {
			return nil, fmt.Errorf("alternate %q: the path must be absolute", dir)
		}
		b.WriteString(quoteAlternate(dir))
		b.WriteByte('\n')
	}
	return b.Bytes(), nil
}

// quoteAlternate quotes a path with control characters or quotes as a C string, as git's unquote reads it.
func quoteAlternate(dir string) string {
	if !strings.ContainsAny(dir, "\"\\\n\r\t") {
		return dir
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(dir); i++ {
		switch c := dir[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20 || c >= 0x7f:
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// OpenRunRepo opens an existing run repository.
func OpenRunRepo(ctx context.Context, dir string) (*RunRepo, error) {
	if !isGitDir(dir) {
		return nil, fmt.Errorf("run repository %s: %w", dir, fs.ErrNotExist)
	}
	realDir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("run repository %s: %w", dir, err)
	}
	r := &RunRepo{dir: realDir}
	if r.format, err = formatOf(realDir); err != nil {
		return nil, fmt.Errorf("run repository %s: %w", dir, err)
	}
	return r, nil
}

// formatOf reads the hash function from the repository's configuration, which nobody but us writes.
func formatOf(dir string) (string, error) {
	content, err := os.ReadFile(filepath.Join(dir, "config"))
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(content)) {
		if key, value, ok := strings.Cut(line, "="); ok && strings.EqualFold(strings.TrimSpace(key), "objectformat") {
			return strings.TrimSpace(value), nil
		}
	}
	return "sha1", nil
}

// Dir is the path of the repository.
func (r *RunRepo) Dir() string { return r.dir }

// ObjectsDir is its object store: what a sandboxed agent must be able to read, with its alternates.
func (r *RunRepo) ObjectsDir() string { return filepath.Join(r.dir, "objects") }

// call is a call on the repository without a work tree.
func (r *RunRepo) call() call { return call{gitDir: r.dir} }

// Has reports whether an object is there (borrowed ones included).
func (r *RunRepo) Has(ctx context.Context, object string) bool {
	return hasObject(ctx, r.runner, r.call(), object)
}

func hasObject(ctx context.Context, runner Runner, c call, object string) bool {
	if object == "" || strings.HasPrefix(object, "-") {
		return false
	}
	_, err := runner.run(ctx, c, "cat-file", "-e", object)
	return err == nil
}

// TreeOf gives the tree id of a commit (or of a tree).
func (r *RunRepo) TreeOf(ctx context.Context, commit string) (string, error) {
	if commit == "" {
		return r.emptyTree(ctx)
	}
	return r.parse(ctx, commit, "tree")
}

// parse resolves a name to the id of one type of object.
func (r *RunRepo) parse(ctx context.Context, name, kind string) (string, error) {
	if strings.HasPrefix(name, "-") {
		return "", fmt.Errorf("%w: %q is no object", ErrUnresolved, name)
	}
	key := resolution{r.dir, name, kind}
	if id, ok := resolutions.get(key); ok {
		return id, nil
	}
	id, err := r.runner.line(ctx, r.call(), "rev-parse", "--verify", "-q", name+"^{"+kind+"}")
	if exitOf(err) > 0 {
		return "", fmt.Errorf("%w: %s %q is not in %s: %w", ErrMissingObject, kind, name, r.dir, err)
	}
	if err == nil && isFullID(name) {
		resolutions.put(key, id)
	}
	return id, err
}

// emptyTree writes and names the tree without entries.
func (r *RunRepo) emptyTree(ctx context.Context) (string, error) {
	return r.runner.line(ctx, r.call(), "mktree")
}

// CommitTree makes a commit of a tree by conclave's identity. Equal arguments give an equal id.
func (r *RunRepo) CommitTree(ctx context.Context, tree string, parents []string, message string, when time.Time) (string, error) {
	return r.commitAs(ctx, author{machineName, machineEmail}, tree, parents, message, when)
}

type author struct{ name, email string }

func (r *RunRepo) commitAs(ctx context.Context, by author, tree string, parents []string, message string, when time.Time) (string, error) {
	c := r.call()
	c.env = identityEnv(by.name, by.email, when)
	c.stdin = strings.NewReader(message)
	args := []string{"commit-tree", tree}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	id, err := r.runner.line(ctx, c, append(args, "-F", "-")...)
	if err != nil {
		return "", fmt.Errorf("commit tree %s: %w", short(tree), err)
	}
	return id, nil
}

// File gives the content of a path in a commit; false where there is no such file. A link gives its target.
func (r *RunRepo) File(ctx context.Context, commit, path string) ([]byte, bool, error) {
	return fileOf(ctx, r.runner, r.call(), commit, path)
}

func fileOf(ctx context.Context, runner Runner, c call, commit, path string) ([]byte, bool, error) {
	out, err := runner.run(ctx, c, "ls-tree", "-z", "--full-tree", commit, "--", path)
	if err != nil {
		return nil, false, fmt.Errorf("read %s of %s: %w", path, short(commit), err)
	}
	for _, entry := range parseTree(out) {
		if entry.path == path && entry.mode != modeGitlink && entry.mode != modeTree {
			content, err := runner.run(ctx, c, "cat-file", "blob", entry.id)
			return content, err == nil, err
		}
	}
	return nil, false, nil
}

// copyFile copies a file with its modification time: git takes an index's time to tell which of its entries may have
// changed unnoticed.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}
