package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/server/common/headers"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

const (
	readyTimeout  = 60 * time.Second
	readyInterval = 10 * time.Millisecond
)

// readyInfo is the content of --ready-file. internal/localserver reads it.
type readyInfo struct {
	Address   string    `json:"address"`
	UIAddress string    `json:"ui_address"` // "" when headless
	Namespace string    `json:"namespace"`
	PID       int       `json:"pid"`
	StartTime time.Time `json:"start_time"`
	Version   string    `json:"version"`
	DB        string    `json:"db"` // "" in memory
}

// awaitReady returns when a client can do everything: the frontend answers, the namespace is visible, its search attributes can be used, and the Web
// UI is up.
func awaitReady(ctx context.Context, opts options, p ports) (readyInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	info := readyInfo{Address: reachable(opts.ip, p.frontend), Namespace: opts.namespace, PID: os.Getpid(), Version: headers.ServerVersion}
	conn, err := grpc.NewClient(info.Address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return info, fmt.Errorf("dial own frontend: %w", err)
	}
	defer conn.Close()
	checks := []check{frontendAnswers(conn), namespaceVisible(conn, opts.namespace)}
	if len(opts.searchAttributes) > 0 {
		checks = append(checks, attributesRegistered(conn, opts), attributesUsable(conn, opts))
	}
	if p.ui != 0 {
		info.UIAddress = reachable(opts.uiIP, p.ui)
		checks = append(checks, uiAnswers(info.UIAddress))
	}
	for _, c := range checks {
		if err := until(ctx, c); err != nil {
			return info, err
		}
	}
	return info, nil
}

// check is one condition of readiness; what names it in the error.
type check struct {
	what string
	try  func(context.Context) error
}

func until(ctx context.Context, c check) error {
	for {
		err := c.try(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("server did not become ready: %s: %w", c.what, errors.Join(ctx.Err(), err))
		case <-time.After(readyInterval):
		}
	}
}

func frontendAnswers(conn grpc.ClientConnInterface) check {
	return check{"frontend", func(ctx context.Context) error {
		_, err := workflowservice.NewWorkflowServiceClient(conn).GetSystemInfo(ctx, &workflowservice.GetSystemInfoRequest{}, grpc.WaitForReady(true))
		return err
	}}
}

func namespaceVisible(conn grpc.ClientConnInterface, namespace string) check {
	return check{"namespace " + namespace, func(ctx context.Context) error {
		_, err := workflowservice.NewWorkflowServiceClient(conn).DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: namespace})
		return err
	}}
}

// attributesRegistered asks the server to add what prepareNamespace has added already: it does nothing then, and makes up for a server whose schema
// prepareNamespace misjudged.
func attributesRegistered(conn grpc.ClientConnInterface, opts options) check {
	return check{"search attributes", func(ctx context.Context) error {
		_, err := operatorservice.NewOperatorServiceClient(conn).AddSearchAttributes(ctx,
			&operatorservice.AddSearchAttributesRequest{Namespace: opts.namespace, SearchAttributes: opts.searchAttributes})
		return err
	}}
}

func attributesUsable(conn grpc.ClientConnInterface, opts options) check {
	names := slices.Sorted(maps.Keys(opts.searchAttributes))
	query := "`" + strings.Join(names, "` is null and `") + "` is null"
	return check{"query by search attributes", func(ctx context.Context) error {
		_, err := workflowservice.NewWorkflowServiceClient(conn).CountWorkflowExecutions(ctx,
			&workflowservice.CountWorkflowExecutionsRequest{Namespace: opts.namespace, Query: query})
		return err
	}}
}

func uiAnswers(address string) check {
	return check{"web UI", func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/healthz", nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("status %s", resp.Status)
		}
		return nil
	}}
}

// announce tells people (stdout) and programs (the ready file) that the server can be used.
func announce(info readyInfo, file string, stdout io.Writer) error {
	fmt.Fprintf(stdout, "Temporal server %s: %s\n", info.Version, info.Address)
	if info.UIAddress != "" {
		fmt.Fprintf(stdout, "Web UI: http://%s\n", info.UIAddress)
	}
	return writeReadyFile(info, file)
}

// writeReadyFile replaces file in one step, so that a reader sees all of it or nothing.
func writeReadyFile(info readyInfo, file string) error {
	if file == "" {
		return nil
	}
	data, err := json.Marshal(info)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*")
	if err != nil {
		return fmt.Errorf("--ready-file: %w", err)
	}
	_, err = tmp.Write(append(data, '\n'))
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), file)
	}
	if err != nil {
		os.Remove(tmp.Name())
		return fmt.Errorf("--ready-file: %w", err)
	}
	return nil
}

// withdraw removes the ready file if it is ours.
func withdraw(file string) {
	if file == "" {
		return
	}
	var info readyInfo
	if data, err := os.ReadFile(file); err == nil && json.Unmarshal(data, &info) == nil && info.PID == os.Getpid() {
		os.Remove(file)
	}
}
