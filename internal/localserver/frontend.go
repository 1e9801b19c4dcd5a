package localserver

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	namespacepb "go.temporal.io/api/namespace/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/durationpb"
)

// attributesTimeout bounds the wait until each service of the server has learnt of a new search attribute; a refresh takes up to two seconds.
const attributesTimeout = 20 * time.Second

func dial(address string) (*grpc.ClientConn, error) {
	return grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
}

// frontendAnswers makes one cheap call. It does not wait for a port that nobody listens on.
func frontendAnswers(ctx context.Context, address string) error {
	conn, err := dial(address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	_, err = workflowservice.NewWorkflowServiceClient(conn).GetSystemInfo(ctx, &workflowservice.GetSystemInfoRequest{})
	return err
}

// addSearchAttributes makes the attributes usable on a server that was started without them, by an older starter or by somebody else.
func (s *Server) addSearchAttributes(ctx context.Context, attributes map[string]string) error {
	if len(attributes) == 0 {
		return nil
	}
	types, err := attributeTypes(attributes)
	if err != nil {
		return err
	}
	conn, err := dial(s.Address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if attributesUsable(ctx, conn, s.Namespace, attributes) == nil {
		return nil
	}
	_, err = operatorservice.NewOperatorServiceClient(conn).AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{Namespace: s.Namespace, SearchAttributes: types})
	if err != nil {
		return fmt.Errorf("add search attributes to the local Temporal server: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, attributesTimeout)
	defer cancel()
	for {
		err := attributesUsable(ctx, conn, s.Namespace, attributes)
		if err == nil {
			return nil
		}
		if pause(ctx) != nil {
			return fmt.Errorf("search attributes of the local Temporal server: %w", err)
		}
	}
}

func attributesUsable(ctx context.Context, conn grpc.ClientConnInterface, namespace string, attributes map[string]string) error {
	names := slices.Sorted(maps.Keys(attributes))
	query := "`" + strings.Join(names, "` is null and `") + "` is null"
	_, err := workflowservice.NewWorkflowServiceClient(conn).CountWorkflowExecutions(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: namespace, Query: query})
	return err
}

func attributeTypes(attributes map[string]string) (map[string]enumspb.IndexedValueType, error) {
	types := map[string]enumspb.IndexedValueType{}
	for name, kind := range attributes {
		t, err := enumspb.IndexedValueTypeFromString(kind)
		if err != nil || t == enumspb.INDEXED_VALUE_TYPE_UNSPECIFIED {
			return nil, fmt.Errorf("search attribute %s: unknown type %q", name, kind)
		}
		types[name] = t
	}
	return types, nil
}

// setRetention gives the namespace of a plain `temporal` the time that our own server keeps ended workflows.
func (s *Server) setRetention(ctx context.Context, d time.Duration) error {
	conn, err := dial(s.Address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	_, err = workflowservice.NewWorkflowServiceClient(conn).UpdateNamespace(ctx, &workflowservice.UpdateNamespaceRequest{
		Namespace: s.Namespace,
		Config:    &namespacepb.NamespaceConfig{WorkflowExecutionRetentionTtl: durationpb.New(d)},
	})
	return err
}
