package runindex

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Gate is the newest review of one change under one plan.
type Gate struct {
	RunID string `json:"run_id"`
	// Verdict is what its workflow completed with, nil before somebody saw that; Ended is when. It is kept here and not
	// read from the bundle, which lies in a work tree that agents may write.
	Verdict json.RawMessage `json:"verdict,omitempty"`
	Ended   time.Time       `json:"ended,omitzero"`
}

func (x Index) gateFile(digest string) string {
	return filepath.Join(x.state, "gates", digest+".json")
}

// WriteGate records the newest review of a digest.
func (x Index) WriteGate(digest string, g Gate) error {
	path := x.gateFile(digest)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("state folder: %w", err)
	}
	content, err := json.Marshal(g)
	if err != nil {
		return err
	}
	return replace(path, append(content, '\n'))
}

// ReadGate gives the newest review of a digest; false where none is known.
func (x Index) ReadGate(digest string) (Gate, bool, error) {
	path := x.gateFile(digest)
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Gate{}, false, nil
	}
	if err != nil {
		return Gate{}, false, fmt.Errorf("state folder: %w", err)
	}
	var g Gate
	if err := json.Unmarshal(content, &g); err != nil {
		return Gate{}, false, fmt.Errorf("%s: %w", path, err)
	}
	return g, g.RunID != "", nil
}

// ForgetGate takes back what WriteGate recorded.
func (x Index) ForgetGate(digest string) error {
	err := os.Remove(x.gateFile(digest))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
