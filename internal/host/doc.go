// Package host is the starter's side of a run on Temporal: it connects to the
// local server or to a cluster, runs the workers of one run, follows the run
// while it goes on, and brings a killed one back to work.
package host
