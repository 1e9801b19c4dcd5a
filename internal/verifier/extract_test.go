package verifier

import (
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const goPlain = `=== RUN   TestAdd
=== RUN   TestAdd/negative
    add_test.go:14: Add(-1, 1) = 2, want 0
--- FAIL: TestAdd (0.00s)
    --- FAIL: TestAdd/negative (0.00s)
        add_test.go:14: Add(-1, 1) = 2, want 0
=== RUN   TestSub
--- PASS: TestSub (0.00s)
FAIL
FAIL	example/calc	0.004s
ok  	example/text	0.003s
FAIL
`

const goJSON = `{"Time":"2026-01-01T00:00:00Z","Action":"start","Package":"example/calc"}
{"Action":"run","Package":"example/calc","Test":"TestAdd"}
{"Action":"output","Package":"example/calc","Test":"TestAdd","Output":"=== RUN   TestAdd\n"}
{"Action":"output","Package":"example/calc","Test":"TestAdd","Output":"    add_test.go:9: got \u003c3\u003e\n"}
{"Action":"output","Package":"example/calc","Test":"TestAdd","Output":"--- FAIL: TestAdd (0.00s)\n"}
{"Action":"fail","Package":"example/calc","Test":"TestAdd","Elapsed":0}
{"Action":"output","Package":"example/calc","Output":"FAIL\texample/calc\t0.004s\n"}
{"Action":"fail","Package":"example/calc","Elapsed":0.004}
`

const goBuild = `# example/calc
./add.go:7:9: undefined: x
./add.go:9:2: missing return
FAIL	example/calc [build failed]
FAIL
`

const pytestOut = `============================= test session starts ==============================
collected 3 items

tests/test_mean.py .F.                                                   [100%]

=================================== FAILURES ===================================
__________________________________ test_empty __________________________________

    def test_empty():
>       assert mean([]) == 0

tests/test_mean.py:9:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _
E       ZeroDivisionError: division by zero

mean.py:2: ZeroDivisionError
=========================== short test summary info ============================
FAILED tests/test_mean.py::test_empty - ZeroDivisionError: division by zero
========================= 1 failed, 2 passed in 0.03s ==========================
`

const cargoOut = `running 2 tests
test tests::adds ... ok
test tests::subtracts ... FAILED

failures:

---- tests::subtracts stdout ----

thread 'tests::subtracts' panicked at src/lib.rs:17:9:
assertion ` + "`left == right`" + ` failed
  left: 1
 right: 2
note: run with ` + "`RUST_BACKTRACE=1`" + ` environment variable to display a backtrace

failures:
    tests::subtracts

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

error: test failed, to rerun pass ` + "`--lib`" + `
`

const jestOut = `PASS src/ok.test.js
FAIL src/sum.test.js
  ✓ adds (2 ms)
  ✕ subtracts (4 ms)

  ● subtracts

    expect(received).toBe(expected)

    Expected: 1
    Received: 3

      at Object.toBe (src/sum.test.js:8:18)

Tests:       1 failed, 1 passed, 2 total
`

const nodeOut = `✔ adds (0.6ms)
✖ subtracts (1.1ms)
  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:

  3 !== 1

      at TestContext.<anonymous> (file:///w/sum.test.mjs:9:10)
ℹ tests 2
ℹ fail 1
`

const tapOut = `TAP version 13
ok 1 - adds
not ok 2 - subtracts
  ---
  error: 'Expected values to be strictly equal'
  ...
# fail 1
`

func TestExtractNamesTheFailingChecks(t *testing.T) {
	for _, c := range []struct {
		name   string
		output string
		has    []string
		hasNot []string
	}{
		{"go test", goPlain, []string{"--- FAIL: TestAdd", "TestAdd/negative", "add_test.go:14: Add(-1, 1) = 2, want 0", "FAIL\texample/calc"}, []string{"TestSub", "ok  ", "FAIL\n"}},
		{"go test -json", goJSON, []string{"--- FAIL: TestAdd", "add_test.go:9: got <3>", "FAIL\texample/calc"}, []string{"Action", "=== RUN"}},
		{"go build", goBuild, []string{"./add.go:7:9: undefined: x", "./add.go:9:2: missing return", "[build failed]"}, nil},
		{"go vet", "# example/calc\nvet: ./add.go:3:2: undefined: y\n", []string{"add.go:3:2: undefined: y"}, nil},
		{"panic", "panic: boom\n\ngoroutine 7 [running]:\nexample.f()\n\t/w/f.go:3 +0x1d\n", []string{"panic: boom", "/w/f.go:3"}, nil},
		{"race", "==================\nWARNING: DATA RACE\nWrite at 0x1 by goroutine 8:\n  example.f()\n      /w/f.go:9 +0x44\n==================\n", []string{"WARNING: DATA RACE", "/w/f.go:9"}, nil},
		{"pytest", pytestOut, []string{"FAILED tests/test_mean.py::test_empty", "ZeroDivisionError: division by zero", "mean.py:2: ZeroDivisionError", "1 failed, 2 passed"}, []string{"collected"}},
		{"cargo", cargoOut, []string{"tests::subtracts ... FAILED", "panicked at src/lib.rs:17:9", "left: 1", "right: 2"}, []string{"tests::adds"}},
		{"rustc", "error[E0308]: mismatched types\n --> src/lib.rs:4:5\n  |\n4 |     \"x\"\n", []string{"error[E0308]", "src/lib.rs:4:5"}, nil},
		{"jest", jestOut, []string{"FAIL src/sum.test.js", "✕ subtracts", "● subtracts", "Expected: 1", "Received: 3", "1 failed"}, []string{"PASS", "✓"}},
		{"node:test", nodeOut, []string{"✖ subtracts", "3 !== 1"}, []string{"✔"}},
		{"tap", tapOut, []string{"not ok 2 - subtracts", "strictly equal"}, []string{"\nok 1"}},
		{"gcc", "main.c:3:5: error: expected ';' before 'return'\nmake: *** [Makefile:2: all] Error 1\n", []string{"main.c:3:5", "make: ***"}, nil},
		{"tsc", "src/a.ts(1,2): error TS2304: Cannot find name 'x'.\n", []string{"TS2304"}, nil},
		{"eslint-like", "lint: 3 errors\nERROR: style broken\n", []string{"ERROR: style broken"}, nil},
		{"unittest", "FAIL: test_a (t.T)\nTraceback (most recent call last):\n  File \"t.py\", line 3, in test_a\nAssertionError: 1 != 2\n\nFAILED (failures=1)\n", []string{"FAIL: test_a", "line 3", "FAILED (failures=1)"}, nil},
		{"mocha", "  3 passing (8ms)\n  1 failing\n\n  1) adds:\n", []string{"1 failing"}, []string{"passing"}},
		{"colours", "\x1b[31m--- FAIL: TestA\x1b[0m (0.00s)\n", []string{"--- FAIL: TestA (0.00s)"}, []string{"\x1b"}},
		{"passing run", "ok  \texample\t0.1s\ntest result: ok. 3 passed; 0 failed; 0 ignored\n0 errors\n", nil, []string{"passed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := Extract([]byte(c.output))
			for _, want := range c.has {
				require.Contains(t, f.Checks, want)
			}
			for _, unwanted := range c.hasNot {
				require.NotContains(t, f.Checks, unwanted)
			}
		})
	}
}

func TestFailingChecksComeBeforeTheTail(t *testing.T) {
	noise := strings.Repeat("downloading something\n", 2000)
	f := Extract([]byte(goPlain + noise))
	require.True(t, f.Truncated)
	require.NotContains(t, f.Tail, "TestAdd")
	text := f.Text()
	require.Less(t, strings.Index(text, "--- FAIL: TestAdd"), strings.Index(text, "downloading"))
}

func TestNamesOutrankDetails(t *testing.T) {
	var b strings.Builder
	for range 60 {
		b.WriteString("--- FAIL: TestNoisy (0.00s)\n")
		b.WriteString(strings.Repeat("    a_test.go:1: "+strings.Repeat("x", 90)+"\n", 10))
	}
	b.WriteString("--- FAIL: TestLast (0.00s)\n")
	f := Extract([]byte(b.String()))
	require.Contains(t, f.Checks, "TestLast")
	require.Contains(t, f.Checks, "more lines of failures")
	require.LessOrEqual(t, len(f.Checks), MaxChecks)
}

func TestEmptyOutputSaysNothing(t *testing.T) {
	require.Equal(t, Failure{}, Extract(nil))
	require.Empty(t, Failure{}.Text())
}

func TestTailBeginsAtALine(t *testing.T) {
	f := Extract([]byte(strings.Repeat(strings.Repeat("é", 40)+"\n", 500)))
	require.True(t, f.Truncated)
	require.True(t, strings.HasPrefix(f.Tail, strings.Repeat("é", 40)+"\n"))
	f = Extract([]byte(strings.Repeat("é", MaxTail)))
	require.True(t, utf8.ValidString(f.Tail))
	require.True(t, f.Truncated)
}

func TestProgressLinesShowTheirLastState(t *testing.T) {
	require.Equal(t, "100%", Extract([]byte("10%\r50%\r100%\r\n")).Tail)
}

func TestForeignJSONStays(t *testing.T) {
	line := `{"Action":"deploy","Output":"x"}`
	require.Equal(t, line, Extract([]byte(line)).Tail)
}

func TestExtractIsBoundedAndValid(t *testing.T) {
	pieces := []string{"--- FAIL: TestX (0.00s)\n", "    x.go:1: é\n", "\xff\xfe", "\x1b[31m", "\r", "\n", "error: ", "x.go:1:2: bad ",
		strings.Repeat("long ", 900), `{"Action":"output","Output":"a\n"}` + "\n", "E   assert\n", "\x00"}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 60).Draw(t, "pieces")
		f := Extract([]byte(strings.Join(parts, "")))
		require.LessOrEqual(t, len(f.Checks), MaxChecks)
		require.LessOrEqual(t, len(f.Tail), MaxTail)
		require.True(t, utf8.ValidString(f.Checks))
		require.True(t, utf8.ValidString(f.Tail))
		require.NotContains(t, f.Text(), "\x1b")
		require.NotContains(t, f.Text(), "\x00")
	})
}

func TestLargeOutputIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of matching")
	}
	for name, unit := range map[string]string{
		"passes":    "=== RUN   TestSomething\n--- PASS: TestSomething (0.00s)\n",
		"failures":  "--- FAIL: TestSomething (0.00s)\n    a.go:1: no\n",
		"one line":  "error: FAIL ",
		"no breaks": "x",
	} {
		t.Run(name, func(t *testing.T) {
			one := spent(t, strings.Repeat(unit, 256<<10/len(unit)))
			four := spent(t, strings.Repeat(unit, 1<<20/len(unit)))
			require.Less(t, four, 10*one+time.Second, "a quarter took %v", one)
		})
	}
}

// spent returns the processor time of one extraction: other programs on the machine do not lengthen it.
func spent(t *testing.T, output string) time.Duration {
	var before, after syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &before))
	Extract([]byte(output))
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &after))
	return time.Duration(after.Utime.Nano()-before.Utime.Nano()) + time.Duration(after.Stime.Nano()-before.Stime.Nano())
}
