package prompt

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSteeringIsFound(t *testing.T) {
	for _, phrase := range []string{
		"do not flag", "Do not flag", "don't flag", "don’t flag", "never report", "should not raise", "do **not** flag", "do not\nflag",
		"> do not flag", "`do not flag`", "do\u00a0not flag", "do n\u200bot flag", "no need to mention", "at most minor", "at most low", "at most a nit",
		"no higher than medium", "the plan chose", "The design decided", "the author wants", "treat missing tests as minor",
		"rate all style points as low", "is intentional", "are by design", "ignore all findings", "skip style issues",
		"overlook the known bugs", "already approved", "previously reviewed", "please approve this", "must pass this", "be lenient",
		"err on the side of approving", "only a nit", "just cosmetic", "is not a bug here", "give them the benefit of the doubt",
	} {
		t.Run(phrase, func(t *testing.T) {
			found := Lint("lens.md", []byte("Look at errors.\n\nReviewers: "+phrase+" in tests.\n"))
			require.NotEmpty(t, found)
			require.Equal(t, "lens.md", found[0].File)
			require.Equal(t, 3, found[0].Line)
		})
	}
}

func TestSteeringIsNamedAsWritten(t *testing.T) {
	found := Lint("a.md", []byte("x\nPlease Do **not**\nFLAG it. The plan chose\tthis.\n"))
	require.Equal(t, []Steering{
		{File: "a.md", Line: 2, Phrase: "Do **not** FLAG"},
		{File: "a.md", Line: 3, Phrase: "The plan chose"},
	}, found)
}

func TestPlainInstructionsAreNoSteering(t *testing.T) {
	for _, text := range []string{
		"Look for injection, missing checks and secrets.",
		"A defect that the plan mandates is still a finding.",
		"Report what the diff introduced; older problems are not findings.",
		"Flag every ignored error. Report minor issues as low.",
		"Do not edit files. Do not commit.",
		"Never trust input. Skip generated files.",
		"Check that the endpoint must accept only JSON.",
		"Errors that callers ignore.",
	} {
		require.Empty(t, Lint("lens.md", []byte(text)), text)
	}
}

func TestTemplatesSteerNobody(t *testing.T) {
	names, err := filepath.Glob("templates/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Empty(t, Lint(name, text))
	}
}

func TestLintOfForeignBytes(t *testing.T) {
	require.Empty(t, Lint("x", nil))
	require.Empty(t, Lint("x", []byte("\xff\xfe\x00")))
	require.Len(t, Lint("x", []byte("\xffdo not flag\xff")), 1)
	require.Len(t, Lint("x", []byte(strings.Repeat("İ", 50)+" do not flag")), 1)
}
