// Package verifier takes from a verifier's output what a writer needs to repair it: the failing checks first, then
// the bounded end of the output. It is pure and its cost is linear in the length of the output.
package verifier
