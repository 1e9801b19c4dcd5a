package verifier

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Digest identifies what a failed verification said: equal for the same failing checks with the same words, whatever
// the time, the machine's load, the order of parallel tests and the lines above them are. workspace and temp are the
// folders of this run, whose names say nothing. Where no failing check is recognised, the end of the output counts.
func Digest(output []byte, exitCode int, workspace, temp string) string {
	places := strings.NewReplacer()
	if len(workspace) > 1 && len(temp) > 1 {
		places = strings.NewReplacer(workspace, "$WORKSPACE", temp+"/", "/tmp/")
	}
	lines := strings.Split(plain(output), "\n")
	words := map[string]bool{}
	for i, m := range markLines(lines) {
		if m != plainLine {
			words[steady(lines[i], places)] = true
		}
	}
	if len(words) == 0 {
		tail, _ := tailOf(strings.Trim(strings.Join(lines, "\n"), "\n"))
		for line := range strings.Lines(tail) {
			words[steady(line, places)] = true
		}
	}
	delete(words, "")
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "exit %d\n", exitCode)
	for _, line := range slices.Sorted(maps.Keys(words)) { // parallel tests end in any order
		_, _ = fmt.Fprintln(sum, line)
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}

// steady is a line without what differs between two runs that say the same.
func steady(line string, places *strings.Replacer) string {
	if len(line) > maxMatched {
		line = line[:maxMatched]
	}
	line = places.Replace(line)
	for _, c := range changing {
		if c.hint == "" || strings.Contains(line, c.hint) {
			line = c.pattern.ReplaceAllString(line, c.with)
		}
	}
	return strings.Join(strings.Fields(line), " ")
}

// changing is what differs, with what stands in its place. The order matters: dates before numbers.
var changing = []struct {
	hint    string // must occur in the line
	pattern *regexp.Regexp
	with    string
}{
	// Times
	{"-", regexp.MustCompile(`\b\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?( ?(Z|[+-]\d\d:?\d\d))?)?`), "TIME"},
	{"/", regexp.MustCompile(`\b\d{4}/\d\d/\d\d( \d\d:\d\d:\d\d(\.\d+)?)?`), "TIME"},
	{":", regexp.MustCompile(`\b\d\d:\d\d:\d\d([.,]\d+)?\b`), "TIME"},
	// Durations, where tools put them: a number of seconds in an assertion is a failure's own.
	{"(", regexp.MustCompile(`\(\s*((\d+(\.\d+)?\s?(ns|µs|us|ms|s|sec|m|min|h))\s?)+\)`), "(DURATION)"},
	{"", regexp.MustCompile(`(?i)\b(in|took|after|time:?|elapsed:?|duration(_ms)?:?)\s+(\d+(\.\d+)?\s?(ns|µs|us|ms|seconds?|secs?|s|minutes?|min|m|hours?|h)?\b,?\s?)+`), "$1 DURATION "},
	{"stimated", regexp.MustCompile(`estimated \d+(\.\d+)?\s?s`), "estimated DURATION"},
	{"s", regexp.MustCompile(`\t\d+\.\d+s\b`), "\tDURATION"},
	{"(", regexp.MustCompile(`\s?\(\d+:\d\d:\d\d\)`), ""},
	{"[", regexp.MustCompile(`\[\d+(\.\d+)?\s?(ns|µs|us|ms|s|m)\]`), "[DURATION]"},
	// Names that are made anew
	{"-", regexp.MustCompile(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "ID"},
	{"0x", regexp.MustCompile(`\b0x[0-9a-fA-F]+\b`), "ADDRESS"},
	{"tmp/", regexp.MustCompile(`(/private)?(/var)?/tmp/([^\s"'():/,]+/)*`), "/tmp/"},
	{"/var/folders/", regexp.MustCompile(`(/private)?/var/folders/([^\s"'():/,]+/)*`), "/tmp/"},
	{`\Temp\`, regexp.MustCompile(`[A-Za-z]:\\[^\s"'()]*\\Temp\\([^\s"'():\\,]+\\)*`), "/tmp/"},
	{"pytest-", regexp.MustCompile(`\bpytest-of-[^/\s]+/pytest-\d+/`), "/tmp/"},
	{":", regexp.MustCompile(`(127\.0\.0\.1|0\.0\.0\.0|localhost|\[::1?\]):\d+`), "$1:PORT"},
	{"goroutine", regexp.MustCompile(`goroutine \d+( gp=\S+)?( m=\S+)?( mp=\S+)?`), "goroutine N"},
	{"[", regexp.MustCompile(`(goroutine N) \[[^\]]*\]`), "$1"},
	{"thread", regexp.MustCompile(`(thread '[^']*') \(\d+\)`), "$1"},
	{"pid", regexp.MustCompile(`\bpid[ =:]+\d+`), "pid N"},
	{"PID", regexp.MustCompile(`\bPID[ =:]+\d+`), "PID N"},
	{"seed", regexp.MustCompile(`\bseed[ =:]+(0x)?[0-9a-fA-F]+`), "seed N"},
	{"shuffle", regexp.MustCompile(`-shuffle[ =]\d+`), "-shuffle N"},
	// Places: lines move when the code above them changes.
	{"line ", regexp.MustCompile(`\bline \d+\b`), "line N"},
	{":", regexp.MustCompile(`(\.[A-Za-z]\w*):\d+(:\d+)?`), "$1:N"},
	{"(", regexp.MustCompile(`(\.[A-Za-z]\w*)\(\d+,\d+\)`), "$1(N)"},
	{"|", regexp.MustCompile(`^\s*>?\s*\d*\s*\|`), "|"},
	{" +ADDRESS", regexp.MustCompile(` \+ADDRESS`), ""},
	{"==", regexp.MustCompile(`={2,}`), "=="}, // as long as the line's words leave room for
	{"__", regexp.MustCompile(`_{3,}`), "___"},
	{"--", regexp.MustCompile(`-{4,}`), "---"},
	// Counts of what is no failure, and numbers of checks in a list
	{"", regexp.MustCompile(`\b\d+ (passed|passing|skipped|ignored|measured|filtered out|total|warnings?|deselected|xfailed|xpassed|pending|todo)\b`), "N $1"},
	{"ok ", regexp.MustCompile(`\bok \d+\b`), "ok N"},
	{")", regexp.MustCompile(`^\s*\d+\) `), "N) "},
	{"", regexp.MustCompile(`\b\d{9,}\b`), "N"},
}
