package main

import (
	"net"

	uiserver "github.com/temporalio/ui-server/v2/server"
	"github.com/temporalio/ui-server/v2/server/api"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"
	uioptions "github.com/temporalio/ui-server/v2/server/server_options"
)

// startUI starts the Web UI. Its Start blocks, and ends the process when it cannot listen; reservePorts has ruled that out.
// Its own calls go through the door of a guarded server like any client's.
func startUI(opts options, p ports, g *guard) *uiserver.Server {
	var gates []api.Middleware
	if g != nil {
		gates = append(gates, g.gateUI)
	}
	ui := uiserver.NewServer(uioptions.WithAPIMiddleware(gates), uioptions.WithConfigProvider(&uiconfig.Config{
		TemporalGRPCAddress: reachable(opts.ip, p.frontend),
		Host:                bracketed(opts.uiIP),
		Port:                p.ui,
		EnableUI:            true,
		DefaultNamespace:    opts.namespace,
		CORS:                uiconfig.CORS{CookieInsecure: true}, // plain HTTP on this machine
		DisableNewsFetch:    true,                                // no phoning home
		HideLogs:            true,
	}))
	go func() { _ = ui.Start() }()
	return ui
}

// bracketed is ip as the host part of an address.
func bracketed(ip net.IP) string {
	if ip.To4() == nil {
		return "[" + ip.String() + "]"
	}
	return ip.String()
}
