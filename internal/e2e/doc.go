// Package e2e runs the built programs as a user would: a real repository, the
// real local server, real subprocesses. Only the model is scripted
// (tools/scriptagent). There is no code here outside the tests.
package e2e
