package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/temporalproto"
)

// historyBytes bounds a recorded history: the corpus is read in reviews and cloned by everybody.
const historyBytes = 100 << 10

// writeHistory stores a history as JSON without traces of this machine. Equal
// histories give equal files.
func writeHistory(t *testing.T, path string, history *historypb.History, scrub func(string) string) {
	t.Helper()
	raw, err := temporalproto.CustomJSONMarshalOptions{}.Marshal(history)
	require.NoError(t, err)
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	require.NoError(t, decoder.Decode(&value))
	text, err := json.MarshalIndent(eachText(value, scrub), "", " ")
	require.NoError(t, err)
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	require.NoError(t, err)
	_, err = w.Write(append(text, '\n'))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.Less(t, packed.Len(), historyBytes)
	require.NoError(t, os.WriteFile(path, packed.Bytes(), 0o644))
}

// eachText applies a change to every text of a JSON document, and to what
// payloads hold in base64.
func eachText(value any, change func(string) string) any {
	switch v := value.(type) {
	case map[string]any:
		for key, child := range v {
			if text, ok := child.(string); ok && key == "data" {
				v[key] = insideBase64(text, change)
			} else {
				v[key] = eachText(child, change)
			}
		}
	case []any:
		for i := range v {
			v[i] = eachText(v[i], change)
		}
	case string:
		return change(v)
	}
	return value
}

func insideBase64(text string, change func(string) string) string {
	plain, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return change(text)
	}
	return base64.StdEncoding.EncodeToString([]byte(change(string(plain))))
}

var processIdentity = regexp.MustCompile(`\b\d+@[\w.-]+@`)

// scrubber replaces what names this machine: the lab's folder, the programs' folder, the host, process ids.
func (l *lab) scrubber() func(string) string {
	l.t.Helper()
	host, err := os.Hostname()
	require.NoError(l.t, err)
	names := strings.NewReplacer(l.dir, "/lab", bin, "/programs", host+":", "host:")
	return func(text string) string {
		return processIdentity.ReplaceAllString(names.Replace(text), "1@host@")
	}
}

// strangers are what no recorded history may contain.
var strangers = regexp.MustCompile(`/tmp/|/home/|/root/|/work/|/var/|/Users/|\b\d\d+@`)

// checkNeutral looks into a recorded history for traces of the machine that recorded it.
func checkNeutral(t *testing.T, path string) {
	t.Helper()
	packed, err := os.Open(path)
	require.NoError(t, err)
	defer packed.Close()
	reader, err := gzip.NewReader(packed)
	require.NoError(t, err)
	raw, err := io.ReadAll(reader)
	require.NoError(t, err)
	var value any
	require.NoError(t, json.Unmarshal(raw, &value))
	texts := 0
	eachText(value, func(text string) string {
		texts++
		require.NotRegexp(t, strangers, text, path)
		return text
	})
	require.Greater(t, texts, 50, path)
}
