package guard

import (
	"regexp"
	"sync"

	"conclave/internal/glob"
)

// language says how tests of a language look, line by line.
type language struct {
	// files are globs of the files whose tests count.
	files []string
	// test declares a test; its first group that matched is the name.
	test *regexp.Regexp
	// mark makes the next declaration (decl) a test.
	mark, decl *regexp.Regexp
	// skip takes tests out of a run, or everything else.
	skip *regexp.Regexp
	// always is skip for a file that was there before, in comments too.
	always *regexp.Regexp
	// comment begins a line that says nothing.
	comment *regexp.Regexp
	// block is what begins a comment of many lines, "" for none.
	block string
}

var (
	slashes = regexp.MustCompile(`^\s*(//|\*)`)
	hashes  = regexp.MustCompile(`^\s*#`)
)

// languages are tried in their order. What an attacker would use to hide a skip from them, such as a condition that is
// never true, is for reviewers: this is what is certain.
var languages = []language{
	{
		files:   []string{"**/*_test.go"},
		test:    regexp.MustCompile(`^func ((?:Test|Fuzz|Example)\w*)\s*\(|^func \(\w+ \*?\w+\) (Test\w*)\s*\(`),
		skip:    regexp.MustCompile(`\b\w+\.Skip(f|Now)?\(|\bos\.Exit\(0\)`),
		always:  regexp.MustCompile(`^//go:build\b|^//\s*\+build\b`),
		comment: slashes, block: "/*",
	},
	{
		files: []string{"**/test_*.py", "**/*_test.py", "**/*_tests.py", "**/conftest.py", "**/tests/**/*.py", "**/test/**/*.py", "**/tests.py"},
		test:  regexp.MustCompile(`^\s*(?:async\s+)?def\s+(test\w*)\s*\(|^\s*class\s+(Test\w*|\w+Tests?|\w+TestCase)\b`),
		skip: regexp.MustCompile(`\bmark\.(skip|skipif|xfail)\b|\bpytest\.(skip|xfail|importorskip|exit)\(|@(unittest\.)?(skip|skipIf|skipUnless|expectedFailure)\b|` +
			`\.skipTest\(|\bSkipTest\b|\bcollect_ignore(_glob)?\b|__test__\s*=\s*False`),
		comment: hashes,
	},
	{
		files: []string{
			"**/*.test.*", "**/*.spec.*", "**/*_test.ts", "**/*_test.js", "**/*_test.tsx", "**/__tests__/**", "**/test/**/*.[cm]js", "**/test/**/*.js",
			"**/test/**/*.ts", "**/test/**/*.tsx", "**/test/**/*.jsx", "**/tests/**/*.js", "**/tests/**/*.ts", "**/tests/**/*.tsx", "**/tests/**/*.jsx",
			"**/tests/**/*.[cm]js", "**/*.cy.*", "**/e2e/**/*.ts", "**/e2e/**/*.js",
		},
		test: regexp.MustCompile("^\\s*(?:[xf]?(?:it|test|specify|describe|suite|context|scenario)(?:\\.(?:each|concurrent|sequential|failing|for|prop|skip|only|todo|fixme|fails|skipIf|runIf)\\b(?:\\([^)]*\\)|`[^`]*`)?)*)\\s*\\(\\s*(?:'([^']*)'|\"([^\"]*)\"|`([^`]*)`)" +
			`|^\s*Deno\.test\(\s*(?:'([^']*)'|"([^"]*)")`),
		skip: regexp.MustCompile(`\b(it|test|specify|describe|suite|context|scenario|Deno\.test|bench)(\.\w+)*\.(skip|only|todo|fixme|fails|failing|skipIf|runIf|ignore)\b|` +
			`\b(xit|xtest|xdescribe|xcontext|xspecify|fit|fdescribe|fcontext|ftest)\s*[(.]|\bthis\.skip\(|\b(t|ctx|context|test|testInfo)\.(skip|todo|fixme)\(|` +
			`\b(skip|only|todo|ignore)\s*:\s*(true|'|"|` + "`" + `)|\bpending\(|\bprocess\.exit\(0\)`),
		comment: slashes, block: "/*",
	},
	{
		files:   []string{"**/*.rs"},
		mark:    regexp.MustCompile(`^\s*#\[\s*(?:\w+::)*(?:test|rstest|test_case|quickcheck|proptest|wasm_bindgen_test)\b`),
		decl:    regexp.MustCompile(`^\s*(?:pub(?:\([^)]*\))?\s+)?(?:async\s+)?(?:unsafe\s+)?fn\s+(\w+)`),
		skip:    regexp.MustCompile(`#!?\[\s*(ignore\b|cfg_attr\([^\]]*\bignore\b|cfg\((any\(\)|FALSE|false)\))`),
		comment: slashes, block: "/*",
	},
	{
		files: []string{
			"**/*Test.java", "**/*Tests.java", "**/*IT.java", "**/Test*.java", "**/src/test/**/*.java", "**/src/test/**/*.kt", "**/src/test/**/*.scala", "**/src/test/**/*.groovy",
			"**/src/*Test/**/*.java", "**/src/*Test/**/*.kt", "**/*Test.kt", "**/*Tests.kt",
			"**/*Test.scala", "**/*Spec.scala", "**/*Spec.groovy", "**/*Test.groovy", "**/*Spec.kt",
		},
		test: regexp.MustCompile(`^\s*(?:public\s+)?void\s+(test\w+)\s*\(|^\s*def\s+"([^"]+)"\s*\(`),
		mark: regexp.MustCompile(`^\s*@(?:org\.junit\.(?:\w+\.)*)?(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Property)\b`),
		decl: regexp.MustCompile("^\\s*(?:@\\w+(?:\\([^)]*\\))?\\s+)*(?:(?:public|protected|private|static|final|internal|suspend|override|async|<[^>]*>)\\s+)*(?:fun\\s+(\\w+|`[^`]+`)|[\\w<>\\[\\],.]+\\s+(\\w+))\\s*\\("),
		skip: regexp.MustCompile(`@(?:org\.junit\.(?:\w+\.)*)?(Disabled|Ignore|Ignored|IgnoreRest|EnabledIf|EnabledOn|PendingFeature)\w*\b|` +
			`\b(assumeTrue|assumeFalse|assumeThat|assumingThat)\s*\(|\bTestAbortedException\b|\benabled\s*=\s*false\b|\bSystem\.exit\(0\)`),
		comment: slashes, block: "/*",
	},
	{
		files: []string{"**/*_spec.rb", "**/*_test.rb", "**/test_*.rb", "**/spec/**/*.rb", "**/test/**/*.rb"},
		test: regexp.MustCompile(`^\s*def\s+(test_\w+)|^\s*(?:RSpec\.)?[xf]?(?:it|specify|test|scenario|example|describe|context|feature)\s*\(?\s*(?:'([^']*)'|"([^"]*)")` +
			`|^\s*(?:RSpec\.)?describe\s+([A-Z][\w:]*)`),
		skip: regexp.MustCompile(`^\s*(skip|pending)\b|\b(xit|xdescribe|xcontext|xspecify|xexample|fit|fdescribe|fcontext|focus)\s*[( ]['"]|` +
			`[:,]\s*:?(skip|pending|focus)\b\s*(=>|:|$|\s+do\b)|\bskip_(if|unless)\b|\bomit\b|\bexit!?\(?\s*0`),
		comment: hashes,
	},
	{
		files:   []string{"**/*Tests.cs", "**/*Test.cs", "**/*.Tests/**/*.cs", "**/tests/**/*.cs", "**/test/**/*.cs"},
		mark:    regexp.MustCompile(`^\s*\[\s*(?:Fact|Theory|Test|TestCase|TestMethod|DataTestMethod)\b`),
		decl:    regexp.MustCompile(`^\s*(?:(?:public|private|protected|internal|static|async|virtual|override)\s+)+[\w<>\[\],.]+\s+(\w+)\s*\(`),
		skip:    regexp.MustCompile(`\[\s*(Ignore|Explicit)\b|\bSkip\s*=|\bAssert\.(Ignore|Inconclusive)\(`),
		comment: slashes, block: "/*",
	},
	{
		files:   []string{"**/*Test.php", "**/tests/**/*.php"},
		test:    regexp.MustCompile(`^\s*(?:public\s+)?function\s+(test\w+)\s*\(|^\s*(?:it|test)\(\s*(?:'([^']*)'|"([^"]*)")`),
		skip:    regexp.MustCompile(`\bmarkTest(Skipped|Incomplete)\(|->(skip|todo|only)\(`),
		comment: regexp.MustCompile(`^\s*(//|#)`),
	},
	{
		files:   []string{"**/*Tests.swift", "**/*Test.swift", "**/Tests/**/*.swift"},
		test:    regexp.MustCompile(`^\s*(?:\w+\s+)*func\s+(test\w*)\s*\(`),
		mark:    regexp.MustCompile(`^\s*@Test\b`),
		decl:    regexp.MustCompile(`^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:\w+\s+)*func\s+(\w+|` + "`[^`]+`" + `)`),
		skip:    regexp.MustCompile(`\bXCTSkip(If|Unless)?\b|\.disabled\(`),
		comment: slashes, block: "/*",
	},
	{
		files:   []string{"**/*_test.exs"},
		test:    regexp.MustCompile(`^\s*(?:test|describe|property)\s*\(?\s*"([^"]*)"`),
		skip:    regexp.MustCompile(`^\s*@(module|describe)?tag\s*\(?:?(skip|skip:)`),
		comment: hashes,
	},
}

// matchers are the globs of languages, compiled.
var matchers = sync.OnceValue(func() []func(string) bool {
	out := make([]func(string) bool, len(languages))
	for i, l := range languages {
		match, err := glob.Compile(l.files)
		if err != nil {
			panic(err) // they are constants
		}
		out[i] = match
	}
	return out
})

// languageOf is the language of a file with tests, nil for any other file.
func languageOf(path string) *language {
	if path == "" {
		return nil
	}
	for i, match := range matchers() {
		if match(path) {
			return &languages[i]
		}
	}
	return nil
}

// IsTest reports whether a file's tests count: one whose name or folder says so. Of Rust every file may hold tests.
func IsTest(path string) bool { return languageOf(path) != nil }
