// Command devserver is a real Temporal server for one machine: frontend, history, matching and worker in one process on a SQLite file, with the
// Temporal Web UI beside it.
//
// It is a module of its own because the server's dependency graph (about 200 modules, with its own pin of the Temporal API) must not weigh on
// Conclave's worker nor hold back its SDK. It is started by internal/localserver, and understands the command line that the Temporal SDK's
// testsuite.StartDevServer passes, so that it can stand in for the `temporal` CLI there:
//
//	devserver server start-dev --port 0 --db-filename state/server-{version}.db --ready-file state/server.json --clients-dir state/clients
//
// Exit codes: 0 ended as asked (signal, or no client left); 1 the server failed; 2 bad flags or a port that is taken; 3 the database file is in
// use by another server; 4 the database file was written by another server version.
package main
