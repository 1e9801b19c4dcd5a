//go:build race

package process

// OwnVariables are set for processes of this very program. Under the race detector each of them would sleep for a second
// at its end.
var OwnVariables = []string{"GORACE=atexit_sleep_ms=0"}
