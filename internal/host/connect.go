package host

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"conclave/internal/localserver"
	"conclave/workflows"
)

// dialTimeout is how long a server on a cluster may take to answer.
const dialTimeout = 15 * time.Second

// Options say how to connect.
type Options struct {
	Target   Target
	StateDir string
	Logger   log.Logger
	// Progress is told what takes time while the local server starts; may be nil.
	Progress func(string)
}

// Connection is a client, and a claim on the local server if that is used.
type Connection struct {
	client.Client
	Target Target
	// Server is nil on a cluster.
	Server *localserver.Server
}

// UnreachableError says that the named server does not answer.
type UnreachableError struct {
	Target Target
	Err    error
}

// Error implements error.
func (e *UnreachableError) Error() string {
	return fmt.Sprintf("no Temporal server answers at %s (from %s): %v", e.Target.Address, e.Target.Named, e.Err)
}

// Unwrap gives the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

// Remedy says what to do.
func (e *UnreachableError) Remedy() string {
	return "check the address (--address, CONCLAVE_ADDRESS, address in the configuration, or the Temporal environment); without one the local server is used"
}

// Connect finds or starts the local server, or dials the cluster.
func Connect(ctx context.Context, o Options) (*Connection, error) {
	if o.Target.Local() {
		return connectLocal(ctx, o)
	}
	options := o.Target.options
	options.HostPort, options.Namespace, options.Logger = o.Target.Address, o.Target.Namespace, o.Logger
	dialed, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	c, err := client.DialContext(dialed, options)
	if err != nil {
		return nil, &UnreachableError{o.Target, err}
	}
	return &Connection{Client: c, Target: o.Target}, nil
}

func connectLocal(ctx context.Context, o Options) (*Connection, error) {
	server, err := localserver.Ensure(ctx, localserver.Options{
		StateDir: o.StateDir, SearchAttributes: workflows.SearchAttributes(), Progress: o.Progress,
	})
	if err != nil {
		return nil, err
	}
	c, err := client.DialContext(ctx, client.Options{HostPort: server.Address, Namespace: server.Namespace, Logger: o.Logger})
	if err != nil {
		_ = server.Close()
		return nil, fmt.Errorf("the local Temporal server at %s: %w", server.Address, err)
	}
	target := o.Target
	target.Namespace = server.Namespace
	return &Connection{Client: c, Target: target, Server: server}, nil
}

// Close ends the client and the claim on the local server.
func (c *Connection) Close() {
	if c != nil {
		c.Client.Close()
		_ = c.Server.Close()
	}
}
