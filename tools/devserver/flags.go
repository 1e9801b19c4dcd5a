package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"runtime/debug"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/headers"
)

const (
	defaultPort      = 7233
	uiPortOffset     = 1000
	defaultRetention = 720 * time.Hour
	defaultIdleExit  = 30 * time.Second
	minRetention     = time.Hour // what the server accepts for a local namespace
)

// options is the parsed command line.
type options struct {
	version          bool
	ip, uiIP         net.IP
	port, uiPort     int // 0: any free port
	headless         bool
	namespace        string
	retention        time.Duration
	searchAttributes map[string]enumspb.IndexedValueType
	dynamic          dynamicconfig.StaticClient
	dbFilename       string // "": in memory
	pragmas          map[string]string
	logLevel         string
	logFormat        string
	readyFile        string
	clientsDir       string
	idleExit         time.Duration // 0: stay
	guarded          bool
}

// parseFlags reads the command line. Usage goes to usage; the error of -h is flag.ErrHelp.
func parseFlags(args []string, usage io.Writer) (options, error) {
	args, err := stripCommand(args)
	if err != nil {
		return options{}, err
	}
	o := options{
		searchAttributes: map[string]enumspb.IndexedValueType{},
		dynamic:          defaultDynamicConfig(),
		pragmas:          defaultPragmas(),
	}
	var ip, uiIP string
	fs := flag.NewFlagSet("devserver server start-dev", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // the caller prints the error; the usage is printed below, on request only
	fs.BoolVar(&o.version, "version", false, "print the versions and exit")
	fs.StringVar(&ip, "ip", "127.0.0.1", "address that the frontend listens on")
	fs.StringVar(&uiIP, "ui-ip", "", "address that the Web UI listens on (default: --ip)")
	fs.IntVar(&o.uiPort, "ui-port", -1, "port of the Web UI; 0 picks a free one (default: --port + 1000)")
	fs.BoolVar(&o.headless, "headless", false, "no Web UI")
	fs.DurationVar(&o.retention, "retention", defaultRetention, "how long the namespace keeps ended workflows")
	fs.StringVar(&o.logFormat, "log-format", "text", "text (or pretty), or json")
	fs.StringVar(&o.logLevel, "log-level", "error", "debug, info, warn, error or never")
	fs.StringVar(&o.readyFile, "ready-file", "", "JSON file written when the server can be used, removed when it ends")
	fs.StringVar(&o.clientsDir, "clients-dir", "", "folder of clients' *.lock files; the server ends --idle-exit after the last was released")
	fs.DurationVar(&o.idleExit, "idle-exit", defaultIdleExit, "with --clients-dir: how long to stay without a client; 0 stays")
	fs.BoolVar(&o.guarded, "guarded", false, "serve processes of this user only, and none that an agent of Conclave started (Linux)")
	alias("port", "p", "port of the frontend; 0 picks a free one", func(name string, help string) { fs.IntVar(&o.port, name, defaultPort, help) })
	alias("namespace", "n", "namespace to create", func(name string, help string) { fs.StringVar(&o.namespace, name, "default", help) })
	alias("db-filename", "f", "SQLite file; {version} stands for the server's version; in memory when empty", func(name string, help string) { fs.StringVar(&o.dbFilename, name, "", help) })
	fs.Func("search-attribute", "Name=Type, repeatable: Text, Keyword, Int, Double, Bool, Datetime, KeywordList", o.addSearchAttribute)
	fs.Func("dynamic-config-value", "Key=JSON, repeatable: a dynamic config value of the server", o.addDynamicValue)
	fs.Func("sqlite-pragma", "name=value, repeatable: journal_mode, synchronous, busy_timeout or another pragma", o.addPragma)
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(usage, "Usage: devserver [server start-dev] [flags]")
			fs.SetOutput(usage)
			fs.PrintDefaults()
		}
		return options{}, err
	}
	if fs.NArg() > 0 {
		return options{}, fmt.Errorf("unexpected argument %q: everything is a flag (see --help)", fs.Arg(0))
	}
	return o.complete(ip, uiIP)
}

// alias declares one flag under a long and a short name.
func alias(long, short, help string, declare func(name, help string)) {
	declare(long, help)
	declare(short, "short for --"+long)
}

// stripCommand removes the words "server start-dev", which the SDK and people used to the temporal CLI put first.
func stripCommand(args []string) ([]string, error) {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return args, nil
	}
	if len(args) > 1 && args[0] == "server" && args[1] == "start-dev" {
		return args[2:], nil
	}
	return nil, fmt.Errorf("unknown command %q: the only one is `server start-dev`", strings.Join(args[:min(2, len(args))], " "))
}

// complete derives what depends on several flags and checks the values.
func (o options) complete(ip, uiIP string) (options, error) {
	if uiIP == "" {
		uiIP = ip
	}
	var err error
	if o.ip, err = resolveIP("--ip", ip); err != nil {
		return o, err
	}
	if o.uiIP, err = resolveIP("--ui-ip", uiIP); err != nil {
		return o, err
	}
	if o.uiPort == -1 {
		o.uiPort = 0
		if o.port != 0 {
			o.uiPort = o.port + uiPortOffset
		}
	}
	o.dbFilename = strings.ReplaceAll(o.dbFilename, "{version}", headers.ServerVersion)
	return o, o.check()
}

func (o options) check() error {
	switch {
	case o.port < 0 || o.port > 65535:
		return fmt.Errorf("--port %d is no port: use 1 to 65535, or 0 for a free one", o.port)
	case !o.headless && (o.uiPort < 0 || o.uiPort > 65535):
		return fmt.Errorf("--ui-port %d is no port: use 1 to 65535, or 0 for a free one", o.uiPort)
	case !o.headless && o.port != 0 && o.port == o.uiPort:
		return fmt.Errorf("--port and --ui-port are both %d: they must differ", o.port)
	case o.namespace == "":
		return errors.New("--namespace is empty")
	case o.retention < minRetention:
		return fmt.Errorf("--retention %s is too short: the server keeps ended workflows for at least %s", o.retention, minRetention)
	case o.idleExit < 0:
		return fmt.Errorf("--idle-exit %s is negative: use 0 to stay up", o.idleExit)
	case o.guarded && !o.ip.IsLoopback():
		return fmt.Errorf("--guarded looks at processes of this machine: it cannot be used with --ip %s", o.ip)
	case o.guarded && !o.headless && !o.uiIP.IsLoopback():
		return fmt.Errorf("--guarded looks at processes of this machine: it cannot be used with --ui-ip %s", o.uiIP)
	case o.guarded && guardSupported() != nil:
		return guardSupported()
	}
	return checkLogFlags(o.logLevel, o.logFormat)
}

func resolveIP(name, value string) (net.IP, error) {
	addr, err := net.ResolveIPAddr("ip", value)
	if err != nil || addr.IP == nil {
		return nil, fmt.Errorf("%s %q is no address of this machine: %w", name, value, err)
	}
	return addr.IP, nil
}

func (o *options) addSearchAttribute(s string) error {
	name, kind, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return errors.New("want Name=Type")
	}
	value, ok := enumspb.IndexedValueType_shorthandValue[kind]
	if !ok || value == int32(enumspb.INDEXED_VALUE_TYPE_UNSPECIFIED) {
		return fmt.Errorf("unknown type %q: use Text, Keyword, Int, Double, Bool, Datetime or KeywordList", kind)
	}
	o.searchAttributes[name] = enumspb.IndexedValueType(value)
	return nil
}

func (o *options) addDynamicValue(s string) error {
	key, value, err := parseDynamicValue(s)
	if err != nil {
		return err
	}
	o.dynamic[key] = value
	return nil
}

func (o *options) addPragma(s string) error {
	name, value, ok := strings.Cut(s, "=")
	if !ok || name == "" || value == "" {
		return errors.New("want name=value")
	}
	o.pragmas[strings.ToLower(name)] = value
	return nil
}

// versionLine names the versions in the shape that the temporal CLI prints, so that one parser reads both.
func versionLine() string {
	ui := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if dep.Path == "github.com/temporalio/ui-server/v2" {
				ui = strings.TrimPrefix(dep.Version, "v")
			}
		}
	}
	return fmt.Sprintf("devserver (Server %s, UI %s)", headers.ServerVersion, ui)
}
