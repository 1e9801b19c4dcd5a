package verifier

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestTheSameFailureIsRecognisedAndAnotherIsNot(t *testing.T) {
	for _, c := range digestCases {
		t.Run(c.name, func(t *testing.T) {
			require.NotEqual(t, c.first, c.again)
			first := Digest([]byte(c.first), 1, "/work/one", "/var/temp")
			require.Equal(t, first, Digest([]byte(c.again), 1, "/work/two", "/var/temp"), "%s\n%s", said(c.first), said(c.again))
			require.NotEqual(t, first, Digest([]byte(c.other), 1, "/work/one", "/var/temp"), "other words")
			require.NotEqual(t, first, Digest([]byte(c.first), 2, "/work/one", "/var/temp"), "another end")
			require.NotEqual(t, first, Digest(nil, 1, "", ""))
		})
	}
}

// said shows what a digest is over.
func said(output string) string {
	var b strings.Builder
	lines := strings.Split(plain([]byte(output)), "\n")
	for i, m := range markLines(lines) {
		if m != plainLine {
			b.WriteString(steady(lines[i], strings.NewReplacer("/work/one", "$WORKSPACE", "/work/two", "$WORKSPACE")) + "\n")
		}
	}
	return b.String()
}

func TestWhatDiffersBetweenTwoRuns(t *testing.T) {
	for _, c := range [][2]string{
		{"2026-11-30T12:00:01.123Z ERROR boom", "2026-12-01 08:15:59 ERROR boom"},
		{"2026/11/30 12:00:01 FAIL: x", "2026/11/30 12:00:09 FAIL: x"},
		{"ERROR [12:00:01] boom", "ERROR [12:00:02.5] boom"},
		{"--- FAIL: TestA (0.00s)", "--- FAIL: TestA (1m2.5s)"},
		{"FAIL\tcalc\t0.004s", "FAIL\tcalc\t11.2s"},
		{"1 failed in 0.03s", "1 failed in 2 minutes"},
		{"FAILED in 3.2 seconds", "FAILED in 4 seconds"},
		{"FAILED duration_ms 3.25", "FAILED duration_ms 41"},
		{"ERROR at 0xc000012340", "ERROR at 0x7fff0"},
		{"goroutine 8 [running]:", "goroutine 19 [chan receive, 2 minutes]:"},
		{"created by a.b in goroutine 7", "created by a.b in goroutine 70"},
		{"ERROR open /tmp/TestA123/001/x.txt", "ERROR open /tmp/TestA987/001/x.txt"},
		{"ERROR open /private/var/folders/ab/cdef/T/x.txt", "ERROR open /var/folders/gh/ijkl/T/x.txt"},
		{"ERROR open /var/temp/abc12/x.txt", "ERROR open /var/temp/def/ghi/x.txt"},
		{"ERROR in /work/one/a.txt", "ERROR in $WORKSPACE/a.txt"},
		{"ERROR dial 127.0.0.1:34567", "ERROR dial 127.0.0.1:45678"},
		{"ERROR id 0b8e7f9c-1234-4abc-8def-0123456789ab", "ERROR id 1c9f8a0d-1234-4abc-8def-0123456789ab"},
		{"calc.go:7:9: undefined: x", "calc.go:12:3: undefined: x"},
		{"src/a.ts(1,2): error TS2304", "src/a.ts(11,2): error TS2304"},
		{"  File \"t.py\", line 3, in test_a", "  File \"t.py\", line 33, in test_a"},
		{"not ok 2 - subtracts", "not ok 7 - subtracts"},
		{"thread 'a' (123) panicked at src/lib.rs:1:2:", "thread 'a' (9) panicked at src/lib.rs:3:4:"},
		{"ERROR seed: 1234567", "ERROR seed: 99"},
		{"\x1b[31mFAIL: x\x1b[0m", "FAIL: x"},
		{"  4 | let x", " 14 | let x"},
	} {
		require.Equal(t, Digest([]byte(c[0]), 1, "/work/one", "/var/temp"), Digest([]byte(c[1]), 1, "/work/one", "/var/temp"), "%q", c)
	}
}

func TestWhatAFailureSaysCounts(t *testing.T) {
	for _, c := range [][2]string{
		{"--- FAIL: TestA (0.00s)", "--- FAIL: TestB (0.00s)"},
		{"    a_test.go:3: got 5, want 6", "    a_test.go:3: got 4, want 6"},
		{"    a_test.go:3: timeout is 5s", "    a_test.go:3: timeout is 6s"},
		{"a.go:3:4: undefined: x", "b.go:3:4: undefined: x"},
		{"ERROR 404", "ERROR 500"},
		{"2 failed", "3 failed"},
		{"something odd", "something else"},
		{"x", ""},
	} {
		require.NotEqual(t, Digest([]byte(c[0]), 1, "/work/one", "/var/temp"), Digest([]byte(c[1]), 1, "/work/one", "/var/temp"), "%q", c)
	}
}

// Whatever a verifier prints gets a digest, and the order of parallel checks is not part of it.
func TestTheOrderOfChecksIsNoPartOfTheDigest(t *testing.T) {
	pieces := []string{"--- FAIL: TestA (0.00s)", "--- FAIL: TestB (0.00s)", "FAIL\tcalc\t0.1s", "noise", "\xff\x00", "FAILED a.py::b", strings.Repeat("9", 3000)}
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "lines")
		other := rapid.Permutation(lines).Draw(t, "other")
		require.Equal(t, Digest([]byte(strings.Join(lines, "\n")), 1, "", ""), Digest([]byte(strings.Join(other, "\n")), 1, "", ""))
	})
}
