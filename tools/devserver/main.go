package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Exit codes of the command; doc.go explains them.
const (
	exitOK      = 0
	exitFailed  = 1
	exitUsage   = 2
	exitLocked  = 3
	exitVersion = 4
)

// shutdownLimit bounds a graceful stop. The database is a write-ahead log that survives a kill at any moment, so waiting longer buys nothing.
const shutdownLimit = 2500 * time.Millisecond

// codedError is an error that knows the exit code of the process.
type codedError struct {
	code int
	err  error
}

func (e *codedError) Error() string { return e.err.Error() }
func (e *codedError) Unwrap() error { return e.err }

// coded builds an error that ends the process with code.
func coded(code int, format string, args ...any) error {
	return &codedError{code: code, err: fmt.Errorf(format, args...)}
}

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole command: it blocks until the server has ended and returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	opts, err := parseFlags(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		fmt.Fprintf(stderr, "devserver: %v\n", err)
		return exitUsage
	case opts.version:
		fmt.Fprintln(stdout, versionLine())
		return exitOK
	}
	// SIGHUP is a reason to end like any other: whoever wants the server to outlive its terminal starts it in a session of its own.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal kills at once
	if err := serve(ctx, opts, stdout, stderr); err != nil {
		fmt.Fprintf(stderr, "devserver: %v\n", err)
		var c *codedError
		if errors.As(err, &c) {
			return c.code
		}
		return exitFailed
	}
	return exitOK
}

// serve brings everything up, reports readiness, waits for the end and takes everything down.
func serve(ctx context.Context, opts options, stdout, stderr io.Writer) error {
	started := time.Now()
	restrictFileMode()
	logger := newLogger(opts.logLevel, opts.logFormat, stderr)
	db, err := openStore(opts.dbFilename, opts.pragmas)
	if err != nil {
		return err
	}
	defer db.close()

	held, err := reservePorts(opts)
	if err != nil {
		return err
	}
	defer held.drop()
	if err := db.prepareNamespace(ctx, opts.namespace, opts.searchAttributes, opts.retention); err != nil {
		return err
	}
	held.release() // as late as possible: from here to the server's own listen call whoever wants one of these very ports can take it
	srv, err := startServer(opts, held, db, logger, stderr)
	if err != nil {
		return err
	}
	defer stopWithin(shutdownLimit, logger, srv)

	ready, err := awaitReady(ctx, opts, held.ports)
	if err != nil {
		if ctx.Err() != nil {
			return nil // asked to end while starting
		}
		return err
	}
	ready.DB, ready.StartTime = db.path, started.UTC()
	if err := announce(ready, opts.readyFile, stdout); err != nil {
		return err
	}
	defer withdraw(opts.readyFile)
	return waitForEnd(ctx, opts, ready)
}

// waitForEnd returns when the process was told to end, or when it has had no client for opts.idleExit.
func waitForEnd(ctx context.Context, opts options, ready readyInfo) error {
	if opts.clientsDir == "" || opts.idleExit == 0 {
		<-ctx.Done()
		return nil
	}
	w := clientWatch{dir: opts.clientsDir, grace: opts.idleExit}
	for w.awaitIdle(ctx) {
		// A client takes its lock before it reads the ready file. Withdrawing the file before the last look therefore leaves no gap: a client
		// that saw the file is seen here, and one that is not seen here finds no file and starts its own server.
		withdraw(opts.readyFile)
		if !w.anyClient() {
			return nil
		}
		if err := writeReadyFile(ready, opts.readyFile); err != nil {
			return err
		}
	}
	return nil
}
