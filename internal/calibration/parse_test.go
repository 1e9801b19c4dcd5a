package calibration_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/calibration"
	"conclave/internal/review"
)

func TestParse(t *testing.T) {
	c, err := calibration.Parse("x/case.yaml", []byte(`
name: off-by-one
requirement: |
  List pages.
change: change.diff
expect:
  - {path: ./a/page.go, lines: 12-14, lens: correctness, why: the last one is lost}
  - {path: b.go, lines: 3, lens: money, severity: medium}
  - {path: c.go, lens: tests, optional: true}
`))
	require.NoError(t, err)
	require.Equal(t, calibration.Case{Name: "off-by-one", Requirement: "List pages.\n", Base: "base", Diff: "change.diff", Expected: []calibration.Expectation{
		{Path: "a/page.go", From: 12, To: 14, Lens: "correctness", Severity: review.High, Why: "the last one is lost"},
		{Path: "b.go", From: 3, To: 3, Lens: "money", Severity: review.Medium},
		{Path: "c.go", Lens: "tests", Severity: review.High, Optional: true},
	}}, c)
	require.Equal(t, "a/page.go:12-14 b.go:3 c.go", c.Expected[0].String()+" "+c.Expected[1].String()+" "+c.Expected[2].String())
	require.False(t, c.Clean())

	c, err = calibration.Parse("x", []byte("name: clean\nrequirement: r\nbase: before\nhead: after\nexpect: []\n"))
	require.NoError(t, err)
	require.True(t, c.Clean())
	require.Equal(t, "before after", c.Base+" "+c.Head)
}

// TestFaultsNameFileLineAndKey: a case that is half read would be scored wrongly, so nothing is guessed.
func TestFaultsNameFileLineAndKey(t *testing.T) {
	const head = "name: a\nrequirement: r\nhead: head\n"
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"no YAML", "a: [", []string{"k/case.yaml is no valid YAML"}},
		{"empty", "", []string{"k/case.yaml is no mapping", "name, requirement"}},
		{"a list", "- a\n", []string{"no mapping"}},
		{"all that is missing", "head: head\n", []string{"name is missing", "requirement is missing", "expect is missing", "`expect: []`"}},
		{"unknown key", head + "expects: []\nexpect: []\n", []string{"k/case.yaml:4: unknown key expects", "expect"}},
		{"twice", head + "expect: []\nname: b\n", []string{"k/case.yaml:5: name stands twice"}},
		{"bad name", "name: a b\nrequirement: r\nhead: head\nexpect: []\n", []string{`k/case.yaml:1: name: "a b"`}},
		{"empty requirement", "name: a\nrequirement: ' '\nhead: h\nexpect: []\n", []string{"k/case.yaml:2: requirement"}},
		{"neither head nor change", "name: a\nrequirement: r\nexpect: []\n", []string{"head or change"}},
		{"both", head + "change: c.diff\nexpect: []\n", []string{"head or change"}},
		{"outside", "name: a\nrequirement: r\nhead: ../h\nexpect: []\n", []string{"k/case.yaml:3: head: ../h lies outside"}},
		{"absolute", "name: a\nrequirement: r\nhead: h\nbase: /b\nexpect: []\n", []string{"k/case.yaml:4: base: /b lies outside"}},
		{"expect is text", head + "expect: none\n", []string{"k/case.yaml:4: expect is no list"}},
		{"expect is empty", head + "expect:\n", []string{"expect is no list"}},
		{"an entry is text", head + "expect: [a.go]\n", []string{"expect[0] is no mapping"}},
		{"no path", head + "expect:\n  - {lens: tests}\n", []string{"k/case.yaml:5: expect[0].path is missing"}},
		{"no lens", head + "expect:\n  - {path: a}\n", []string{"expect[0].lens is missing"}},
		{"a bad lens", head + "expect:\n  - {path: a, lens: a b}\n", []string{`expect[0].lens: "a b"`}},
		{"path outside", head + "expect:\n  - {path: a, lens: tests}\n  - {path: ../a, lens: tests}\n", []string{"k/case.yaml:6: expect[1].path: ../a lies outside"}},
		{"unknown field", head + "expect:\n  - {path: a, lens: tests, line: 3}\n", []string{"unknown key expect[0].line", "lines"}},
		{"line 0", head + "expect:\n  - {path: a, lens: tests, lines: 0}\n", []string{`expect[0].lines: "0"`}},
		{"backwards", head + "expect:\n  - {path: a, lens: tests, lines: 4-3}\n", []string{`expect[0].lines: "4-3"`, "12-14"}},
		{"no range", head + "expect:\n  - {path: a, lens: tests, lines: top}\n", []string{`"top"`}},
		{"a list of lines", head + "expect:\n  - {path: a, lens: tests, lines: [1, 2]}\n", []string{"expect[0].lines"}},
		{"severity", head + "expect:\n  - {path: a, lens: tests, severity: grave}\n", []string{`expect[0].severity: "grave"`, "high, medium or low"}},
		{"optional", head + "expect:\n  - {path: a, lens: tests, optional: perhaps}\n", []string{"expect[0].optional", "true or false"}},
		{"the word for none", head + "expect:\n  - {path: a, lens: tests, severity: invalid}\n", []string{"expect[0].severity"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := calibration.Parse("k/case.yaml", []byte(c.text))
			require.Error(t, err)
			for _, part := range c.want {
				require.ErrorContains(t, err, part)
			}
		})
	}
}

func TestDigestOfACase(t *testing.T) {
	files := map[string][]byte{"case.yaml": []byte("a"), "base/x": []byte("bc")}
	digest := calibration.Digest(files)
	require.Equal(t, digest, calibration.Digest(map[string][]byte{"base/x": []byte("bc"), "case.yaml": []byte("a")}))
	for _, other := range []map[string][]byte{
		{"case.yaml": []byte("ab"), "base/x": []byte("c")}, {"case.yaml": []byte("a"), "base/y": []byte("bc")}, {"case.yaml": []byte("a")},
	} {
		require.NotEqual(t, digest, calibration.Digest(other))
	}
}
