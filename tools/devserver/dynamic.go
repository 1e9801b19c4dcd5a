package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"go.temporal.io/server/common/dynamicconfig"
)

// defaultDynamicConfig is what a server on one machine for one person needs; --dynamic-config-value overrides it.
func defaultDynamicConfig() dynamicconfig.StaticClient {
	return dynamicconfig.StaticClient{
		// No phoning home.
		dynamicconfig.EnableServerVersionCheck.Key(): false,
		// A search attribute or Nexus endpoint added while running is usable at once, not after a cache's lifetime.
		dynamicconfig.ForceSearchAttributesCacheRefreshOnRead.Key(): true,
		dynamicconfig.ForceNexusEndpointRefreshOnRead.Key():         true,
		// One process does all the work: the rate limits that protect a shared database would only slow it down.
		dynamicconfig.FrontendPersistenceMaxQPS.Key(): 10000,
		dynamicconfig.HistoryPersistenceMaxQPS.Key():  45000,
		// A queue is read 20 times a second by default. Steps that follow each other quickly, of one run or of several, then
		// take 85 ms each instead of 10 (measured).
		dynamicconfig.TransferProcessorMaxPollRPS.Key():   2000,
		dynamicconfig.TimerProcessorMaxPollRPS.Key():      2000,
		dynamicconfig.VisibilityProcessorMaxPollRPS.Key(): 2000,
		// A cache for one developer's workflows, not for a cluster's: memory matters more.
		dynamicconfig.HistoryCacheHostLevelMaxSize.Key(): 8096,
		// One partition per task queue: with one matching host more of them only forward to each other.
		dynamicconfig.MatchingNumTaskqueueReadPartitions.Key():  1,
		dynamicconfig.MatchingNumTaskqueueWritePartitions.Key(): 1,
		// Activity cancellation is pushed to the worker (tens of milliseconds) instead of waiting for its next heartbeat (seconds).
		dynamicconfig.WorkerCommandsEnabled.Key():             true,
		dynamicconfig.EnableCancelActivityWorkerCommand.Key(): true,
	}
}

// parseDynamicValue reads Key=JSON. Whole numbers become int, because that is what the server's int settings accept.
func parseDynamicValue(s string) (dynamicconfig.Key, any, error) {
	name, raw, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return dynamicconfig.Key{}, nil, errors.New("want Key=JSON")
	}
	dec := json.NewDecoder(strings.NewReader(raw))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil || dec.More() {
		return dynamicconfig.Key{}, nil, fmt.Errorf("value %q of %s is not JSON (a string needs its quotes)", raw, name)
	}
	value, err := plainNumbers(value)
	if err != nil {
		return dynamicconfig.Key{}, nil, fmt.Errorf("value of %s: %w", name, err)
	}
	return dynamicconfig.MakeKey(name), value, nil
}

// plainNumbers replaces every json.Number in a decoded value by an int where it is whole, else by a float64.
func plainNumbers(v any) (any, error) {
	var err error
	switch t := v.(type) {
	case json.Number:
		if n, err := t.Int64(); err == nil && n >= math.MinInt && n <= math.MaxInt {
			return int(n), nil
		}
		return t.Float64()
	case []any:
		for i := range t {
			if t[i], err = plainNumbers(t[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for k := range t {
			if t[k], err = plainNumbers(t[k]); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}
