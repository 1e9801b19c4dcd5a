package main

import (
	"fmt"
	"io"
	"net"
	"time"

	uiserver "github.com/temporalio/ui-server/v2/server"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/headers"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/metrics"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/temporal"
)

// running is a started server with its Web UI.
type running struct {
	server temporal.Server
	ui     *uiserver.Server // nil when headless
	door   *door            // nil when not guarded
}

// startServer starts the four services and the Web UI; it returns before they answer.
func startServer(opts options, held *heldPorts, db *store, logger quietable, complaints io.Writer) (*running, error) {
	p := held.ports
	g, err := newGuard(opts, complaints)
	if err != nil {
		return nil, err
	}
	// The server's own workers would identify this program by the MD5 of its file: 150 MB, half of the time to start.
	sdkworker.SetBinaryChecksum("devserver-" + headers.ServerVersion)
	serverOptions := []temporal.ServerOption{
		temporal.WithConfig(serverConfig(opts, p, db)),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(staticHosts(opts, p)), // no gossip, no membership ports
		temporal.WithLogger(logger.Logger),
		temporal.WithDynamicConfigClient(opts.dynamic),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return authorization.NewNoopClaimMapper() }),
		temporal.WithCustomMetricsHandler(metrics.NoopMetricsHandler), // nobody scrapes it: spare the port and the work
	}
	if g != nil {
		serverOptions = append(serverOptions, temporal.WithTLSConfigFactory(innerTLS{g.secret}))
	}
	server, err := temporal.NewServer(serverOptions...)
	if err != nil {
		return nil, fmt.Errorf("configure the Temporal server: %w", err)
	}
	r := &running{server: server}
	if p.ui != 0 {
		r.ui = startUI(opts, p, g)
	}
	if err := server.Start(); err != nil {
		return nil, fmt.Errorf("start the Temporal server: %w", err)
	}
	if g != nil {
		r.door = openDoor(held.door, hostPort(loopback, p.service), g)
	}
	return r, nil
}

// stopWithin stops gracefully, but returns after limit in any case: the process ends next.
func stopWithin(limit time.Duration, logger quietable, r *running) {
	logger.silence()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if r.ui != nil {
			r.ui.Stop()
		}
		if r.door != nil {
			r.door.close()
		}
		_ = r.server.Stop() // its errors are those of interrupted polls
	}()
	select {
	case <-done:
	case <-time.After(limit):
	}
}

func staticHosts(opts options, p ports) map[primitives.ServiceName]static.Hosts {
	one := func(address string) static.Hosts { return static.Hosts{All: []string{address}, Self: address} }
	return map[primitives.ServiceName]static.Hosts{
		primitives.FrontendService: one(reachable(opts.serviceIP(), p.service)),
		primitives.HistoryService:  one(hostPort(loopback, p.history)),
		primitives.MatchingService: one(hostPort(loopback, p.matching)),
		primitives.WorkerService:   one(hostPort(loopback, p.worker)),
	}
}

// serviceIP is the address that the frontend itself listens on.
func (o options) serviceIP() net.IP {
	if o.guarded {
		return loopback
	}
	return o.ip
}

// serverConfig describes a cluster of one process with one shard on one database.
func serverConfig(opts options, p ports, db *store) *config.Config {
	frontend := reachable(opts.serviceIP(), p.service)
	inner := func(port int) config.Service {
		return config.Service{RPC: config.RPC{GRPCPort: port, BindOnLocalHost: true}}
	}
	return &config.Config{
		Global: config.Global{Membership: config.Membership{MaxJoinDuration: 30 * time.Second, BroadcastAddress: loopback.String()}},
		Persistence: config.Persistence{
			DefaultStore:     sqliteplugin.PluginName,
			VisibilityStore:  sqliteplugin.PluginName,
			NumHistoryShards: 1,
			DataStores:       map[string]config.DataStore{sqliteplugin.PluginName: {SQL: db.sql}},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10,
			MasterClusterName:        clusterName,
			CurrentClusterName:       clusterName,
			ClusterInformation: map[string]cluster.ClusterInformation{
				clusterName: {Enabled: true, InitialFailoverVersion: 1, RPCAddress: frontend},
			},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		Services: map[string]config.Service{
			string(primitives.FrontendService): {RPC: config.RPC{GRPCPort: p.service, BindOnIP: opts.serviceIP().String()}},
			string(primitives.HistoryService):  inner(p.history),
			string(primitives.MatchingService): inner(p.matching),
			string(primitives.WorkerService):   inner(p.worker),
		},
		Archival: config.Archival{
			History:    config.HistoryArchival{State: "disabled"},
			Visibility: config.VisibilityArchival{State: "disabled"},
		},
		NamespaceDefaults: config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
			History:    config.HistoryArchivalNamespaceDefaults{State: "disabled"},
			Visibility: config.VisibilityArchivalNamespaceDefaults{State: "disabled"},
		}},
		PublicClient: config.PublicClient{HostPort: frontend}, // the worker service dials the frontend by it
	}
}
