package activities

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"conclave/internal/loop"
	"conclave/internal/record"
	"conclave/internal/secret"
)

// brings is what the scan of a writer's script finds, as "path:rule".
func (l *lab) brings(step, script string) ([]string, *loop.TurnResult) {
	l.t.Helper()
	out := l.wrote(step, script+"\necho done")
	var found []string
	for _, s := range out.Scan.Secrets {
		found = append(found, s.Path+":"+s.Rule)
	}
	return found, out
}

// A name is shown wherever a path is: in the list of changed files, in the diff, in a violation's message.
func TestASecretInANameIsFoundAndNeverShown(t *testing.T) {
	l, s := spiedLab(t)
	found, out := l.brings("01", "mkdir -p keys/"+s.token+"; echo x > keys/"+s.token+"/a.txt; : > "+s.given+".empty")
	require.ElementsMatch(t, []string{"keys/[redacted:github-token]/a.txt:github-token", "[redacted:environment:HAND_TOKEN].empty:environment:HAND_TOKEN"}, found)
	l.nothingAt(s, out)
	require.Contains(t, l.get(out.Total), "keys/[redacted:github-token]/a.txt")
	l.plays("echo x > " + s.token + "; ln -s x " + s.given + "; echo 'VERDICT: PASS'")
	violated := do[loop.TurnResult](l, l.acts.RunTurn, l.review("02", out.Snapshot))
	require.Equal(t, record.ClassViolation, violated.Class)
	require.Contains(t, violated.Message, "[redacted:github-token]")
	l.nothingAt(s, violated)
	checked := do[loop.VerifyResult](l, l.acts.Verify, l.verify("03", out.Snapshot, "echo x > "+s.token+".log"))
	require.Equal(t, []string{"[redacted:github-token].log"}, checked.Restored)
	l.nothingAt(s, checked)
	l.nothingIn(s)
}

// What the base has already is not the writer's, wherever it goes and however it is laid out.
func TestASecretOfTheBaseIsNotTheWriters(t *testing.T) {
	l, s := spiedLab(t)
	pem := "-----" + "BEGIN PRIVATE KEY-----\n" + drawn(64) + "\n" + drawn(64) + "\n" + drawn(30) + "\n-----" + "END PRIVATE KEY-----\n"
	l.write("prod.env", "A="+s.token+"\nB='"+s.key+"'\n")
	l.write("deploy.yaml", "key: |\n"+strings.ReplaceAll(pem, "\n", "\n  "))
	l.git("add", ".")
	l.git("commit", "-qm", "as it was")
	l.prepare(false)
	for i, script := range []string{
		"cp prod.env stage.env; cp deploy.yaml other.yaml", "mkdir x; mv prod.env deploy.yaml x", "sed -i 's/^A=/API = /' prod.env", "sed -i 's/^  /        /' deploy.yaml",
		"sed -i 's/$/\\r/' prod.env deploy.yaml", "mv prod.env " + s.token + ".env", "(cat prod.env deploy.yaml; echo '\\000') > all.bin",
	} {
		found, _ := l.brings(string(rune('a'+i)), script)
		require.Empty(t, found, script)
	}
	other := "ghp_" + drawn(36)
	found, _ := l.brings("z", "cp prod.env stage.env; echo C="+other+" >> stage.env; sed -i 's/^A=.*/A="+other+"/' prod.env")
	require.Equal(t, []string{"prod.env:github-token", "stage.env:github-token"}, found)
}

// Git shows nothing of a file with one odd byte, and a line is shown as far as it is read.
func TestASecretThatNoPatchShowsIsFound(t *testing.T) {
	l, s := spiedLab(t)
	wide := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune("token = " + s.token + "\r\n")) {
		wide = binary.LittleEndian.AppendUint16(wide, unit)
	}
	require.NoError(t, os.WriteFile(filepath.Join(l.dir, "wide"), wide, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(l.dir, "odd"), []byte("x\x00\n\nGH="+s.token+"\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(l.dir, "long"), []byte("x\n"+strings.Repeat("var a=1;", 20_000)+"var t='"+s.token+"';"+s.given+"\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(l.dir, "noise"), append(append([]byte(drawn(100)), make([]byte, 1000)...), s.token...), 0o600))
	for name, c := range map[string]struct {
		script string
		want   []string
	}{
		"odd":        {"cp $LAB/odd a.env", []string{"a.env:github-token"}},
		"wide":       {"cp $LAB/wide a.reg", []string{"a.reg:github-token"}},
		"noise":      {"cp $LAB/noise a.db", []string{"a.db:github-token"}},
		"long":       {"cp $LAB/long a.min.js", []string{"a.min.js:github-token", "a.min.js:environment:HAND_TOKEN"}},
		"attributes": {"echo '* -diff' > .gitattributes; cp $LAB/spill a.env", []string{"a.env:github-token", "a.env:environment:OPENAI_API_KEY", "a.env:environment:HAND_TOKEN"}},
		"binary":     {"echo '* binary' > .gitattributes; echo GH=" + s.token + " > a.env", []string{"a.env:github-token"}},
		"a link":     {"ln -s https://x:" + s.token + "@code.test.invalid/ a", []string{"a:github-token"}},
	} {
		found, out := l.brings(strings.ReplaceAll(name, " ", "-"), c.script)
		require.ElementsMatch(t, c.want, found, name)
		l.nothingAt(s, out)
	}
	l.nothingIn(s)
	_, out := l.brings("lines", "cp $LAB/odd a.env")
	require.Equal(t, 3, out.Scan.Secrets[0].Line)
}

// What is shown of a message is cut behind its secrets, wherever the message is made.
func TestNotesAreCutBehindTheirSecrets(t *testing.T) {
	l, s := spiedLab(t)
	note := `step 01: repositories of their own, whose files were taken and whose history was not: ["`
	deep := strings.Repeat(strings.Repeat("n", 99)+"/", 9)
	deep += strings.Repeat("n", messageLimit-len(note)-len(deep)-30) + "/" // the cut falls into the secret
	_, out := l.brings("01", "git init -q "+deep+s.token)
	require.Len(t, out.Notes, 1)
	require.Contains(t, out.Notes[0], "[redacted:")
	require.NotContains(t, out.Notes[0], s.token[4:10])
}

// Of a program's error output the end is read: it may begin within a secret.
func TestNoSecretIsInTheEndOfAnErrorOutput(t *testing.T) {
	l, s := spiedLab(t)
	change := l.wrote("01", draft).Snapshot
	for i, behind := range []int{10, 600 - 25, 600 - 12, 16<<10 - 25} {
		script := fmt.Sprintf("printf 'error: unauthorized %s' >&2; head -c %d /dev/zero | tr '\\000' . >&2; exit 1", s.token, behind)
		out := do[loop.TurnResult](l, l.acts.RunTurn, l.codexReview(fmt.Sprintf("02-%d", i), script, 5*time.Minute, change))
		require.NotEqual(t, record.ClassOK, out.Class)
		require.NotEmpty(t, out.Message)
		l.nothingAt(s, out)
	}
	l.nothingIn(s)
}

// What a person asks for is theirs, and the agent's prompt has it without secrets: the agent's service is none of theirs.
func TestAPromptShowsNoSecretOfTheRequirement(t *testing.T) {
	l, s := spiedLab(t)
	l.plays("echo done")
	req := l.turn("01")
	req.Requirement = l.put("Call it with " + s.token + " and " + s.key)
	out := do[loop.TurnResult](l, l.acts.RunTurn, req)
	require.Contains(t, l.read("prompt"), "Call it with [redacted:github-token] and [redacted:environment:OPENAI_API_KEY]")
	require.Contains(t, l.get(out.Artifacts["prompt.md"]), "[redacted:github-token]")
	require.Empty(t, s.leaks([]byte(l.read("prompt"))))
}

func TestAMaskedSecretTellsNothing(t *testing.T) {
	require.NotContains(t, secret.Mask([]byte("ghp_"+strings.Repeat("q", 36)), true), "qq")
}
