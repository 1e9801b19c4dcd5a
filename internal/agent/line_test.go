package agent

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLinesThatAreObjects(t *testing.T) {
	for line, want := range map[string]string{
		`{"a":"x"}`: "x", "  {\"a\":\"x\"}\r": "x", "\ufeff{\"a\":\"x\"}": "x", "\x1b[0m{\"a\":\"x\"}\x1b[39m": "x", "{\"a\":\"x\"}\x1b[0m": "x",
		"{\"a\":\"u\u2028v\"}": "u\u2028v", "{\"a\":\"\xff\"}": "\ufffd",
		"": "-", "\x1b[0m": "-", "text": "-", `[{"a":"x"}]`: "-", `{"a":"x"`: "-", `{"a":"x"} tail`: "-", `"{}"`: "-", "null": "-",
	} {
		var into struct {
			A string `json:"a"`
		}
		if want == "-" {
			require.False(t, object([]byte(line), &into), "%q", line)
			continue
		}
		require.True(t, object([]byte(line), &into), "%q", line)
		require.Equal(t, want, into.A)
	}
}
