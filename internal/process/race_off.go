//go:build !race

package process

// OwnVariables are set for processes of this very program.
var OwnVariables []string
