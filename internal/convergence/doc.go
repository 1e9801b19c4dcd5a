// Package convergence is the pure decision core of a review loop: a definition
// is compiled into a Machine, recorded events are folded into a State by
// Reduce, and Decide names the commands that come next.
//
// The package does no I/O, reads no clock and starts no goroutine, so it may run
// inside Temporal workflow code and in `starter decide` alike: equal events give
// equal states and equal commands, everywhere and always.
//
// Two rule sets exist. V3 ("convergence/v3") reproduces the published form to
// the letter, its quirks included. V1 ("conclave/v1") is what live runs use; every
// difference between both is a named field of Rules.
package convergence
