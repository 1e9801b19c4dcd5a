// Package gitrepo is the git plumbing of a run, over the real git binary (2.34 or newer).
//
// It knows two kinds of repository:
//
//   - Source is the user's directory. It is read, never written, except by Land, which adds objects and one branch.
//   - RunRepo is the run's own bare repository in the state folder. Every call on a workspace uses it as GIT_DIR, with a
//     private index that lies inside it, so nothing that an agent writes into its workspace (a .git with filters, hooks,
//     fsmonitor or core.worktree, a .gitattributes with drivers) is ever read as configuration of ours.
//
// Paths are bytes: a Go string that need not be UTF-8. Only what is shown to people has to be cleaned by the caller.
package gitrepo
