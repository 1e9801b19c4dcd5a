package process

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"conclave/internal/sandbox"
)

// MarkVariable is added to the command's environment with a value of its own per turn. When a supervisor itself was
// killed, the processes that it leaves are found by it.
const MarkVariable = "CONCLAVE_TURN_MARK"

// The supervisor is recognised by all of these: its name, that it has no arguments, the variable, and two pipes.
const (
	supervisorName     = "conclave-supervisor"
	supervisorVariable = "CONCLAVE_SUPERVISOR"
	supervisorProtocol = "1"
)

// Descriptors of the supervisor.
const (
	fdControl = 3
	fdReport  = 4
	fdStdin   = 5
	fdStdout  = 6
	fdStderr  = 7
)

// Orders on the control pipe.
const (
	orderStop byte = 'S' // the stop signal, grace, then kill
	orderKill byte = 'K' // kill now; so does the end of the pipe
)

// maxOrders bounds the specification on the control pipe; the kernel's own limit for arguments is far below.
const maxOrders = 64 << 20

// job is the part of a Spec that the supervisor needs. What goes to the kernel is bytes, since JSON strings would
// change names that are not UTF-8.
type job struct {
	Name        string            `json:"name"`
	Path        []byte            `json:"path"`
	Args        [][]byte          `json:"args"`
	Env         [][]byte          `json:"env"`
	Dir         []byte            `json:"dir"`
	Mark        string            `json:"mark"`
	StopSignal  int               `json:"stopSignal"`
	GraceMillis int64             `json:"graceMillis"`
	RegistryDir string            `json:"registryDir"`
	Labels      map[string]string `json:"labels"`

	Sandbox *sandbox.Confinement `json:"sandbox,omitempty"`
}

// report is what the supervisor tells: first started or failed, then ended, at last done.
type report struct {
	Event  string `json:"event"`
	Pid    int    `json:"pid,omitempty"`
	Code   int    `json:"code"`
	Signal string `json:"signal,omitempty"`
	Errno  int    `json:"errno,omitempty"`
	Text   string `json:"text,omitempty"`
	Left   []int  `json:"left,omitempty"`  // processes that could not be killed
	Never  bool   `json:"never,omitempty"` // the sandbox ended before the command was started
}

// The events of a report.
const (
	eventStarted = "started"
	eventFailed  = "failed"
	eventEnded   = "ended"
	eventDone    = "done"
)

// sendJob writes a job with its length in front, since orders follow on the same pipe.
func sendJob(w io.Writer, j job) error {
	b, err := json.Marshal(j)
	if err != nil {
		return err
	}
	if _, err := w.Write(binary.BigEndian.AppendUint32(nil, uint32(len(b)))); err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

func receiveJob(r io.Reader) (job, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return job{}, fmt.Errorf("read the length of the specification: %w", err)
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > maxOrders {
		return job{}, errors.New("the specification is too long")
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(r, b); err != nil {
		return job{}, fmt.Errorf("read the specification: %w", err)
	}
	var j job
	if err := json.Unmarshal(b, &j); err != nil {
		return job{}, fmt.Errorf("read the specification: %w", err)
	}
	return j, nil
}
