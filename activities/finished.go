package activities

import (
	"context"
	"encoding/json"
	"fmt"

	"conclave/internal/artifact"
	"conclave/internal/store"
)

// finished is what the store keeps of a turn that is over.
type finished struct {
	// Request is the digest of what was asked for.
	Request string          `json:"request"`
	Result  json.RawMessage `json:"result"`
}

// resultKey is where a try of a step leaves its result.
func resultKey(runID, step string, try int) string {
	return fmt.Sprintf("runs/%s/turns/%s.%d/result.json", runID, step, try)
}

// readResult returns the stored result of a request, nil when there is none.
// The result of another request is none: a workflow that an operator reset
// counts its steps anew, and an answer about another tree must not count.
func readResult[Result any](ctx context.Context, a *Activities, key string, request any) (*Result, error) {
	var before finished
	err := a.readKey(ctx, key, &before)
	if store.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, a.failed(typeEffect, err)
	}
	asked, err := requestDigest(request)
	if err != nil {
		return nil, a.failed(typeEffect, err)
	}
	if asked != before.Request {
		return nil, nil
	}
	result := new(Result)
	if err := json.Unmarshal(before.Result, result); err != nil {
		return nil, a.failed(typeEffect, fmt.Errorf("store key %s: %w", key, err))
	}
	return result, nil
}

// writeResult keeps a result, so that the turn is not paid again.
func (a *Activities) writeResult(ctx context.Context, key string, request, result any) error {
	asked, err := requestDigest(request)
	if err != nil {
		return a.failed(typeEffect, err)
	}
	raw, err := json.Marshal(result)
	if err == nil {
		err = a.writeKey(ctx, key, finished{Request: asked, Result: raw})
	}
	if err != nil {
		return a.failed(typeEffect, err)
	}
	return nil
}

func requestDigest(request any) (string, error) {
	raw, err := json.Marshal(request)
	if err != nil {
		return "", err
	}
	return artifact.Of(raw).Digest, nil
}
