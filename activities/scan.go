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
	if w.total, err = a.Store.Put(ctx, list); err != nil {
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
	opaque, err := countOpaque(ctx, repo, from, to, w.changes, rules, lines)
	if err != nil {
		return w, err
	}
	w.scan, w.notes = scanned(rules.Scan(guarded(w.changes), lines, tests, settings...))
	if len(opaque) > 0 {
		w.notes = append(w.notes, clip(fmt.Sprintf("text with bytes that make git take it for binary, so that no diff shows it: %q", opaque), detailLimit))
	}
	return w, a.found(ctx, &w.scan, added)
}

// countOpaque counts the lines of text that git takes for binary because of a byte in it: its patch has none, so that a
// change of any size would look like nothing. It names the files.
func countOpaque(ctx context.Context, repo *gitrepo.RunRepo, from, to string, changed []gitrepo.Change, rules *guard.Rules, lines *guard.Lines) ([]string, error) {
	var binary []string
	for _, c := range changed {
		if c.Binary && !rules.Generated(c.Path) {
			binary = append(binary, c.Path)
		}
	}
	var opaque []string
	for some := range slices.Chunk(binary, mostOpen) {
		for _, commit := range []string{from, to} {
			files, err := repo.Files(ctx, commit, some)
			if err != nil {
				return nil, err
			}
			for _, file := range files {
				if n := guard.TextLines(file.Content); n > 0 {
					lines.Counted += n
					opaque = append(opaque, file.Path)
				}
			}
		}
	}
	slices.Sort(opaque)
	return slices.Compact(opaque), nil
}

// mostOpen is how many binary files are held in memory together, of each at most 1 MiB.
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

// scanned is a report as the history holds it, and what it leaves out in words.
func scanned(report guard.Report) (loop.Scan, []string) {
	scan := loop.Scan{Lines: report.Lines, ProtectedDigest: report.Digest}
	for _, path := range fitting(report.Exempt, exemptBytes) {
		scan.Exempt = append(scan.Exempt, strings.ToValidUTF8(path, "\uFFFD"))
	}
	room := protectedBytes
	for _, hit := range oneOfEachFirst(report.Protected) {
		entry := loop.Guarded{Path: strings.ToValidUTF8(hit.Path, "\uFFFD"), Why: hit.Why, Detail: clip(hit.Detail, detailLimit)}
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
