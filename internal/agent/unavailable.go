package agent

import (
	"errors"
	"fmt"
	"strings"
)

// unavailable is an engine that cannot be called as things are configured.
type unavailable struct{ text string }

func (u unavailable) Error() string { return u.text }

// Unavailable is an error of an engine that cannot be called as things are configured: trying again does not help.
func Unavailable(text string) error { return unavailable{text} }

// IsUnavailable recognises such errors, MissingBinary included.
func IsUnavailable(err error) bool {
	var u unavailable
	var m *MissingBinary
	return errors.As(err, &u) || errors.As(err, &m)
}

// MissingBinary is the error of ResolveBinary.
type MissingBinary struct {
	Adapter  string
	Binary   string // what was looked for
	Variable string // the variable that names another one
	Reason   string // not found, is a folder, may not be executed
}

// Error names the binary, the variable and the command that helps.
func (m *MissingBinary) Error() string {
	return fmt.Sprintf("%s: %s %s: install it, or set %s to its path; `starter doctor` checks it", m.Adapter, m.Binary, m.Reason, m.Variable)
}

// BinVariable is the environment variable that names an adapter's program, e.g. CONCLAVE_CLAUDE_BIN.
func BinVariable(adapter string) string {
	return "CONCLAVE_" + strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(adapter)) + "_BIN"
}
