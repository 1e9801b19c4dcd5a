// Package agent knows the coding agents' command lines: how each is called for a writing and a read-only turn, with
// which environment, and what its output means.
//
// An adapter is data plus a stream parser. Limits and failures are recognised in error channels only (error events,
// results that are marked as errors, standard error), never in the agent's prose, and an exit code alone proves nothing.
// The package starts nothing; process.Run does.
package agent
