// Package runindex knows the runs of a state folder: `runs/<id>/run.json` says
// where a run's bundle is and which server holds its workflow, `runs/<id>/lock`
// is held by the one starter that carries the run.
package runindex
