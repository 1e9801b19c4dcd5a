// Package localserver finds or starts the local Temporal server that belongs to a state folder.
//
// The server belongs to the folder and not to the process that started it: it runs in a session of its own, serves every starter that uses the
// folder, and ends a while after the last of them has gone. Everything is told by locks, which vanish with their process however it ends, and never
// by process ids, which are taken over by strangers:
//
//	start.lock             held while a server is looked for and started, so that two starters end up with one server
//	server-<version>.db    the database; server-<version>.db.lock is held by the server that runs on it
//	server.json            written by the server when it can be used, removed when it ends; stale when the database's lock is free
//	clients/*.lock         one per client, held while the client wants the server to stay
//	server.log             output of the server
//	bin/                   servers that were built here from source
//
// A client takes its lock before it reads server.json, and a server that ends for want of clients removes server.json before it looks for clients a
// last time; so a client either finds no server or is seen by it.
package localserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// ServerVersion is the version of the Temporal server that tools/devserver contains.
const ServerVersion = "1.32.1"

const (
	defaultNamespace = "default"
	defaultIdleExit  = 30 * time.Second
	startTimeout     = 60 * time.Second // from launching a server until it can be used, or until one that ends has ended
	stopTimeout      = 20 * time.Second // from telling a server to end until it has; a busy machine takes its time
	lastTimeout      = 5 * time.Second  // how long the last client waits for one that starts the server just then
	pollInterval     = 5 * time.Millisecond
)

// ErrNotRunning says that no server runs for the state folder.
var ErrNotRunning = errors.New("no local Temporal server is running")

// Options say which server is wanted.
type Options struct {
	StateDir         string            // the folder that the server belongs to; made when missing
	Binary           string            // server binary: a devserver, or a `temporal`; empty searches for one
	UI               bool              // the Web UI is wanted; our own server always has it, a plain `temporal` only if started with this
	UIPort           int               // port of the Web UI; 0 picks a free one
	KeepUp           bool              // a server started by this call stays when its last client has gone
	SearchAttributes map[string]string // name -> type (Keyword, Int, ...) that workflows need
	Progress         func(string)      // told one line for people at each step that takes time; may be nil
	IdleExit         time.Duration     // how long a server started by this call stays without clients; 0 means 30 s
}

// Server is a running server and this process's claim on it.
type Server struct {
	Address   string // host:port of the frontend
	UIAddress string // host:port of the Web UI, empty without one
	Namespace string
	PID       int
	Version   string // version of the Temporal server

	files  files
	db     string    // its database file, whose lock says that it lives
	kind   kind      // what it is: a plain `temporal` must be ended by its clients
	client *fileLock // nil when only looked at
}

// Ensure finds the server of the state folder or starts one, and registers this process as its client until Close. Progress is told what happens.
// Building the server from source, when there is no other way, takes minutes. The errors name the remedy.
func Ensure(ctx context.Context, o Options) (*Server, error) {
	o = o.withDefaults()
	if err := supported(); err != nil {
		return nil, err
	}
	f, err := prepareFolder(o.StateDir)
	if err != nil {
		return nil, err
	}
	client, err := registerClient(ctx, f.clients())
	if err != nil {
		return nil, err
	}
	s, err := ensure(ctx, o, f)
	if err != nil {
		client.release()
		return nil, err
	}
	s.client = client
	return s, nil
}

// ensure is Ensure for a registered client.
func ensure(ctx context.Context, o Options, f files) (*Server, error) {
	if s, err := find(ctx, f); err == nil {
		return s, s.addSearchAttributes(ctx, o.SearchAttributes)
	}
	start, err := waitForLock(ctx, f.startLock())
	if err != nil {
		return nil, fmt.Errorf("wait for another starter that starts the local server: %w", err)
	}
	defer start.close()
	s, err := settle(ctx, f)
	if errors.Is(err, ErrNotRunning) {
		return launch(ctx, o, f)
	}
	if err != nil {
		return nil, err
	}
	return s, s.addSearchAttributes(ctx, o.SearchAttributes)
}

// Find looks for the running server of the state folder without starting one and without becoming its client. The error is ErrNotRunning when there
// is none; another error means that one lives but cannot be used.
func Find(ctx context.Context, stateDir string) (*Server, error) {
	if err := supported(); err != nil {
		return nil, err
	}
	return find(ctx, files{stateDir})
}

// Close ends this process's claim. The server stays for its other clients and ends a while after the last one. It is safe to call twice.
//
// A plain `temporal` knows nothing of clients: there, the last client to close ends it at once. When that client is killed instead, the server stays
// until the next one that uses the folder closes.
func (s *Server) Close() error {
	if s == nil || s.client == nil {
		return nil
	}
	s.client.release()
	s.client = nil
	if s.kind != kindTemporal {
		return nil
	}
	return s.endUnused()
}

// Stop ends the server, whoever else uses it, and returns when it has ended.
func (s *Server) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	alive, err := locked(lockOf(s.db))
	if err != nil || !alive {
		return err
	}
	if err := terminate(s.PID); err != nil {
		return fmt.Errorf("end local Temporal server (process %d): %w", s.PID, err)
	}
	if err := waitUntilFree(ctx, lockOf(s.db)); err != nil {
		return fmt.Errorf("local Temporal server (process %d) did not end: %w", s.PID, err)
	}
	s.files.removeReady(s.PID) // a plain `temporal` leaves it
	return nil
}

// endUnused stops a plain `temporal` that has no client any more. It follows the order of a devserver: withdraw server.json, then look for clients.
func (s *Server) endUnused() error {
	ctx, cancel := context.WithTimeout(context.Background(), lastTimeout)
	defer cancel()
	start, err := waitForLock(ctx, s.files.startLock())
	if err != nil {
		return nil // somebody is starting, so there is a client
	}
	defer start.close()
	info, err := s.files.readReady()
	if err != nil || info.PID != s.PID {
		return nil // another client has ended it
	}
	s.files.removeReady(s.PID)
	if anyClient(s.files.clients()) {
		return s.files.writeReady(info)
	}
	return s.Stop(context.Background())
}

func (o Options) withDefaults() Options {
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	if o.IdleExit == 0 {
		o.IdleExit = defaultIdleExit
	}
	return o
}

// prepareFolder makes the state folder. Only its owner may read what runs leave there.
func prepareFolder(dir string) (files, error) {
	f, err := newFiles(dir)
	if err != nil {
		return f, err
	}
	if err := os.MkdirAll(f.clients(), 0o700); err != nil {
		return f, fmt.Errorf("state folder %s: %w (set CONCLAVE_STATE_DIR to a folder you can write)", dir, err)
	}
	return f, nil
}
