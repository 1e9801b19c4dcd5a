// Package sandbox contains one turn: what an agent or a command of the user's may read and write on this machine.
//
// A Turn says what is needed; its Policy is a list of rules over paths, of which the deepest decides. The policy is the
// same for both mechanisms: bubblewrap (namespaces; everything that no rule names does not exist) and Landlock (where
// user namespaces are refused; everything that no rule names cannot be opened). Package process applies it.
//
// A program that imports this package confines itself when it is started as the step between supervisor and command:
// see confine.
package sandbox
