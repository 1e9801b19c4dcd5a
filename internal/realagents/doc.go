// Package realagents drives the real agent programs against a scripted model server on the loopback device: whole turns
// through adapter, supervisor and parser, and whole runs through the starter. Its tests run only where CONCLAVE_TEST_AGENTS
// names the folder that holds the programs; `make test-agents` installs them and sets it.
package realagents
