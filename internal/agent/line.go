package agent

import (
	"bytes"
	"encoding/json"
	"strings"

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

// finalMost bounds what is kept of a final message that comes in parts, in bytes. No answer that long is read, and what the
// program prints is bounded by the disk only.
const finalMost = 16 << 20

// fitting is the beginning of a part that there is room for behind so many bytes.
func fitting(have int, part string) string { return part[:min(len(part), max(finalMost-have, 0))] }

// mostRemarks bounds lists of what a stream says beside its answer; the last ones are kept, of each the beginning.
const (
	mostRemarks = 20
	remarkMost  = 64 << 10
)

func remark(list []string, text string) []string {
	list = append(list, strings.Clone(text[:min(len(text), remarkMost)])) // not the whole line with it
	return list[max(0, len(list)-mostRemarks):]
}
