package guard

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Hit is one change that must not pass unseen.
type Hit struct{ Path, Why, Detail string }

// Report is what a change looks like before it is reviewed.
type Report struct {
	// Lines counts added and removed lines outside of generated and vendored files.
	Lines int
	// Exempt lists the changed generated and vendored paths.
	Exempt []string
	// Protected lists the changes to what is protected, in the order of paths.
	Protected []Hit
	// Digest is over all protected changes: paths, reasons, and the new contents or the tests. "" without any.
	Digest string
}

// Scan reports on a change, whose patch went through both readers. settings are the files
// that Settings names and in which the verify command's part differs.
func (r *Rules) Scan(changes []Change, lines *Lines, tests *Tests, settings ...string) Report {
	report := Report{Lines: lines.Counted}
	sum := sha256.New()
	for _, c := range changes {
		if r.Generated(c.Path) {
			report.Exempt = append(report.Exempt, c.Path)
		}
		why := r.Why(c)
		if why == "" && slices.Contains(settings, c.Path) {
			why = VerifyCommand
		}
		if why != "" {
			report.Protected = append(report.Protected, Hit{Path: c.Path, Why: why})
			_, _ = fmt.Fprintf(sum, "%q %q %s %s\n", c.Path, why, c.Mode, c.ID)
		}
	}
	for _, file := range r.hidden {
		report.Protected = append(report.Protected, Hit{Path: file, Why: HiddenFile})
		_, _ = fmt.Fprintf(sum, "%q %q\n", file, HiddenFile)
	}
	for _, hit := range tests.Hits() {
		report.Protected = append(report.Protected, hit)
		_, _ = fmt.Fprintf(sum, "%q %q %q\n", hit.Path, hit.Why, hit.Detail)
	}
	slices.SortStableFunc(report.Protected, byPath)
	if len(report.Protected) > 0 {
		report.Digest = "sha256:" + hex.EncodeToString(sum.Sum(nil))
	}
	return report
}

func byPath(a, b Hit) int {
	if c := strings.Compare(a.Path, b.Path); c != 0 {
		return c
	}
	return strings.Compare(a.Why, b.Why)
}

func sorted(details map[Hit][]string) []Hit {
	hits := make([]Hit, 0, len(details))
	for hit, names := range details {
		hit.Detail = strings.Join(names, ", ")
		hits = append(hits, hit)
	}
	slices.SortFunc(hits, byPath)
	return hits
}
