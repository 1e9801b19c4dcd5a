package calibration

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"conclave/internal/review"
)

// CaseFile is the name of the file that describes a case, in the case's folder.
const CaseFile = "case.yaml"

// Case is one labelled change.
type Case struct {
	Name        string `json:"name"`
	Requirement string `json:"requirement"`
	// Base is the folder of the tree before the change. The change is Head, the folder of the tree after it, or Diff, a
	// patch of git; exactly one of both is set. All are relative to the case's folder.
	Base string `json:"base"`
	Head string `json:"head,omitempty"`
	Diff string `json:"diff,omitempty"`
	// Expected are the faults of the change; a change without any is clean.
	Expected []Expectation `json:"expected"`
	// Digest identifies the case with all its files (see Digest).
	Digest string `json:"digest,omitempty"`
}

// Expectation is one fault that a seat with its lens must raise.
type Expectation struct {
	Path string `json:"path"`
	// From and To are lines of the changed file; 0 for the whole file.
	From int `json:"from,omitempty"`
	To   int `json:"to,omitempty"`
	// Lens is what has to see it, Severity the least that it has to be raised with.
	Lens     string          `json:"lens"`
	Severity review.Severity `json:"severity"`
	// Optional faults are right to raise and may be left out.
	Optional bool `json:"optional,omitempty"`
	// Why says what is wrong, for people.
	Why string `json:"why,omitempty"`
}

// String is the place as one writes it.
func (e Expectation) String() string {
	switch e.From {
	case 0:
		return e.Path
	case e.To:
		return fmt.Sprintf("%s:%d", e.Path, e.From)
	}
	return fmt.Sprintf("%s:%d-%d", e.Path, e.From, e.To)
}

// Clean says that nothing may be raised.
func (c Case) Clean() bool { return len(c.Expected) == 0 }

// Digest identifies a set of files by names and contents, in any order.
func Digest(files map[string][]byte) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(sum, "%d %s %d\n", len(name), name, len(files[name]))
		sum.Write(files[name])
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}

// DigestOf identifies a set of cases by their digests, in any order.
func DigestOf(cases []Case) string {
	files := map[string][]byte{}
	for _, c := range cases {
		files[c.Name] = []byte(c.Digest)
	}
	return Digest(files)
}

// inside says that a path is relative and leads nowhere out.
func inside(p string) bool {
	clean := path.Clean(p)
	return p != "" && !path.IsAbs(p) && clean != ".." && !strings.HasPrefix(clean, "../") && !strings.ContainsAny(p, "\\\x00")
}
