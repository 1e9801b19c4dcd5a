package guard

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// patch writes a diff of one file with one hunk, from its lines.
func patch(old, new string, lines ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "diff --git a/%s b/%s\n", or(old, new), or(new, old))
	switch {
	case old == "":
		b.WriteString("new file mode 100644\n")
	case new == "":
		b.WriteString("deleted file mode 100644\n")
	case old != new:
		fmt.Fprintf(&b, "similarity index 90%%\nrename from %s\nrename to %s\n", old, new)
	}
	if len(lines) == 0 {
		return b.String()
	}
	before, after := 0, 0
	for _, line := range lines {
		if line[0] != '+' {
			before++
		}
		if line[0] != '-' {
			after++
		}
	}
	fmt.Fprintf(&b, "index 1..2 100644\n--- %s\n+++ %s\n@@ -1,%d +1,%d @@\n%s\n", nameIn("a/", old), nameIn("b/", new), before, after, strings.Join(lines, "\n"))
	return b.String()
}

func nameIn(prefix, name string) string {
	if name == "" {
		return "/dev/null"
	}
	return prefix + name
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// hits reads a diff, byte by byte every other time: its pieces come as a process writes them.
func hits(t *testing.T, diff string) []Hit {
	t.Helper()
	var out [][]Hit
	for _, step := range []int{1, len(diff)} {
		tests := NewTests()
		p := NewPatch(tests)
		for rest := []byte(diff); len(rest) > 0; rest = rest[min(step, len(rest)):] {
			n, err := p.Write(rest[:min(step, len(rest))])
			require.NoError(t, err)
			require.Equal(t, min(step, len(rest)), n)
		}
		require.NoError(t, p.Close())
		out = append(out, tests.Hits())
		require.Equal(t, out[len(out)-1], tests.Hits(), "asking twice changes nothing")
	}
	require.Equal(t, out[0], out[1])
	return out[0]
}

func TestSkipsOfEachLanguage(t *testing.T) {
	for path, lines := range map[string][]string{
		"a/sum_test.go":                    {"\tt.Skip()", "\tt.Skip(\"flaky\")", "\tb.SkipNow()", "\t\ttb.Skipf(\"%d\", 1)", "func TestMain(m *testing.M) { os.Exit(0) }", "//go:build ignore", "// +build ignore"},
		"tests/test_sum.py":                {"@pytest.mark.skip", "@pytest.mark.skip(reason='x')", "    @pytest.mark.skipif(True, reason='')", "@pytest.mark.xfail", "@unittest.skip('x')", "@skipUnless(x, 'y')", "        self.skipTest('x')", "    pytest.skip('x')", "pytestmark = pytest.mark.skip", "    raise unittest.SkipTest('x')", "pytest.importorskip('x')"},
		"conftest.py":                      {"collect_ignore = ['test_sum.py']"},
		"src/sum.test.ts":                  {"it.skip('adds', () => {", "  test.only('adds', () => {", "describe.only('sum', () => {", "xit('adds', () => {", "xdescribe(\"sum\", () => {", "fit('adds', () => {", "fdescribe('sum', () => {", "test.todo('adds')", "describe.skip.each([1])('x', () => {})", "    this.skip()", "test('adds', { skip: true }, () => {", "  t.skip('later')", "it.failing('adds', () => {", "test.skipIf(true)('adds', () => {", "test.fixme('adds', async () => {"},
		"src/__tests__/sum.jsx":            {"xtest('adds', () => {"},
		"src/lib.rs":                       {"    #[ignore]", "#[ignore = \"slow\"]", "#[cfg_attr(not(feature = \"x\"), ignore)]", "#![cfg(any())]"},
		"src/test/java/SumTest.java":       {"    @Disabled", "@Disabled(\"x\")", "@Ignore", "@org.junit.Ignore(\"x\")", "@DisabledOnOs(OS.LINUX)", "@EnabledIf(\"x\")", "        Assumptions.assumeTrue(false);", "        assumeFalse(true);", "      groups = \"a\", enabled = false)"},
		"src/test/kotlin/SumTest.kt":       {"@Disabled"},
		"spec/sum_spec.rb":                 {"  skip", "    skip 'later'", "  pending 'x'", "  xit 'adds' do", "xdescribe 'sum' do", "  it 'adds', :skip do", "it 'adds', skip: true do", "  fit 'adds' do", "it 'adds', :focus do"},
		"Sum.Tests/SumTests.cs":            {"[Ignore(\"x\")]", "    [Fact(Skip = \"x\")]"},
		"tests/SumTest.php":                {"        $this->markTestSkipped('x');"},
		"Tests/SumTests.swift":             {"        throw XCTSkip()"},
		"test/sum_test.exs":                {"  @tag :skip"},
		"packages/web/cypress/e2e/a.cy.js": {"describe.only('a', () => {"},
	} {
		for _, line := range lines {
			found := hits(t, patch(path, path, " before", "+"+line, " after"))
			require.Equal(t, []Hit{{path, SkippedTest, strings.TrimSpace(line)}}, found, "%s: %s", path, line)
			require.Empty(t, skips(hits(t, patch(path, path, " before", "-"+line, " after"))), "a skip that goes is no harm: %s", line)
			require.Empty(t, skips(hits(t, patch(path, path, " before", "-"+line, " between", "+    "+line, " after"))), "one that moves is none: %s", line)
			require.Empty(t, hits(t, patch("src/sum.txt", "src/sum.txt", " before", "+"+line, " after")), "and none outside of tests: %s", line)
		}
	}
}

func skips(hits []Hit) []Hit {
	return slices.DeleteFunc(hits, func(h Hit) bool { return h.Why != SkippedTest })
}

func TestASkippedTestIsNotDeletedToo(t *testing.T) {
	for path, lines := range map[string][2]string{
		"a.test.ts":  {"it('adds', () => {", "it.skip('adds', () => {"},
		"b.test.ts":  {"it('adds', () => {", "xit('adds', () => {"},
		"c_spec.rb":  {"  it 'adds' do", "  xit 'adds' do"},
		"test_d.py":  {"def test_d():", "def test_d(): pytest.skip('x')"},
		"e_test.exs": {"  test \"adds\" do", "  @tag :skip"},
	} {
		found := hits(t, patch(path, path, "-"+lines[0], "+"+lines[1]))
		require.Contains(t, found, Hit{path, SkippedTest, strings.TrimSpace(lines[1])})
		if path != "e_test.exs" {
			require.Len(t, found, 1)
		}
	}
}

func TestWhatIsNoSkip(t *testing.T) {
	for path, lines := range map[string][]string{
		"a/sum_test.go":      {"\t// t.Skip() is not used here", "\tskipped := 3", "\trequire.Equal(t, \"it.skip\", x)", "\tt.Log(\"os.Exit\")"},
		"a/sum.go":           {"\tr.Skip()", "\tos.Exit(0)"},
		"tests/test_sum.py":  {"    # pytest.skip('x')", "def test_skip_list():", "    assert skipped == 3"},
		"src/sum.test.ts":    {"  // it.skip('x')", "it('skips blanks', () => {", "expect(list.only).toBe(1)", "const skip = 1"},
		"src/lib.rs":         {"    // #[ignore]", "let ignore = 1;", "#[cfg(test)]"},
		"src/SumTest.java":   {"    // @Disabled", "    assertTrue(enabled);"},
		"spec/sum_spec.rb":   {"  # skip", "  it 'skips blanks' do", "  skip_before_action :x"},
		"src/skip.ts":        {"test.skip('x')"},
		"new_test.go":        {"func TestSkip(t *testing.T) {"},
		"docs/guide_test.md": {"it.skip('x')"},
	} {
		for _, line := range lines {
			require.Empty(t, hits(t, patch(path, path, " before", "+"+line, " after")), "%s: %s", path, line)
		}
	}
	require.Empty(t, hits(t, patch("", "slow_test.go", "+//go:build integration", "+func TestSlow(t *testing.T) {", "+}")), "a new file may have a tag of its own")
}

// declarations are tests of each language, by their names.
var declarations = map[string]map[string][]string{
	"a/sum_test.go":              {"TestSum": {"func TestSum(t *testing.T) {"}, "FuzzSum": {"func FuzzSum(f *testing.F) {"}, "TestSuite": {"func (s *Suite) TestSuite() {"}},
	"tests/test_sum.py":          {"test_sum": {"def test_sum():"}, "test_wait": {"    async def test_wait(self):"}, "TestSum": {"class TestSum:"}},
	"src/sum.test.ts":            {"adds": {"  it('adds', () => {"}, "adds two": {"test(\"adds two\", async () => {"}, "sum": {"describe(`sum`, () => {"}, "each %d": {"it.each([1, 2])('each %d', (n) => {"}},
	"src/lib.rs":                 {"adds": {"    #[test]", "    fn adds() {"}, "waits": {"#[tokio::test]", "#[should_panic]", "async fn waits() {"}, "one": {"#[test] fn one() {"}},
	"src/test/java/SumTest.java": {"adds": {"    @Test", "    void adds() {"}, "each": {"    @ParameterizedTest", "    @ValueSource(ints = {1})", "    public void each(int n) {"}, "one": {"@Test public void one() {"}},
	"src/test/kotlin/SumTest.kt": {"adds": {"    @Test", "    fun adds() {"}},
	"spec/sum_spec.rb":           {"adds": {"  it 'adds' do"}, "sum": {"RSpec.describe \"sum\" do"}},
	"test/sum_test.rb":           {"test_sum": {"  def test_sum"}},
	"Sum.Tests/SumTests.cs":      {"Adds": {"    [Fact]", "    public void Adds() {"}},
	"tests/SumTest.php":          {"testSum": {"    public function testSum(): void"}},
	"Tests/SumTests.swift":       {"testSum": {"    func testSum() throws {"}},
	"test/sum_test.exs":          {"adds": {"  test \"adds\" do"}},
}

func TestDeletedTestsOfEachLanguage(t *testing.T) {
	for path, tests := range declarations {
		for name, lines := range tests {
			gone, came := signed("-", lines), signed("+", lines)
			lost := []Hit{{path, DeletedTest, name}}
			require.Equal(t, lost, hits(t, patch(path, path, append(append([]string{" before"}, gone...), " after")...)), "%s: %s", path, name)
			require.Empty(t, hits(t, patch(path, path, append([]string{" before"}, came...)...)), "a new test: %s", name)
			require.Empty(t, hits(t, patch(path, path, append(append([]string{" before"}, gone...), came...)...)), "it moved in its file: %s", name)
			require.Empty(t, hits(t, patch(path, path, gone...)+patch("", "sub/"+path, came...)), "it moved to another test file: %s", name)
			require.Len(t, hits(t, patch(path, path, gone...)+patch("", "notes.txt", came...)), 1, "it is no test where it went: %s", name)
			require.Equal(t, []Hit{{path, DeletedTest, "the whole file, " + name}}, hits(t, patch(path, "", gone...)), path)
			require.Empty(t, hits(t, patch(path, "", gone...)+patch("", "sub/"+path, came...)), "the whole file moved: %s", name)
		}
	}
}

func signed(op string, lines []string) []string {
	var out []string
	for _, line := range lines {
		out = append(out, op+line)
	}
	return out
}

func TestATestWithAnotherNameCountsAsDeleted(t *testing.T) {
	require.Equal(t, []Hit{{"a_test.go", DeletedTest, "TestHard"}},
		hits(t, patch("a_test.go", "a_test.go", "-func TestHard(t *testing.T) {", "+func TestEasy(t *testing.T) {", " }")))
}

func TestATestThatLosesItsMarkIsNoTest(t *testing.T) {
	require.Equal(t, []Hit{{"src/lib.rs", DeletedTest, "adds"}}, hits(t, patch("src/lib.rs", "src/lib.rs", "-    #[test]", " fn adds() {")))
	require.Equal(t, []Hit{{"src/lib.rs", DeletedTest, "a test whose name the patch does not show"}}, hits(t, patch("src/lib.rs", "src/lib.rs", "-    #[test]", " #[doc = \"x\"]")))
	require.Empty(t, hits(t, patch("src/lib.rs", "src/lib.rs", "-    #[test]", "+    #[tokio::test]", " async fn adds() {")))
	require.Empty(t, hits(t, patch("src/lib.rs", "src/lib.rs", " #[test]", "-fn adds() {", "+fn adds() -> Result<()> {")))
	require.Empty(t, hits(t, patch("src/lib.rs", "src/lib.rs", "-fn adds(a: i32) {", "+fn add(a: i32) {")), "a function that is no test")
}

func TestATestInACommentIsGone(t *testing.T) {
	require.Equal(t, []Hit{{"a_test.go", DeletedTest, "TestSum"}},
		hits(t, patch("a_test.go", "a_test.go", "-func TestSum(t *testing.T) {", "+// func TestSum(t *testing.T) {")))
	require.Equal(t, []Hit{{"a_test.go", SkippedTest, "a comment is opened over what stands below"}},
		hits(t, patch("a_test.go", "a_test.go", "+/*", " func TestSum(t *testing.T) {", " }", "+*/")))
	require.Empty(t, hits(t, patch("a_test.go", "a_test.go", "+/*", "+words", "+*/", " func TestSum(t *testing.T) {")))
	require.Empty(t, hits(t, patch("a.test.js", "a.test.js", "-/**", "+  /**", " * words", " */")))
}

func TestAFileThatIsNoTestAnyMore(t *testing.T) {
	require.Equal(t, []Hit{{"a_test.go", DeletedTest, "the file is now a_test.go.off"}}, hits(t, patch("a_test.go", "a_test.go.off")))
	require.Empty(t, hits(t, patch("a_test.go", "b_test.go")), "a rename")
	require.Empty(t, hits(t, patch("a_test.go", "a_test.go")), "a mode")
	require.Equal(t, []Hit{{"web/sum.spec.ts", DeletedTest, "the whole file"}}, hits(t, patch("web/sum.spec.ts", "", "-check(sum)")), "in words that nobody knows")
	require.Empty(t, hits(t, patch("tests/helpers.py", "", "-def make():")), "a helper")
}

func TestAPatchInATestIsNoPatch(t *testing.T) {
	require.Empty(t, hits(t, patch("a_test.go", "a_test.go",
		"+const trap = `", "+diff --git a/b_test.go b/b_test.go", "+--- a/b_test.go", "+@@ -1,1 +1,1 @@", "+-func TestSum(t *testing.T) {", "+`")))
}
