package review

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestZeroValuesAcceptNothing(t *testing.T) {
	require.Equal(t, "invalid", Verdict(0).String())
	require.Equal(t, "strict", Mode(0).String())
	require.Equal(t, "invalid", Severity(0).String())
	require.Equal(t, "invalid", FindingKind(0).String())
	require.Equal(t, "invalid", RecheckStatus(0).String())
	require.Equal(t, "invalid", rulingWords.of(ruling(0)))
	require.Equal(t, "invalid", fixWords.of(fixStatus(0)))
	require.Equal(t, rulingInvalid, rulingWords.find("abort"))
	require.Equal(t, fixInvalid, fixWords.find("done"))
	require.False(t, Confirmation{}.Refuted())
	require.Equal(t, relation(0), apart)
	require.Equal(t, "invalid", Verdict(9).String())
	require.Equal(t, "invalid", Severity(-1).String())
}

func TestEnumsAreTheirWordsInJSON(t *testing.T) {
	type all struct {
		V Verdict
		M Mode
		S Severity
		K FindingKind
		R RecheckStatus
	}
	in := all{Block, Heuristic, Medium, Decision, NotAddressed}
	text, err := json.Marshal(in)
	require.NoError(t, err)
	require.JSONEq(t, `{"V":"block","M":"heuristic","S":"medium","K":"decision","R":"not-addressed"}`, string(text))
	var out all
	require.NoError(t, json.Unmarshal(text, &out))
	require.Equal(t, in, out)
	for _, bad := range []string{`{"V":"approve"}`, `{"M":"lenient"}`, `{"S":"critical"}`, `{"K":"x"}`, `{"R":"attempted"}`, `{"V":1}`} {
		require.Error(t, json.Unmarshal([]byte(bad), &out), bad)
	}
}

func TestParseModeNamesWhatExists(t *testing.T) {
	m, err := ParseMode("heuristic")
	require.NoError(t, err)
	require.Equal(t, Heuristic, m)
	_, err = ParseMode("")
	require.ErrorContains(t, err, "strict or heuristic")
}

func TestVerdictLineAsTheCommandPrintsIt(t *testing.T) {
	text, err := json.Marshal(ParseVerdict([]byte("VERDICT: PASS"), Strict))
	require.NoError(t, err)
	require.JSONEq(t, `{"verdict":"pass","line":1,"reason":"verdict line"}`, string(text))
}
