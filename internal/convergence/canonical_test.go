package convergence

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func canonicalText(t require.TestingT, raw string) string {
	got, err := CanonicalJSON([]byte(raw))
	require.NoError(t, err, raw)
	return string(got)
}

// The numbers of RFC 8785's rule (ECMAScript's Number::toString), by bit
// pattern where the decimal text would hide what is meant.
func TestCanonicalNumbers(t *testing.T) {
	cases := []struct {
		bits uint64
		want string
	}{
		{0x0000000000000000, "0"},
		{0x8000000000000000, "0"}, // minus zero
		{0x0000000000000001, "5e-324"},
		{0x8000000000000001, "-5e-324"},
		{0x7fefffffffffffff, "1.7976931348623157e+308"},
		{0xffefffffffffffff, "-1.7976931348623157e+308"},
		{0x4340000000000000, "9007199254740992"},
		{0xc340000000000000, "-9007199254740992"},
		{0x4430000000000000, "295147905179352830000"},
		{0x44b52d02c7e14af5, "9.999999999999997e+22"},
		{0x44b52d02c7e14af6, "1e+23"},
		{0x44b52d02c7e14af7, "1.0000000000000001e+23"},
		{0x444b1ae4d6e2ef4e, "999999999999999700000"},
		{0x444b1ae4d6e2ef4f, "999999999999999900000"},
		{0x444b1ae4d6e2ef50, "1e+21"},
		{0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
		{0x3eb0c6f7a0b5ed8d, "0.000001"},
		{0x41b3de4355555555, "333333333.3333333"},
		{0xbecbf647612f3696, "-0.0000033333333333333333"},
		{math.Float64bits(1e-7), "1e-7"},
		{math.Float64bits(1.5e-10), "1.5e-10"},
		{math.Float64bits(1e100), "1e+100"},
		{math.Float64bits(-1e-100), "-1e-100"},
		{math.Float64bits(100), "100"},
		{math.Float64bits(0.1), "0.1"},
	}
	for _, c := range cases {
		require.Equal(t, c.want, string(appendNumber(nil, math.Float64frombits(c.bits))), "%016x", c.bits)
	}
	for raw, want := range map[string]string{"1.0": "1", "1E2": "100", "-0": "0", "-0.0": "0", "4.50": "4.5", "2e-3": "0.002", "333333333.33333329": "333333333.3333333", "0.000000000000000000000000001": "1e-27"} {
		require.Equal(t, want, canonicalText(t, raw))
	}
}

func TestCanonicalStrings(t *testing.T) {
	for raw, want := range map[string]string{
		`"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/"`: `"€$\u000f\nA'B\"\\\\\"/"`,
		`"\b\f\n\r\t\u0008\u000c"`:                        `"\b\f\n\r\t\b\f"`,
		`"\u0000\u001f\u007f\u0080"`:                      "\"\\u0000\\u001f\u007f\u0080\"",
		`"\u2028\u2029<>&"`:                               "\"\u2028\u2029<>&\"",
		`"\ud83d\ude00"`:                                  `"😀"`,
		`"\uFEFF"`:                                        "\"\uFEFF\"",
	} {
		require.Equal(t, want, canonicalText(t, raw))
	}
}

func TestCanonicalObjectsAreSortedByUTF16(t *testing.T) {
	// By code point the emoji (U+1F600) comes last; by UTF-16 its lead surrogate
	// D83D sorts before U+FB33.
	raw := `{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7,"":8,"10":9,"\ud83d\ude01":0}`
	want := "{\"\":8,\"\\r\":2,\"1\":4,\"10\":9,\"\u0080\":6,\"ö\":7,\"€\":1,\"😀\":5,\"😁\":0,\"\ufb33\":3}"
	require.Equal(t, want, canonicalText(t, raw))
	require.Equal(t, `{"a":[1,{"b":[],"c":{}},null,true,false],"b":""}`, canonicalText(t, ` { "b" : "" , "a" : [ 1 , { "c" : { } , "b" : [ ] } , null , true , false ] } `))
}

func TestCanonicalRefusesWhatIsNoStrictJSON(t *testing.T) {
	for _, raw := range []string{
		``, ` `, `nul`, `{`, `[1,]`, `{"a":1,}`, `{"a" 1}`, `{a:1}`, `01`, `1.`, `.5`, `+1`, `1e`, `--1`, `NaN`, `Infinity`, `1e400`, `-1e400`,
		`"`, `"\x"`, `"\u12"`, `"\u12g4"`, "\"\n\"", "\"\x00\"", `"\ud800"`, `"\udc00"`, `"\ud800\u0041"`, `"\ud83d\ud83d"`, "\"\xff\"", "\xef\xbb\xbf{}",
		`{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `1 2`, `{} x`, `'a'`, `[1 2]`, `{"a":1 "b":2}`, `{1:2}`, `{"a"}`, `tru`, "\u00a01",
		strings.Repeat("[", 257) + strings.Repeat("]", 257),
	} {
		_, err := CanonicalJSON([]byte(raw))
		var problem *ValidationError
		require.ErrorAs(t, err, &problem, "%q", raw)
		require.Equal(t, CodeInvalidJSON, problem.Issues[0].Code)
	}
	deep := strings.Repeat("[", 256) + strings.Repeat("]", 256)
	require.Equal(t, deep, canonicalText(t, deep))
}

func TestEveryProblemOfTheJSONLayerIsListedWithItsPath(t *testing.T) {
	_, err := CanonicalJSON([]byte(`{"a":[0,"\ud800"],"b/c~":{"x":1,"x":1e999}}`))
	var problem *ValidationError
	require.ErrorAs(t, err, &problem)
	var paths []string
	for _, issue := range problem.Issues {
		paths = append(paths, issue.Path)
	}
	require.Equal(t, []string{"/a/1", "/b~1c~0/x", "/b~1c~0"}, paths)
}

func TestLargeObjectsAreCheckedForRepeatedNames(t *testing.T) {
	var b strings.Builder
	for i := range 50 {
		b.WriteString(`"k` + itoa(int64(i)) + `":0,`)
	}
	require.NotEmpty(t, canonicalText(t, "{"+b.String()+`"z":0}`))
	_, err := CanonicalJSON([]byte("{" + b.String() + `"k3":0}`))
	require.ErrorContains(t, err, `"k3"`)
}

func TestPropertyCanonicalIsAFixedPointThatMeansTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Float64().Draw(t, "number")
		text := rapid.String().Draw(t, "text")
		raw, err := json.Marshal(map[string]any{text: []any{number, text, nil, true}, "z": text})
		if err != nil {
			t.Skip("no JSON form")
		}
		once := canonicalText(t, string(raw))
		require.Equal(t, once, canonicalText(t, once))
		require.JSONEq(t, string(raw), once)
	})
}

func TestDigestAndToken(t *testing.T) {
	digest, err := Digest([]byte(` {} `))
	require.NoError(t, err)
	require.Equal(t, "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a", digest)
	_, err = Digest([]byte(`{`))
	require.Error(t, err)
	a := Token(Evidence{InputHashes: map[string]string{"a": "1", "b": "2"}, WorkspaceFingerprint: "w", ProofArtifactDigest: proof("a")})
	require.Regexp(t, "^[0-9a-f]{24}$", a)
	require.Equal(t, a, Token(Evidence{InputHashes: map[string]string{"b": "2", "a": "1"}, WorkspaceFingerprint: "w", ProofArtifactDigest: proof("a")}))
	require.NotEqual(t, a, Token(Evidence{InputHashes: map[string]string{"a": "1"}, WorkspaceFingerprint: "w", ProofArtifactDigest: proof("a")}))
	require.Equal(t, Token(Evidence{}), Token(Evidence{InputHashes: map[string]string{}}))
}
