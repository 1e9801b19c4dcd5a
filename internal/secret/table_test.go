package secret

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// classes are the alphabets of drawn texts.
var classes = map[string]string{
	"alnum": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "digits": "0123456789", "hex": "0123456789abcdef",
	"base32": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "letters": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
	"b64": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
	"url": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
}

// draw gives n characters of a class. First and last are letters or digits.
func draw(random *rand.Rand, class string, n int) string {
	set := classes[class]
	var b strings.Builder
	for i := range n {
		from := set
		if i == 0 || i == n-1 {
			from = strings.TrimRight(set, "+/-_")
		}
		b.WriteByte(from[random.IntN(len(from))])
	}
	return b.String()
}

var place = regexp.MustCompile(`\{(\w+):(\d+)\}`)

// fill draws the places of a template and returns the line and the drawn parts.
func fill(random *rand.Rand, template string) (line string, drawn []string) {
	line = place.ReplaceAllStringFunc(template, func(p string) string {
		m := place.FindStringSubmatch(p)
		n, _ := strconv.Atoi(m[2])
		drawn = append(drawn, draw(random, m[1], n))
		return drawn[len(drawn)-1]
	})
	return line, drawn
}

func table(t testing.TB, name string) []string {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	var lines []string
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && !strings.HasPrefix(line, "# ") {
			lines = append(lines, line)
		}
	}
	return lines
}

func TestEveryShapeIsFound(t *testing.T) {
	s, lines := New(), table(t, "secrets.txt")
	require.GreaterOrEqual(t, len(lines), 60)
	rules := map[string]bool{}
	for _, entry := range lines {
		want, template, _ := strings.Cut(entry, "\t")
		rules[want] = true
		const draws = 40
		missed := 0
		for seed := range uint64(draws) {
			line, drawn := fill(rand.New(rand.NewPCG(seed, 1)), template)
			var names []string
			for _, m := range s.Find([]byte(line)) {
				names = append(names, m.Rule)
			}
			if !slices.Contains(names, want) {
				missed++
				continue
			}
			clean := s.String(line)
			for _, part := range drawn {
				if len(part) >= 20 {
					require.NotContains(t, clean, part)
				}
			}
			require.Equal(t, clean, s.String(clean), "a mark is no secret")
		}
		// A short password may be drawn that looks like a word. A shape is always found.
		most := 0
		if strings.HasPrefix(want, "assigned-") {
			most = draws / 10
		}
		require.LessOrEqual(t, missed, most, "%s: %s", want, template)
	}
	for _, r := range defaults().rules {
		if !strings.HasPrefix(r.ID, "private-key") && r.ID != "fly-token" && r.ID != "onepassword-token" {
			require.True(t, rules[r.ID], "no line for rule %s", r.ID)
		}
	}
}

func TestNothingInnocentIsFound(t *testing.T) {
	s, lines := New(), table(t, "innocent.txt")
	require.GreaterOrEqual(t, len(lines), 60)
	for _, line := range lines {
		for _, m := range s.Find([]byte(line)) {
			t.Errorf("%s finds %q in: %s", m.Rule, line[m.Start:m.End], line)
		}
	}
}

// What tools write is full of drawn texts: none of them is a secret, however many there are.
func TestLockFilesAndHashesHoldNoSecret(t *testing.T) {
	s, random := New(), rand.New(rand.NewPCG(30, 31))
	for _, template := range []string{
		`example.test/module v1.{digits:2}.0 h1:{b64:43}=`, `example.test/module v1.0.0/go.mod h1:{b64:43}=`,
		`      "integrity": "sha512-{b64:86}==",`, `  integrity sha1-{b64:27}=`, `  resolution: {integrity: sha512-{b64:86}==}`,
		`"https://registry.test.invalid/pkg/-/pkg-1.0.0.tgz#{hex:40}"`, `checksum = "{hex:64}"`, `    {file = "a-1.0.whl", hash = "sha256:{hex:64}"},`,
		`a==1.0 --hash=sha256:{hex:64}`, `FROM image@sha256:{hex:64}`, `  uses: actions/checkout@{hex:40}`, `id: {hex:8}-{hex:4}-4{hex:3}-a{hex:3}-{hex:12}`,
		`commit {hex:40}`, `index {hex:40}..{hex:40} 100644`, `ETag: W/"{hex:32}"`, `<script src="/assets/app-{alnum:8}.js" integrity="sha384-{b64:64}"></script>`,
		`trace_id={hex:32} span_id={hex:16}`, `data:font/woff2;base64,{b64:400}`, `//# sourceMappingURL=data:application/json;base64,{b64:200}`, `AAAAB3NzaC1yc2EAAAADAQABAAABgQC{b64:300}`,
		`"thoughtSignature": "{b64:300}"`, `toolu_01{alnum:22} msg_01{alnum:22} req_011{alnum:21}`, `resp_{hex:48} rs_{hex:48} call_{alnum:24}`,
		`var _{alnum:3}="{alnum:60}",{letters:1}=function(e){return {letters:2}[e]};`, `"publicKeyToken": "{hex:16}"`, `"tokenId": "{alnum:24}"`, `csrf_token: "{alnum:32}"`,
	} {
		for range 1000 {
			line, _ := fill(random, template)
			for _, m := range s.Find([]byte(line)) {
				t.Errorf("%s finds %q in: %s", m.Rule, line[m.Start:m.End], line)
			}
		}
	}
}

func TestTheTablesHoldNoSecret(t *testing.T) {
	s := New()
	for _, line := range table(t, "secrets.txt") {
		_, template, _ := strings.Cut(line, "\t")
		require.Empty(t, s.Find([]byte(template)), template)
	}
}

// Nothing in our own repository looks like a secret: whoever publishes it must not be stopped.
func TestOurRepositoryHoldsNoSecret(t *testing.T) {
	s, files := New(), 0
	require.NoError(t, filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if slices.Contains([]string{".git", "bin", "node_modules", ".conclave"}, entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() || filepath.Ext(path) == ".test" { // a built test
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		for _, m := range s.Find(content) {
			t.Errorf("%s: %s at byte %d", path, m.Rule, m.Start)
		}
		return nil
	}))
	require.Greater(t, files, 100)
}

func TestRulesAreWellFormed(t *testing.T) {
	for _, r := range defaults().rules {
		require.NotEmpty(t, r.Title, r.ID)
		for _, word := range r.Keywords {
			require.Equal(t, strings.ToLower(word), word, r.ID)
		}
	}
	for name, text := range map[string]string{
		"no JSON":   "{",
		"pattern":   `{"rules":[{"id":"x","keywords":["x"],"pattern":"("}]}`,
		"window":    fmt.Sprintf(`{"rules":[{"id":"x","keywords":["x"],"window":%d}]}`, longest+1),
		"keywords":  `{"rules":[{"id":"x"}]}`,
		"after":     `{"rules":[{"id":"x","keywords":["x"],"after":"z-a"}]}`,
		"needs":     `{"rules":[{"id":"x","keywords":["x"],"needs":"("}]}`,
		"allow":     `{"rules":[],"allow":{"guess":["("]}}`,
		"empty one": `{"rules":[{"id":"","keywords":["x"]}]}`,
	} {
		_, err := parseRules([]byte(text))
		require.ErrorContains(t, err, "rules.json", name)
	}
}
