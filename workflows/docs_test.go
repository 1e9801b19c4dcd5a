package workflows

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"

	"conclave/internal/loop"
	"conclave/internal/record"
)

// documented is a command of the Temporal CLI in the documentation.
type documented struct {
	verb  string
	flags map[string]string
}

var quotedWord = regexp.MustCompile(`'[^']*'|\S+`)

// documentedCommands are the `temporal` commands of a page's code blocks, with their continued lines.
func documentedCommands(t *testing.T, file string) []documented {
	t.Helper()
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	var found []documented
	text := strings.ReplaceAll(string(page), "\\\n", " ")
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "temporal ") {
			continue
		}
		c := documented{flags: map[string]string{}}
		words := quotedWord.FindAllString(line, -1)[1:]
		for len(words) > 0 && !strings.HasPrefix(words[0], "--") {
			c.verb, words = strings.TrimSpace(c.verb+" "+words[0]), words[1:]
		}
		require.Zero(t, len(words)%2, "flags with one value each: %s", line)
		for i := 0; i < len(words); i += 2 {
			c.flags[words[i]] = strings.Trim(words[i+1], "'")
		}
		found = append(found, c)
	}
	return found
}

// plainJSON is an argument as the Temporal CLI sends what --input holds: the bytes as they are, called json/plain.
func plainJSON(text string) converter.RawValue {
	return converter.NewRawValue(&commonpb.Payload{Metadata: map[string][]byte{converter.MetadataEncoding: []byte(converter.MetadataEncodingJSON)}, Data: []byte(text)})
}

// Whoever rules by the Temporal CLI copies these lines. There is none in CI, so its words are held to what it sends.
func TestTheDocumentedRulingsAreTakenIn(t *testing.T) {
	commands := documentedCommands(t, "../docs/review.md")
	require.Len(t, commands, 2)
	names := map[string]string{"workflow signal": SignalRuling, "workflow update execute": UpdateRule}
	for _, c := range commands {
		require.Equal(t, names[c.verb], c.flags["--name"], c.verb)
		require.Equal(t, WorkflowID("RUN"), c.flags["--workflow-id"])
		require.Len(t, c.flags, 4, "address, workflow, name and input")
		_, err := loop.ReadRuling([]byte(c.flags["--input"]))
		require.NoError(t, err)

		env := stubbornEnvironment(t, 1)
		var update answered
		env.RegisterDelayedCallback(func() {
			require.Equal(t, "F1", statusOf(t, env).Questions[0].Subject)
			if c.verb == "workflow signal" {
				env.SignalWorkflow(c.flags["--name"], plainJSON(c.flags["--input"]))
				return
			}
			env.UpdateWorkflow(c.flags["--name"], "one", update.callback(), plainJSON(c.flags["--input"]))
		}, time.Hour)
		var run record.Run
		env.RegisterDelayedCallback(func() {
			run = statusOf(t, env)
			env.CancelWorkflow()
		}, 2*time.Hour)
		env.ExecuteWorkflow(ReviewLoop, fullInput())
		if c.verb == "workflow signal" {
			require.Equal(t, record.Ruled, stop(t, env))
			continue
		}
		require.NoError(t, update.rejected)
		require.Equal(t, loop.RulingApplied, update.answer.Status, update.answer.Why)
		require.Equal(t, "ticket-17", run.Rulings[0].RequestID)
	}
}

// The words around them are ours too.
func TestTheDocumentedNamesExist(t *testing.T) {
	page, err := os.ReadFile("../docs/review.md")
	require.NoError(t, err)
	for _, name := range []string{SignalRuling, UpdateRule, QueryStatus, QueryFindings, WorkflowID("RUN")} {
		require.Contains(t, string(page), "`"+name+"`")
	}
}
