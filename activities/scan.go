package activities

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"conclave/internal/artifact"
	"conclave/internal/gitrepo"
	"conclave/internal/guard"
	"conclave/internal/loop"
	"conclave/internal/secret"
)

// whole is a change from the run's base to a commit: its list of paths and its diff in the store, and what must be
// looked at before it is reviewed.
type whole struct {
	changes     []gitrepo.Change
	total, diff artifact.Ref
	scan        loop.Scan
	notes       []string
}

// guardRules are what a change is scanned for. What the verify command runs is read from the base.
func guardRules(ctx context.Context, repo *gitrepo.RunRepo, base string, protected, generated []string, verify string) (*guard.Rules, error) {
	if guard.RunsScripts(verify) {
		scripts, _, err := repo.File(ctx, base, "package.json")
		if err != nil {
			return nil, err
		}
		verify = guard.WithScripts(verify, scripts)
	}
	rules, err := guard.NewRules(protected, generated, verify)
	if err != nil {
		return nil, err
	}
	return rules, readCommand(ctx, repo, base, rules)
}

// commandDepth is how deep files of the command that name runners are followed: a Makefile that calls npm, whose
// package.json calls jest.
const commandDepth = 4

// readCommand reads what of the verify command the base has, until that names nothing new.
func readCommand(ctx context.Context, repo *gitrepo.RunRepo, base string, rules *guard.Rules) error {
	has, asked := map[string]string{}, map[string]bool{}
	for range commandDepth {
		names := slices.DeleteFunc(rules.CommandFiles(), func(name string) bool { return asked[name] })
		if len(names) == 0 {
			break
		}
		for _, name := range names {
			asked[name] = true
		}
		files, err := repo.Files(ctx, base, names)
		if err != nil {
			return err
		}
		for _, file := range files {
			if file.Link {
				has[file.Path] = string(file.Content)
				continue
			}
			has[file.Path] = ""
			rules.Reach(file.Path, file.Content)
		}
		rules.Base(has)
	}
	return nil
}

// describe lists, stores and scans a change. The diff is made once, whatever its size.
func (a *Activities) describe(ctx context.Context, repo *gitrepo.RunRepo, runID, from, to string, rules *guard.Rules, allowSecrets []string) (w whole, err error) {
	if w.changes, err = repo.Changes(ctx, from, to); err != nil {
		return w, err
	}
	list, err := json.Marshal(changes(w.changes))
	if err != nil {
		return w, err
	}
	if w.total, err = a.Store.Put(ctx, a.secrets.Redact(list)); err != nil {
		return w, err
	}
	lines, tests := guard.NewLines(rules.Generated), guard.NewTests()
	added, err := a.added(rules, allowSecrets)
	if err != nil {
		return w, err
	}
	patch := guard.NewPatch(lines, tests, added)
	w.diff, err = a.putStream(ctx, runID, func(out io.Writer) error {
		return a.hidden(out, func(out io.Writer) error { return repo.WriteDiff(ctx, io.MultiWriter(out, patch), from, to) })
	})
	if err != nil {
		return w, err
	}
	if err := patch.Close(); err != nil {
		return w, err
	}
	settings, err := otherSettings(ctx, repo, from, to, w.changes, rules)
	if err != nil {
		return w, err
	}
	shown := span{repo: repo, from: from, to: to, changes: w.changes}
	opaque, err := shown.countOpaque(ctx, rules, lines)
	if err != nil {
		return w, err
	}
	if err := shown.unshown(ctx, added); err != nil {
		return w, err
	}
	w.scan, w.notes = scanned(rules.Scan(guarded(w.changes), lines, tests, settings...), a.secrets.String)
	if len(opaque) > 0 {
		w.notes = append(w.notes, clip(a.secrets.String(fmt.Sprintf("text with bytes that make git take it for binary, so that no diff shows it: %q", opaque)), detailLimit))
	}
	known := func(lines []string) (map[string]bool, error) { return repo.Holds(ctx, from, lines) }
	if err := added.Known(known); err != nil {
		return w, err
	}
	return w, a.found(ctx, &w.scan, added)
}

// span is what lies between two commits.
type span struct {
	repo     *gitrepo.RunRepo
	from, to string
	changes  []gitrepo.Change
}

// countOpaque counts the lines of text that git takes for binary because of a byte in it: its patch has none, so that a
// change of any size would look like nothing. It names the files.
func (s span) countOpaque(ctx context.Context, rules *guard.Rules, lines *guard.Lines) ([]string, error) {
	var opaque []string
	err := s.each(ctx, s.binary(rules.Generated), func(path string, before, after []byte) {
		if n := guard.TextLines(before) + guard.TextLines(after); n > 0 {
			lines.Counted += n
			opaque = append(opaque, path)
		}
	})
	slices.Sort(opaque)
	return opaque, err
}

// unshown looks for secrets where the patch shows nothing: in files that git takes for binary, and behind the beginning
// of very long lines.
func (s span) unshown(ctx context.Context, added *secret.Added) error {
	return s.each(ctx, append(s.binary(nil), added.Cut()...), added.Whole)
}

// binary are the changed files that git takes for binary, without those that are left out.
func (s span) binary(without func(path string) bool) []string {
	var binary []string
	for _, c := range s.changes {
		if c.Binary && (without == nil || !without(c.Path)) {
			binary = append(binary, c.Path)
		}
	}
	return binary
}

// each reads files on both sides; what is missing is empty.
func (s span) each(ctx context.Context, paths []string, do func(path string, before, after []byte)) error {
	for some := range slices.Chunk(paths, mostOpen) {
		var sides [2]map[string][]byte
		for i, commit := range []string{s.from, s.to} {
			files, err := s.repo.Files(ctx, commit, some)
			if err != nil {
				return err
			}
			sides[i] = map[string][]byte{}
			for _, file := range files {
				sides[i][file.Path] = file.Content
			}
		}
		for _, path := range some {
			do(path, sides[0][path], sides[1][path])
		}
	}
	return nil
}

// mostOpen is how many files are held in memory together, of each at most 1 MiB on either side.
const mostOpen = 16

// otherSettings are the changed files that hold a part of what the verify command does, and of which that part differs.
func otherSettings(ctx context.Context, repo *gitrepo.RunRepo, from, to string, changed []gitrepo.Change, rules *guard.Rules) ([]string, error) {
	var out []string
	for _, c := range changed {
		if !rules.Settings(guard.Change{Path: c.Path, Existed: c.Status != gitrepo.StatusAdded}) {
			continue
		}
		before, _, err := repo.File(ctx, from, c.Path) // where it is added, empty
		if err != nil {
			return nil, err
		}
		after, _, err := repo.File(ctx, to, c.Path) // gone is empty, and so differs
		if err != nil {
			return nil, err
		}
		if !guard.SameSettings(c.Path, before, after) {
			out = append(out, c.Path)
		}
	}
	return out, nil
}

// guarded are changes as package guard reads them.
func guarded(in []gitrepo.Change) []guard.Change {
	out := make([]guard.Change, 0, len(in))
	for _, c := range in {
		change := guard.Change{Path: c.Path, Existed: c.Status != gitrepo.StatusAdded}
		if c.Status != gitrepo.StatusDeleted {
			change.Mode, change.ID = c.NewMode, c.NewID
		}
		out = append(out, change)
	}
	return out
}

// Bounds of a scan in the history, in bytes; its digest is over everything.
const (
	exemptBytes    = 4 << 10
	protectedBytes = 8 << 10
	detailLimit    = 240
)

// scanned is a report as the history holds it, and what it leaves out in words. hide takes secrets out before texts are cut.
func scanned(report guard.Report, hide func(string) string) (loop.Scan, []string) {
	scan := loop.Scan{Lines: report.Lines, ProtectedDigest: report.Digest}
	for _, path := range fitting(report.Exempt, exemptBytes) {
		scan.Exempt = append(scan.Exempt, strings.ToValidUTF8(path, "\uFFFD"))
	}
	room := protectedBytes
	for _, hit := range oneOfEachFirst(report.Protected) {
		entry := loop.Guarded{Path: strings.ToValidUTF8(hit.Path, "\uFFFD"), Why: hit.Why, Detail: clip(hide(hit.Detail), detailLimit)}
		if room -= jsonBytes(entry); room < 0 {
			break
		}
		scan.Protected = append(scan.Protected, entry)
	}
	slices.SortStableFunc(scan.Protected, func(a, b loop.Guarded) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Why, b.Why)) })
	var notes []string
	if more := len(report.Exempt) - len(scan.Exempt); more > 0 {
		notes = append(notes, fmt.Sprintf("%d more generated and vendored files changed than are listed", more))
	}
	if more := len(report.Protected) - len(scan.Protected); more > 0 {
		notes = append(notes, fmt.Sprintf("%d more protected changes were made than are listed", more))
	}
	return scan, notes
}

// oneOfEachFirst puts one hit of each reason in front: many of one reason push none of another out of the list.
func oneOfEachFirst(hits []guard.Hit) []guard.Hit {
	var first, rest []guard.Hit
	seen := map[string]bool{}
	for _, hit := range hits {
		if seen[hit.Why] {
			rest = append(rest, hit)
		} else {
			first = append(first, hit)
		}
		seen[hit.Why] = true
	}
	return append(first, rest...)
}
