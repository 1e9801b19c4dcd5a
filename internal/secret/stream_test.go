package secret

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// key draws a private key in the shape of a PEM block, n lines long.
func key(random *rand.Rand, kind string, n int) string {
	var b strings.Builder
	b.WriteString("-----" + "BEGIN " + kind + "-----\n")
	for range n {
		b.WriteString(draw(random, "b64", 64) + "\n")
	}
	b.WriteString(draw(random, "b64", 22) + "==\n-----" + "END " + kind + "-----\n")
	return b.String()
}

// bodyOf are the lines of a key that must not be seen.
func bodyOf(block string) []string {
	lines := strings.Split(strings.TrimSpace(block), "\n")
	return lines[1 : len(lines)-1]
}

func TestPrivateKeysInEveryText(t *testing.T) {
	s := New()
	random := rand.New(rand.NewPCG(1, 2))
	for _, kind := range []string{"PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "PGP PRIVATE KEY BLOCK"} {
		block := key(random, kind, 25)
		quoted, err := json.Marshal(map[string]string{"private_key": block, "next": "stays"})
		require.NoError(t, err)
		twice, err := json.Marshal(map[string]string{"out": string(quoted)})
		require.NoError(t, err)
		added := "@@ -0,0 +1,28 @@\n+" + strings.ReplaceAll(block, "\n", "\n+") + "stays\n"
		removed := "@@ -1,28 +0,0 @@\n-" + strings.ReplaceAll(block, "\n", "\n-") + "stays\n"
		code := `key := "` + strings.ReplaceAll(block, "\n", "\\n\" +\n\t\"") + `" // stays`
		old := strings.Replace(block, "-----\n", "-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF0123456789ABCDEF\n\n", 1) + "stays"
		for name, text := range map[string]string{
			"plain": block + "stays\n", "windows": strings.ReplaceAll(block, "\n", "\r\n") + "stays", "JSON": string(quoted), "JSON twice": string(twice),
			"added": added, "removed": removed, "code": code, "indented": strings.ReplaceAll(block, "\n", "\n      ") + "stays", "old": old,
			"without an end": strings.Join(strings.Split(block, "\n")[:20], "\n"), "one line": strings.ReplaceAll(block, "\n", " ") + "stays",
		} {
			clean := s.String(text)
			for _, line := range bodyOf(block) {
				if strings.HasSuffix(line, "==") && name == "without an end" {
					continue
				}
				require.NotContains(t, clean, line, "%s: %s", name, kind)
			}
			require.Contains(t, clean, "[redacted:private-key]", name)
			require.Equal(t, strings.Count(text, "\n"), strings.Count(clean, "\n"), name)
			if name != "without an end" {
				require.Contains(t, clean, "stays", name)
			}
			if strings.HasPrefix(name, "JSON") {
				require.True(t, json.Valid([]byte(clean)), clean)
			}
			if name == "added" || name == "removed" {
				for _, line := range strings.Split(strings.TrimSuffix(clean, "stays\n"), "\n")[1:] {
					require.Contains(t, "+-", (line + "?")[:1], "a line of a diff stays one")
				}
			}
		}
	}
}

func TestPrivateKeysInBase64(t *testing.T) {
	s, random := New(), rand.New(rand.NewPCG(12, 13))
	for _, kind := range []string{"PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY"} {
		encoded := base64.StdEncoding.EncodeToString([]byte(key(random, kind, 30)))
		require.Equal(t, "  tls.key: [redacted:private-key-base64]\n", s.String("  tls.key: "+encoded+"\n"), kind)
	}
	public := base64.StdEncoding.EncodeToString([]byte("-----BEGIN " + "CERTIFICATE-----\n" + draw(random, "b64", 600)))
	require.Equal(t, public, s.String(public))
}

// Drawn texts with secrets in JSON lines: what comes out of a Writer does not depend on the borders of the parts, is
// what Redact makes of the whole, holds no secret, and each line is still JSON.
func TestStreamProperty(t *testing.T) {
	s := New("CONCLAVE_TEST_KEY=quite a \"plain\" value 7\nof two lines")
	templates := table(t, "secrets.txt")
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		var lines []string
		var hidden []string
		if random.IntN(4) == 0 { // so long that the stream is handed on within what follows
			lines = append(lines, `{"text":"`+strings.Repeat("nothing here. ", gathered/14+random.IntN(longest/14))+`"}`)
		}
		for range rapid.IntRange(1, 12).Draw(t, "lines") {
			text := "words before \t\x1b[31m "
			switch random.IntN(4) {
			case 0:
				block := key(random, "RSA PRIVATE KEY", 5+random.IntN(30))
				text += block
				hidden = append(hidden, bodyOf(block)...)
			case 1:
				text += "value: quite a \"plain\" value 7\nof two lines"
				hidden = append(hidden, `plain\" value 7`)
			case 2:
				text += strings.Repeat("nothing here. ", random.IntN(400))
			default:
				rule, template, _ := strings.Cut(templates[random.IntN(len(templates))], "\t")
				line, drawn := fill(random, template)
				text += line
				for _, d := range drawn {
					if len(d) >= 20 && !strings.HasPrefix(rule, "assigned-") { // chance may draw what looks written
						hidden = append(hidden, d)
					}
				}
			}
			raw, err := json.Marshal(map[string]any{"type": "item", "text": text, "more": []int{1, 2}})
			require.NoError(t, err)
			lines = append(lines, string(raw))
		}
		whole := strings.Join(lines, "\n") + "\n"
		want := string(s.Redact([]byte(whole)))
		got := stream(t, s, whole, func() int { return rapid.IntRange(1, 3000).Draw(t, "part") })
		require.Equal(t, want, got)
		for _, h := range hidden {
			require.NotContains(t, got, h)
		}
		out := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
		require.Len(t, out, len(lines))
		for _, line := range out {
			require.True(t, json.Valid([]byte(line)), line)
		}
	})
}

func stream(t require.TestingT, s *Scanner, whole string, part func() int) string {
	var out bytes.Buffer
	w := s.Writer(&out)
	for rest := whole; rest != ""; {
		n := min(part(), len(rest))
		got, err := w.Write([]byte(rest[:n]))
		require.NoError(t, err)
		require.Equal(t, n, got)
		rest = rest[n:]
	}
	require.NoError(t, w.Close())
	return out.String()
}

func TestASecretOnEveryBorder(t *testing.T) {
	s := New()
	random := rand.New(rand.NewPCG(4, 5))
	token := "ghp_" + draw(random, "alnum", 36)
	block := key(random, "PRIVATE KEY", 20)
	for _, text := range []string{"a token " + strings.Repeat(" ", 40) + token, block} {
		// Around the place where the first part is handed on, so that the border falls everywhere in it.
		for offset := -len(text) - 8; offset <= 8; offset += 7 {
			whole := strings.Repeat("x y\n", (gathered+longest)/4)[:gathered+offset] + " " + text + "\n" + strings.Repeat("tail ", longest/2)
			got := stream(t, s, whole, func() int { return 4096 })
			require.True(t, string(s.Redact([]byte(whole))) == got, "offset %d", offset)
			require.False(t, strings.Contains(got, text[40:80]), "offset %d", offset)
		}
	}
}

func TestASecretWithoutEndIsHiddenInBoundedMemory(t *testing.T) {
	s := New()
	random := rand.New(rand.NewPCG(6, 7))
	for name, head := range map[string]string{
		"token": "sk-proj-", "key": "-----" + "BEGIN PRIVATE KEY-----\\n", "json web token": "eyJ" + draw(random, "url", 20) + ".eyJ" + draw(random, "url", 20) + ".",
	} {
		body := draw(random, "alnum", 2<<20)
		var out bytes.Buffer
		w := s.Writer(&out)
		for rest := `{"text":"` + head + body + `"}`; rest != ""; {
			n := min(10_000, len(rest))
			_, err := w.Write([]byte(rest[:n]))
			require.NoError(t, err)
			require.LessOrEqual(t, cap(w.buf), 4*(gathered+longest), name)
			rest = rest[n:]
		}
		require.NoError(t, w.Close())
		require.Less(t, out.Len(), 200, name)
		require.True(t, json.Valid(out.Bytes()), "%s: %.200s", name, out.String())
	}
}

func TestExactValuesInEverySpelling(t *testing.T) {
	value := "p&ss \"word\" with/slash+plus=7"
	s := New("SERVICE_KEY="+value, "SHORT=abc", "NOTHING", "EMPTY=", "OTHER="+strings.Repeat("long value 9 ", 1000))
	require.Equal(t, "[redacted:environment:SERVICE_KEY]", s.String(value))
	require.NotContains(t, s.String("x "+strings.Repeat("long value 9 ", 600)+"y"), "environment:OTHER", "a part is no value")
	for name, spelling := range map[string]string{
		"Go's JSON": `p\u0026ss \"word\" with/slash+plus=7`, "JavaScript's JSON": `p&ss \"word\" with/slash+plus=7`,
		"JSON in JSON": `p&ss \\\"word\\\" with/slash+plus=7`, "Go's in JavaScript's": `p\\u0026ss \\\"word\\\" with/slash+plus=7`,
		"a form": "p%26ss+%22word%22+with%2Fslash%2Bplus%3D7", "a URL": "p%26ss%20%22word%22%20with%2Fslash%2Bplus%3D7", "a path": url.PathEscape(value),
		"HTML": "p&amp;ss &#34;word&#34; with/slash+plus=7", "hexadecimal": "702673732022776f7264222077697468" + "2f736c6173682b706c75733d37",
		"base64": base64.StdEncoding.EncodeToString([]byte(value)), "base64 of URLs": base64.RawURLEncoding.EncodeToString([]byte(value)),
	} {
		require.Equal(t, "a [redacted:environment:SERVICE_KEY] b", s.String("a "+spelling+" b"), name)
	}
	require.Equal(t, "abc stays", s.String("abc stays"))
	require.NotContains(t, s.String("x "+strings.Repeat("long value 9 ", 600)+"y"), "environment:OTHER", "a part is no value")
	require.Contains(t, s.String(strings.Repeat("long value 9 ", 1000)), "environment:OTHER")
}

// What encodes a value rarely encodes it alone: a line feed follows, a user stands before it.
func TestAValueIsFoundWithinLongerBase64(t *testing.T) {
	random := rand.New(rand.NewPCG(16, 17))
	for n := 12; n < 120; n += 7 {
		value := draw(random, "url", n)
		s := New("SERVICE_KEY=" + value)
		for _, around := range [][2]string{{"", "\n"}, {"user:", ""}, {"u:", "\n"}, {`{"key":"`, `"}`}, {"12", "345"}, {"1", "2"}} {
			encoded := base64.StdEncoding.EncodeToString([]byte(around[0] + value + around[1]))
			clean := s.String("Authorization: Basic " + encoded)
			require.Contains(t, clean, "[redacted:environment:SERVICE_KEY]", "%q", around)
			rest := strings.ReplaceAll(strings.TrimPrefix(clean, "Authorization: Basic "), "[redacted:environment:SERVICE_KEY]", "")
			require.LessOrEqual(t, len(rest), base64.StdEncoding.EncodedLen(len(around[0])+len(around[1]))+8, "at most a character on either side is left: %s", clean)
		}
	}
}

// A manifest, or a header of basic authentication, holds them so.
func TestShapesAreFoundInBase64(t *testing.T) {
	s := New()
	shapes := map[string]string{
		"github-token": "ghp_{alnum:36}", "anthropic-key": "sk-ant-api03-{url:93}AA", "openai-key": "sk-proj-{alnum:60}", "aws-access-key": "AKIA{base32:16}",
		"google-key": "AIza{url:35}", "gitlab-token": "glpat-{url:20}", "slack-token": "xoxb-{digits:12}-{digits:13}-{alnum:24}", "npm-token": "npm_{alnum:36}",
	}
	for rule, template := range shapes {
		for seed := range uint64(6) {
			token, _ := fill(rand.New(rand.NewPCG(seed, 20)), template)
			plain := strings.Repeat("u", int(seed)) + `:` + token + "\nother: value of a setting\n"
			for name, encoded := range map[string]string{
				"": base64.StdEncoding.EncodeToString([]byte(plain)), "URL": base64.RawURLEncoding.EncodeToString([]byte(plain)),
				"alone": base64.StdEncoding.EncodeToString([]byte(token)), "line feed": base64.StdEncoding.EncodeToString([]byte(token + "\n")),
			} {
				for width := range 3 {
					text := encoded
					if cut := 20 + 7*width; width > 0 && cut < len(encoded) {
						text = encoded[:cut] + "\n    " + encoded[cut:]
					}
					clean := s.String("  data: " + text + "\n  next: stays\n")
					require.Contains(t, clean, "[redacted:"+rule+"]", "%s %s %d", rule, name, width)
					require.Contains(t, clean, "next: stays")
					for i := 4; i+8 <= len(token); i++ {
						for before := range 3 {
							require.NotContains(t, clean, within(base64.RawStdEncoding, before, token[i:i+8]), "%s %s %d", rule, name, width)
						}
					}
				}
			}
		}
	}
	// Drawn bytes in base64 are none, nor is a beginning without the rest.
	noise := base64.StdEncoding.EncodeToString([]byte(draw(rand.New(rand.NewPCG(21, 1)), "b64", 1<<20)))
	require.Equal(t, noise, s.String(noise))
	for _, text := range []string{"ghp_ is how it begins, and this is a longer text", "AKIA is how it begins"} {
		text = base64.StdEncoding.EncodeToString([]byte(text))
		require.Equal(t, text, s.String(text))
	}
}

// base64(1) breaks lines at 76 characters, and others elsewhere.
func TestAValueIsFoundOverTheEndsOfLines(t *testing.T) {
	value := draw(rand.New(rand.NewPCG(18, 19)), "url", 108)
	s := New("SERVICE_KEY=" + value)
	encoded := base64.StdEncoding.EncodeToString([]byte(value + "\n"))
	for name, c := range map[string]struct{ text, end string }{
		"base64": {encoded[:76] + "\n" + encoded[76:], "\n"}, "windows": {encoded[:76] + "\r\n" + encoded[76:], "\n"}, "JSON": {`{"out":"` + encoded[:76] + `\n` + encoded[76:] + `"}`, `"}`},
		"JSON in JSON": {encoded[:64] + `\\n` + encoded[64:128] + `\\n` + encoded[128:], ""}, "settings": {"  key: |\n    " + encoded[:76] + "\n    " + encoded[76:], "\n"},
		"a diff": {"+  " + encoded[:76] + "\n+  " + encoded[76:], ""}, "folded": {value[:40] + "\n" + value[40:80] + "\n" + value[80:], "\n"},
	} {
		clean := s.String(c.text + c.end)
		require.Contains(t, clean, "[redacted:environment:SERVICE_KEY]", name)
		for _, secret := range []string{encoded, value} {
			for i := 0; i+12 < len(secret); i++ {
				require.NotContains(t, clean, secret[i:i+12], name)
			}
		}
		require.Equal(t, strings.Count(c.text+c.end, "\n"), strings.Count(clean, "\n"), name)
	}
	other := value[:40] + "\n" + value[41:]
	require.Equal(t, other, s.String(other))
}

func TestValuesWithinCredentialsAreHidden(t *testing.T) {
	random := rand.New(rand.NewPCG(14, 15))
	access, refresh := draw(random, "alnum", 40), draw(random, "url", 50)
	credentials, err := json.Marshal(map[string]any{"openai": map[string]any{"type": "oauth-login-of-a-user", "access": access, "all": []string{refresh}, "expires": 17}})
	require.NoError(t, err)
	s := New("AUTH_CONTENT=" + string(credentials))
	require.Equal(t, "[redacted:environment:AUTH_CONTENT]", s.String(string(credentials)))
	require.Equal(t, "a [redacted:environment:AUTH_CONTENT] b [redacted:environment:AUTH_CONTENT] c", s.String("a "+access+" b "+refresh+" c"))
	require.Equal(t, "oauth-login-of-a-user", s.String("oauth-login-of-a-user"))
}

func TestKeyVariables(t *testing.T) {
	got := KeyVariables([]string{
		"PATH=/usr/bin:/bin", "OPENAI_API_KEY=dummykey", "MODEL_KEY=x", "GITHUB_TOKEN=abcdef012345", "CACHE_KEY=production-cache",
		"GOOGLE_APPLICATION_CREDENTIALS=/home/x/key1.json", "MODEL_FILE=/home/x/key2.json", "KEYBOARD=layout1234567", "SSH_AUTH_SOCK=/tmp/x1/agent.1", "DB_PASSWORD=aaaa-bbbb-1234", "broken",
	}, []string{"OPENAI_API_KEY", "MODEL_KEY", "MODEL_FILE"})
	require.Equal(t, []string{"OPENAI_API_KEY=dummykey", "GITHUB_TOKEN=abcdef012345", "DB_PASSWORD=aaaa-bbbb-1234"}, got)
}

func TestEscapesAndColoursBeforeASecret(t *testing.T) {
	s := New()
	token := "ghp_" + draw(rand.New(rand.NewPCG(8, 9)), "alnum", 36)
	for _, before := range []string{"", " ", "\n", `\n`, `\t`, `\"`, `\u001b[31m`, "\x1b[1;31m", `\u0022`, "=", ":", "'", "(", "/"} {
		require.Equal(t, before+"[redacted:github-token]", s.String(before+token), "%q", before)
	}
	require.Equal(t, "x"+token, s.String("x"+token), "the end of a longer word is none")
}

func TestTheSurestRuleNamesASecret(t *testing.T) {
	s := New()
	token := "ghp_" + draw(rand.New(rand.NewPCG(10, 11)), "alnum", 36)
	require.Equal(t, `token = "[redacted:github-token]"`, s.String(`token = "`+token+`"`))
}

func TestMask(t *testing.T) {
	require.Equal(t, "... (8 characters)", Mask([]byte("12345678"), true))
	require.Equal(t, "abcd... (20 characters)", Mask([]byte("abcdefghij0123456789"), true))
	require.Equal(t, "a... (20 characters)", Mask([]byte("a\n\x1b\xffefghij0123456789"), true))
	require.Equal(t, "... (20 characters)", Mask([]byte("abcdefghij0123456789"), false), "a password is not begun")
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

func TestAnErrorOfTheWriterBehindIsTold(t *testing.T) {
	w := New().Writer(brokenWriter{})
	_, err := io.Copy(w, strings.NewReader(strings.Repeat("x", 1<<20)))
	require.ErrorContains(t, err, "full")
	require.ErrorContains(t, w.Close(), "full")
}

func TestTheZeroScannerFindsNothing(t *testing.T) {
	var s *Scanner
	require.Empty(t, s.Find([]byte("x")))
	require.Equal(t, "text", stream(t, &Scanner{}, "text", func() int { return 1 }))
}

// The time grows as the text does: thrice the text must not take ten times as long.
func TestScanningIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("measures time")
	}
	s := New()
	for name, unit := range map[string]string{
		"keywords": "token secret key sk- eyj :// -----begin ", "begins": "-----BEGIN PRIVATE KEY-----\n", "material": "eyJ" + strings.Repeat("a", 60) + ".",
		"separators": "password=\"\"\"\"\"\"", "dashes": strings.Repeat("-", 64), "escapes": `\\\\\\\\`,
	} {
		short := elapsed(s, strings.Repeat(unit, (1<<20)/len(unit)))
		long := elapsed(s, strings.Repeat(unit, (3<<20)/len(unit)))
		require.Less(t, long, 10*short+time.Second, name)
	}
}

func elapsed(s *Scanner, text string) time.Duration {
	began := time.Now()
	s.Find([]byte(text))
	return time.Since(began)
}

func BenchmarkFind(b *testing.B) {
	s := New()
	line := `{"type":"item.completed","item":{"id":"item_3","type":"command_execution","command":"go test ./...","aggregated_output":"ok  \tconclave/internal/agent\t0.412s\nok  \tconclave/internal/prompt\t0.300s\n","exit_code":0,"status":"completed"},"usage":{"input_tokens":1200,"output_tokens":33}}` + "\n"
	text := []byte(strings.Repeat(line, (8<<20)/len(line)))
	for name, f := range map[string]func(){
		"find":  func() { s.Find(text) },
		"write": func() { w := s.Writer(io.Discard); _, _ = w.Write(text); _ = w.Close() },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				f()
			}
		})
	}
}
