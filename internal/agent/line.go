package agent

import (
	"bytes"
	"encoding/json"

	"conclave/internal/process"
)

// object reads a line that is one JSON object. Terminal sequences around it, which some versions print although nobody
// asked for colours, are removed for reading only; what is on disk stays as it is.
func object(line []byte, into any) bool {
	line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
	if len(line) > 0 && (line[0] == 0x1b || line[len(line)-1] != '}') && bytes.IndexByte(line, 0x1b) >= 0 {
		line = bytes.TrimSpace([]byte(process.Clean(string(line))))
	}
	return len(line) > 0 && line[0] == '{' && json.Unmarshal(line, into) == nil
}
