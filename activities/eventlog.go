package activities

import (
	"encoding/json"
	"fmt"
	"os"

	"conclave/internal/agent"
)

// eventLog keeps the normalised events of a turn, one JSON object a line.
type eventLog struct {
	path string
	file *os.File
}

func newEventLog(path string) *eventLog { return &eventLog{path: path} }

// add appends an event. The file is opened at the first one and stays open for
// the turn; the turn's folder is removed when it ends.
func (l *eventLog) add(event agent.Event) (err error) {
	if l.file == nil {
		if l.file, err = os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
			return fmt.Errorf("event log: %w", err)
		}
	}
	line, err := json.Marshal(event)
	if err != nil {
		return fmt.Errorf("event log: %w", err)
	}
	_, err = l.file.Write(append(line, '\n'))
	return err
}

func (l *eventLog) close() {
	if l.file != nil {
		_ = l.file.Close()
	}
}
