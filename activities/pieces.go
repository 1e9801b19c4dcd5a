package activities

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	"conclave/internal/secret"
)

// withoutPieces takes the pieces of secrets out of a file of JSON lines: those that lie in several parts of a message,
// of which no line has a whole one.
func withoutPieces(path string, parts *secret.Parts) error {
	if filepath.Ext(path) != ".jsonl" || parts == nil {
		return nil
	}
	pieces := parts.Pieces()
	if len(pieces) == 0 {
		return nil
	}
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(path+".whole", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(out.Name()) }()
	to := bufio.NewWriter(out)
	err = eachLine(bufio.NewReader(in), func(line []byte) error {
		_, err := to.Write(rewritten(line, pieces))
		return err
	})
	if err = errors.Join(err, to.Flush(), out.Close()); err != nil {
		return err
	}
	return os.Rename(out.Name(), path)
}

// eachLine hands on lines with their line feed.
func eachLine(in *bufio.Reader, do func(line []byte) error) error {
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			if err := do(line); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// longestPart is the longest line that may be a part of a message, in bytes: such lines are short, and others are not
// parsed again.
const longestPart = 1 << 20

// rewritten is a line in which texts that are pieces have been replaced; what is no JSON stays.
func rewritten(line []byte, pieces map[string]string) []byte {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	if len(line) > longestPart || decoder.Decode(&value) != nil {
		return line
	}
	value, changed := replaced(value, pieces)
	if !changed {
		return line
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(value) != nil {
		return line // what was JSON is
	}
	return out.Bytes()
}

func replaced(value any, pieces map[string]string) (_ any, changed bool) {
	switch value := value.(type) {
	case string:
		if piece, ok := pieces[value]; ok {
			return piece, true
		}
	case []any:
		for i := range value {
			inner, there := replaced(value[i], pieces)
			value[i], changed = inner, changed || there
		}
	case map[string]any:
		for key := range value {
			inner, there := replaced(value[key], pieces)
			value[key], changed = inner, changed || there
		}
	}
	return value, changed
}
