// Package hunt looks for the wrong green: it plays thousands of runs of
// package loop, with reviewers that answer well, badly, in part, for somebody
// else or not at all, and holds each end against a book of its own that knows
// which answers were good because it made them. There is no code here outside
// the tests.
package hunt
