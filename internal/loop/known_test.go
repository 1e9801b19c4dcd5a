package loop

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/artifact"
	"conclave/internal/convergence"
	"conclave/internal/review"
)

func TestAFindingOfARequestReadsBackAsItWas(t *testing.T) {
	for _, k := range []Known{
		{ID: "F1"},
		{ID: "F960", Texts: []artifact.Ref{artifact.Of([]byte("one")), artifact.Of(nil), artifact.Of([]byte(strings.Repeat("x", 70_000)))}},
		{ID: "F2", Disposition: "refuted", Note: "step 05: \"no\" | F1", Texts: []artifact.Ref{artifact.Of([]byte("two"))}},
		{ID: "F3", Note: "only a note"},
	} {
		raw, err := json.Marshal(k)
		require.NoError(t, err)
		var back Known
		require.NoError(t, json.Unmarshal(raw, &back), string(raw))
		require.Equal(t, k, back)
	}
	var short []byte
	short, err := json.Marshal(Known{ID: "F960", Texts: []artifact.Ref{artifact.Of([]byte("one"))}})
	require.NoError(t, err)
	require.Less(t, len(short), 60)
}

func TestAFindingOfARequestThatIsDamagedIsAnError(t *testing.T) {
	for _, raw := range []string{`7`, `["F1"]`, `{"id":"F1"}`, `"F1 notadigest"`, `"F1 AAAA.1"`, `"F1 ` + strings.Repeat("A", 43) + `.-1"`, `["F1 x","",""]`} {
		require.Error(t, json.Unmarshal([]byte(raw), &Known{}), raw)
	}
	_, err := json.Marshal(Known{ID: "F1", Texts: []artifact.Ref{{Digest: "sha256:../../etc/passwd"}}})
	require.Error(t, err)
}

func TestALongLifeKeepsItsBeginningAndItsEnd(t *testing.T) {
	p := &Progress{}
	id, _ := p.Ledger.Raise(review.Raised{Severity: "high", Title: "x", Claim: "y"}, review.Raiser{Seat: "codex", Step: "step 03"})
	for range 200 {
		p.tell(id, "%s", "step 09: "+strings.Repeat("w", 100))
	}
	p.tell(id, "the end")
	entry, _ := p.Ledger.Entry(id)
	require.Contains(t, entry.History[0], "raised by codex in step 03")
	require.Equal(t, leftOut, entry.History[2])
	require.Equal(t, "the end", entry.History[len(entry.History)-1])
	require.Less(t, len(strings.Join(entry.History, "")), 7<<10)
	require.Equal(t, 1, strings.Count(strings.Join(entry.History, "\n"), leftOut))
}

func TestClippedTextsAreWholeLetters(t *testing.T) {
	require.Equal(t, "aä…", clip("aäöü", 6))
	require.Equal(t, "a b", clip(" a\n\tb ", 9))
	require.Equal(t, "", clip("", 3))
}

func TestWhatNobodyGradedIsGrave(t *testing.T) {
	for severity, want := range map[string]string{"": "high", "high": "high", "CRITICAL": "high", "medium": "medium", "low": "low"} {
		require.Equal(t, want, severityOf(Finding{Severity: severity}), severity)
	}
	require.Equal(t, convergence.SeverityLow, severityOf(Finding{Severity: "high", Outside: true}))
}
