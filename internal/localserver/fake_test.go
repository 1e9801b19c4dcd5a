//go:build unix

package localserver

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
)

// The test binary plays the programs around it: a server (`server start-dev`), the version of a plain `temporal`, and a starter (`fake-starter DIR`).
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 2 && os.Args[1] == "server":
		os.Exit(fakeServer(os.Args[3:]))
	case len(os.Args) == 2 && os.Args[1] == "--version":
		fmt.Println("temporal version 9.0.0 (Server 9.9.9, UI 2.0.0)")
		os.Exit(0)
	case len(os.Args) > 2 && os.Args[1] == "intruder":
		os.Exit(intrude(os.Args[2:]))
	case len(os.Args) == 4 && os.Args[1] == "inner-starter":
		os.Exit(startWithin(os.Args[2], os.Args[3]))
	case len(os.Args) > 2 && os.Args[1] == "fake-starter":
		os.Exit(fakeStarter(os.Args[2]))
	}
	os.Exit(m.Run())
}

// fakeModeVariable chooses how a fake server misbehaves: "" not at all, "fail" ends at once, "gate" waits for the file <state>/gate before it is ready.
const fakeModeVariable = "LOCALSERVER_FAKE_MODE"

const fakeVersion = "9.9.9"

// fakeStarter is a process that becomes a client, says so, and stays until its input ends.
func fakeStarter(dir string) int {
	exe, _ := os.Executable()
	s, err := Ensure(context.Background(), Options{StateDir: dir, Binary: exe, IdleExit: time.Minute})
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	fmt.Println("pid", s.PID)
	bufio.NewScanner(os.Stdin).Scan()
	if err := s.Close(); err != nil {
		fmt.Println("error", err)
		return 1
	}
	return 0
}

type fakeFlags struct {
	db, ready, clients string
	port               int
	idle               time.Duration
	attributes         []string
}

func parseFakeFlags(args []string) (fakeFlags, error) {
	var o fakeFlags
	fs := flag.NewFlagSet("fake", flag.ContinueOnError)
	for _, ignored := range []string{"ip", "namespace", "log-level", "dynamic-config-value", "ui-port"} {
		fs.String(ignored, "", "")
	}
	fs.Bool("headless", false, "")
	fs.Bool("guarded", false, "")
	fs.StringVar(&o.db, "db-filename", "", "")
	fs.StringVar(&o.ready, "ready-file", "", "")
	fs.StringVar(&o.clients, "clients-dir", "", "")
	fs.IntVar(&o.port, "port", 0, "")
	fs.DurationVar(&o.idle, "idle-exit", 0, "")
	fs.Func("search-attribute", "", func(s string) error {
		name, _, _ := strings.Cut(s, "=")
		o.attributes = append(o.attributes, name)
		return nil
	})
	err := fs.Parse(args)
	o.db = strings.ReplaceAll(o.db, "{version}", fakeVersion)
	return o, err
}

// fakeServer follows the protocol of devserver; without --ready-file it is a plain `temporal`, which follows none.
func fakeServer(args []string) int {
	o, err := parseFakeFlags(args)
	if err != nil {
		return 2
	}
	dir := filepath.Dir(o.db)
	note(dir, "starts", strconv.Itoa(os.Getpid()))
	if os.Getenv(fakeModeVariable) == "fail" {
		fmt.Println("the fake server fails on purpose")
		return 7
	}
	if o.ready != "" {
		lock, err := openLock(lockOf(o.db))
		if err != nil || lock == nil {
			fmt.Println("database in use", err)
			return 3
		}
		defer lock.close()
	}
	note(dir, filepath.Base(o.db), strconv.Itoa(os.Getpid())) // the database keeps a line of every server
	for os.Getenv(fakeModeVariable) == "gate" && !fileExists(filepath.Join(dir, "gate")) {
		time.Sleep(time.Millisecond)
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(o.port)))
	if err != nil {
		fmt.Println(err)
		return 2
	}
	go serveFake(l, o.attributes)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if o.ready == "" {
		<-ctx.Done()
		return 0
	}
	awaitFakeEnd(ctx, o, ready{Address: l.Addr().String(), UIAddress: "127.0.0.1:1", Namespace: "default", PID: os.Getpid(), Version: fakeVersion, DB: o.db})
	return 0
}

func awaitFakeEnd(ctx context.Context, o fakeFlags, info ready) {
	f := files{filepath.Dir(o.ready)}
	defer f.removeReady(info.PID)
	_ = f.writeReady(info)
	last := time.Now()
	for ctx.Err() == nil {
		if anyClient(o.clients) || o.idle == 0 {
			last = time.Now()
		}
		if o.idle > 0 && time.Since(last) >= o.idle {
			f.removeReady(info.PID)
			if !anyClient(o.clients) {
				return
			}
			_ = f.writeReady(info)
			last = time.Now()
		}
		sleep, cancel := context.WithTimeout(ctx, time.Millisecond)
		<-sleep.Done()
		cancel()
	}
}

// note appends a line to a file in dir.
func note(dir, name, line string) {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Fprintln(f, line)
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// fakeFrontend answers the calls that this package makes.
type fakeFrontend struct {
	workflowservice.UnimplementedWorkflowServiceServer
	operatorservice.UnimplementedOperatorServiceServer
	mu         sync.Mutex
	attributes []string
}

func serveFake(l net.Listener, attributes []string) {
	f := &fakeFrontend{attributes: attributes}
	s := grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(s, f)
	operatorservice.RegisterOperatorServiceServer(s, f)
	_ = s.Serve(l)
}

func (f *fakeFrontend) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{ServerVersion: fakeVersion}, nil
}

func (f *fakeFrontend) UpdateNamespace(context.Context, *workflowservice.UpdateNamespaceRequest) (*workflowservice.UpdateNamespaceResponse, error) {
	return &workflowservice.UpdateNamespaceResponse{}, nil
}

func (f *fakeFrontend) CountWorkflowExecutions(_ context.Context, r *workflowservice.CountWorkflowExecutionsRequest) (*workflowservice.CountWorkflowExecutionsResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for part := range strings.SplitSeq(r.GetQuery(), " and ") {
		if name := strings.Trim(strings.TrimSuffix(part, " is null"), "`"); !slices.Contains(f.attributes, name) {
			return nil, serviceerror.ToStatus(serviceerror.NewInvalidArgument("invalid query: unknown " + name)).Err()
		}
	}
	return &workflowservice.CountWorkflowExecutionsResponse{}, nil
}

func (f *fakeFrontend) AddSearchAttributes(_ context.Context, r *operatorservice.AddSearchAttributesRequest) (*operatorservice.AddSearchAttributesResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name := range r.GetSearchAttributes() {
		f.attributes = append(f.attributes, name)
	}
	return &operatorservice.AddSearchAttributesResponse{}, nil
}
