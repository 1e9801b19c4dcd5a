// Package process runs one agent turn under a supervisor of our own.
//
// The supervisor is this very binary, executed again. It leads a session, adopts orphans (on Linux), starts the
// command, and does not end before the whole tree below it is dead and reaped: when the command ends, when the worker
// says so, or when the worker's end of the control pipe closes, which also happens when the worker is killed with
// SIGKILL. Killing a process group is not enough, because coding agents run their tools in sessions of their own.
//
// A program that imports this package is such a supervisor when it is started as one: see Main.
//
// Descriptors of the supervisor: 3 control (the specification, then orders, end of file means "kill now"), 4 reports,
// 5, 6, 7 the command's standard input, output and error. 3 and 4 are never inherited by the command.
package process
