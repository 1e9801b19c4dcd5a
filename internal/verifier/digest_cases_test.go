package verifier

// Outputs of the same failure twice, and of another one, as the tools print them.
var digestCases = []struct{ name, first, again, other string }{
	{"go test", `--- FAIL: TestSum (0.00s)
    calc_test.go:13: Sum(3) = 3, want 6
--- FAIL: TestFile (0.01s)
    calc_test.go:21: open /tmp/TestFile4089357265/001/missing.txt: no such file or directory
FAIL
FAIL	example.com/calc	0.014s
FAIL
`,
		`--- FAIL: TestFile (0.01s)
    calc_test.go:21: open /tmp/TestFile1212352705/001/missing.txt: no such file or directory
--- FAIL: TestSum (0.00s)
    calc_test.go:13: Sum(3) = 3, want 6
FAIL
FAIL	example.com/calc	0.011s
FAIL
`,
		`--- FAIL: TestSum (0.00s)
    calc_test.go:13: Sum(3) = 4, want 6
--- FAIL: TestFile (0.01s)
    calc_test.go:21: open /tmp/TestFile4089357265/001/missing.txt: no such file or directory
FAIL
FAIL	example.com/calc	0.014s
FAIL
`},
	{"go panic", `panic: assignment to entry in nil map

goroutine 8 [running]:
example.com/calc.TestPanics.func1()
	/work/one/calc_test.go:28 +0x58
created by example.com/calc.TestPanics in goroutine 7
	/work/one/calc_test.go:28 +0x66
FAIL	example.com/calc	0.007s
FAIL
`,
		`panic: assignment to entry in nil map

goroutine 5 [running]:
example.com/calc.TestPanics.func1()
	/work/two/calc_test.go:28 +0x58
created by example.com/calc.TestPanics in goroutine 4
	/work/two/calc_test.go:28 +0x66
FAIL	example.com/calc	0.006s
FAIL
`,
		`panic: assignment to entry in nil chan

goroutine 8 [running]:
example.com/calc.TestPanics.func1()
	/work/one/calc_test.go:28 +0x58
created by example.com/calc.TestPanics in goroutine 7
	/work/one/calc_test.go:28 +0x66
FAIL	example.com/calc	0.007s
FAIL
`},
	{"cargo", `   Compiling calc v0.1.0 (/home/user/calc)
    Finished ` + "`" + `test` + "`" + ` profile [unoptimized + debuginfo] target(s) in 2.44s
     Running unittests src/lib.rs (target/debug/deps/calc-c6626fb655a8d231)

running 3 tests
test tests::one ... ok
test tests::sums ... FAILED
test tests::none ... FAILED

failures:

---- tests::sums stdout ----

thread 'tests::sums' (12836) panicked at src/lib.rs:6:74:
assertion ` + "`" + `left == right` + "`" + ` failed
  left: 3
 right: 6

---- tests::none stdout ----

thread 'tests::none' (12834) panicked at src/lib.rs:8:17:
assertion ` + "`" + `left == right` + "`" + ` failed: of nothing
  left: 0
 right: 1


failures:
    tests::none
    tests::sums

test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.24s

error: test failed, to rerun pass ` + "`" + `--lib` + "`" + `
`,
		`   Compiling calc v0.1.0 (/home/user/calc)
    Finished ` + "`" + `test` + "`" + ` profile [unoptimized + debuginfo] target(s) in 1.00s
     Running unittests src/lib.rs (target/debug/deps/calc-c6626fb655a8d231)

running 3 tests
test tests::one ... ok
test tests::none ... FAILED
test tests::sums ... FAILED

failures:

---- tests::none stdout ----

thread 'tests::none' (12938) panicked at src/lib.rs:9:17:
assertion ` + "`" + `left == right` + "`" + ` failed: of nothing
  left: 0
 right: 1

---- tests::sums stdout ----

thread 'tests::sums' (12940) panicked at src/lib.rs:7:74:
assertion ` + "`" + `left == right` + "`" + ` failed
  left: 3
 right: 6


failures:
    tests::none
    tests::sums

test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.66s

error: test failed, to rerun pass ` + "`" + `--lib` + "`" + `
`,
		`   Compiling calc v0.1.0 (/home/user/calc)
    Finished ` + "`" + `test` + "`" + ` profile [unoptimized + debuginfo] target(s) in 0.80s
     Running unittests src/lib.rs (target/debug/deps/calc-c6626fb655a8d231)

running 3 tests
test tests::none ... ok
test tests::one ... FAILED
test tests::sums ... FAILED

failures:

---- tests::one stdout ----

thread 'tests::one' (13053) panicked at src/lib.rs:11:16:
assertion ` + "`" + `left == right` + "`" + ` failed
  left: 2
 right: 1

---- tests::sums stdout ----

thread 'tests::sums' (13054) panicked at src/lib.rs:7:74:
assertion ` + "`" + `left == right` + "`" + ` failed
  left: 4
 right: 6


failures:
    tests::one
    tests::sums

test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.59s

error: test failed, to rerun pass ` + "`" + `--lib` + "`" + `
`},
	{"cargo again", `   Compiling calc v0.1.0 (/home/user/calc)
    Finished ` + "`" + `test` + "`" + ` profile [unoptimized + debuginfo] target(s) in 2.44s
     Running unittests src/lib.rs (target/debug/deps/calc-c6626fb655a8d231)

running 3 tests
test tests::one ... ok
test tests::sums ... FAILED
test tests::none ... FAILED

failures:

---- tests::sums stdout ----

thread 'tests::sums' (12836) panicked at src/lib.rs:6:74:
assertion ` + "`" + `left == right` + "`" + ` failed
  left: 3
 right: 6

---- tests::none stdout ----

thread 'tests::none' (12834) panicked at src/lib.rs:8:17:
assertion ` + "`" + `left == right` + "`" + ` failed: of nothing
  left: 0
 right: 1


failures:
    tests::none
    tests::sums

test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.24s

error: test failed, to rerun pass ` + "`" + `--lib` + "`" + `
`,
		`    Finished ` + "`" + `test` + "`" + ` profile [unoptimized + debuginfo] target(s) in 0.09s
     Running unittests src/lib.rs (target/debug/deps/calc-c6626fb655a8d231)

running 3 tests
test tests::one ... ok
test tests::none ... FAILED
test tests::sums ... FAILED

failures:

---- tests::none stdout ----

thread 'tests::none' (12858) panicked at src/lib.rs:8:17:
assertion ` + "`" + `left == right` + "`" + ` failed: of nothing
  left: 0
 right: 1

---- tests::sums stdout ----

thread 'tests::sums' (12860) panicked at src/lib.rs:6:74:
assertion ` + "`" + `left == right` + "`" + ` failed
  left: 3
 right: 6


failures:
    tests::none
    tests::sums

test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.39s

error: test failed, to rerun pass ` + "`" + `--lib` + "`" + `
`,
		`   Compiling calc v0.1.0 (/home/user/calc)
    Finished ` + "`" + `test` + "`" + ` profile [unoptimized + debuginfo] target(s) in 2.44s
     Running unittests src/lib.rs (target/debug/deps/calc-c6626fb655a8d231)

running 3 tests
test tests::one ... ok
test tests::sums ... FAILED
test tests::none ... FAILED

failures:

---- tests::sums stdout ----

thread 'tests::sums' (12836) panicked at src/lib.rs:6:74:
assertion ` + "`" + `left == right` + "`" + ` failed
  left: 5
 right: 6

---- tests::none stdout ----

thread 'tests::none' (12834) panicked at src/lib.rs:8:17:
assertion ` + "`" + `left == right` + "`" + ` failed: of nothing
  left: 0
 right: 1


failures:
    tests::none
    tests::sums

test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.24s

error: test failed, to rerun pass ` + "`" + `--lib` + "`" + `
`},
	{"pytest", `============================= test session starts ==============================
platform linux -- Python 3.12.3, pytest-8.3.2, pluggy-1.5.0
rootdir: /work/one
collected 3 items

test_mean.py .FF                                                         [100%]

=================================== FAILURES ===================================
__________________________________ test_empty __________________________________

    def test_empty():
>       assert mean([]) == 0
               ^^^^^^^^

test_mean.py:11: 
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ 

xs = []

    def mean(xs):
>       return sum(xs) / len(xs)
E       ZeroDivisionError: division by zero

mean.py:2: ZeroDivisionError
__________________________________ test_file ___________________________________

tmp_path = PosixPath('/tmp/pytest-of-user/pytest-41/test_file0')

    def test_file(tmp_path):
>       assert (tmp_path / "out.txt").read_text() == "x"

test_mean.py:15: 
E       FileNotFoundError: [Errno 2] No such file or directory: '/tmp/pytest-of-user/pytest-41/test_file0/out.txt'

/usr/lib/python3.12/pathlib.py:1013: FileNotFoundError
=========================== short test summary info ============================
FAILED test_mean.py::test_empty - ZeroDivisionError: division by zero
FAILED test_mean.py::test_file - FileNotFoundError: [Errno 2] No such file or directory: '/tmp/pytest-of-user/pytest-41/test_file0/out.txt'
========================= 2 failed, 1 passed in 0.03s ==========================
`,
		`============================= test session starts ==============================
platform linux -- Python 3.12.3, pytest-8.3.2, pluggy-1.5.0
rootdir: /work/two
collected 3 items

test_mean.py .FF                                                         [ 50%]

=================================== FAILURES ===================================
__________________________________ test_empty __________________________________

    def test_empty():
>       assert mean([]) == 0
               ^^^^^^^^

test_mean.py:19: 
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ 

xs = []

    def mean(xs):
>       return sum(xs) / len(xs)
E       ZeroDivisionError: division by zero

mean.py:2: ZeroDivisionError
__________________________________ test_file ___________________________________

tmp_path = PosixPath('/tmp/pytest-of-user/pytest-42/test_file0')

    def test_file(tmp_path):
>       assert (tmp_path / "out.txt").read_text() == "x"

test_mean.py:15: 
E       FileNotFoundError: [Errno 2] No such file or directory: '/tmp/pytest-of-user/pytest-42/test_file0/out.txt'

/usr/lib/python3.12/pathlib.py:1013: FileNotFoundError
=========================== short test summary info ============================
FAILED test_mean.py::test_empty - ZeroDivisionError: division by zero
FAILED test_mean.py::test_file - FileNotFoundError: [Errno 2] No such file or directory: '/tmp/pytest-of-user/pytest-42/test_file0/out.txt'
========================= 2 failed, 4 passed in 12.41s (0:00:12) ==========================
`,
		`============================= test session starts ==============================
platform linux -- Python 3.12.3, pytest-8.3.2, pluggy-1.5.0
rootdir: /work/one
collected 3 items

test_mean.py .FF                                                         [100%]

=================================== FAILURES ===================================
__________________________________ test_empty __________________________________

    def test_empty():
>       assert mean([]) == 0
               ^^^^^^^^

test_mean.py:11: 
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ 

xs = []

    def mean(xs):
>       return sum(xs) / len(xs)
E       ZeroDivisionError: float division by zero

mean.py:2: ZeroDivisionError
__________________________________ test_file ___________________________________

tmp_path = PosixPath('/tmp/pytest-of-user/pytest-41/test_file0')

    def test_file(tmp_path):
>       assert (tmp_path / "out.txt").read_text() == "x"

test_mean.py:15: 
E       FileNotFoundError: [Errno 2] No such file or directory: '/tmp/pytest-of-user/pytest-41/test_file0/out.txt'

/usr/lib/python3.12/pathlib.py:1013: FileNotFoundError
=========================== short test summary info ============================
FAILED test_mean.py::test_empty - ZeroDivisionError: float division by zero
FAILED test_mean.py::test_file - FileNotFoundError: [Errno 2] No such file or directory: '/tmp/pytest-of-user/pytest-41/test_file0/out.txt'
========================= 2 failed, 1 passed in 0.03s ==========================
`},
	{"jest", `FAIL src/sum.test.js
  ✓ adds (2 ms)
  ✕ sums (4 ms)

  ● sums

    expect(received).toBe(expected) // Object.is equality

    Expected: 6
    Received: 3

       6 | test('sums', () => {
    >  7 |   expect(sum(3)).toBe(6);
         |                  ^
       8 | });

      at Object.toBe (src/sum.test.js:7:18)

Test Suites: 1 failed, 1 total
Tests:       1 failed, 1 passed, 2 total
Snapshots:   0 total
Time:        0.321 s, estimated 1 s
Ran all test suites.
`,
		`FAIL src/sum.test.js
  ✓ adds (2 ms)
  ✕ sums (11 ms)

  ● sums

    expect(received).toBe(expected) // Object.is equality

    Expected: 6
    Received: 3

      16 | test('sums', () => {
    > 17 |   expect(sum(3)).toBe(6);
         |                  ^
      18 | });

      at Object.toBe (src/sum.test.js:17:18)

Test Suites: 1 failed, 1 total
Tests:       1 failed, 2 passed, 3 total
Snapshots:   0 total
Time:        1.02 s
Ran all test suites.
`,
		`FAIL src/sum.test.js
  ✓ adds (2 ms)
  ✕ sums (4 ms)

  ● sums

    expect(received).toBe(expected) // Object.is equality

    Expected: 6
    Received: 5

       6 | test('sums', () => {
    >  7 |   expect(sum(3)).toBe(6);
         |                  ^
       8 | });

      at Object.toBe (src/sum.test.js:7:18)

Test Suites: 1 failed, 1 total
Tests:       1 failed, 1 passed, 2 total
Snapshots:   0 total
Time:        0.321 s, estimated 1 s
Ran all test suites.
`},
}
