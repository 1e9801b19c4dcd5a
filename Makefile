# Everything a person or CI does here. `make demo` and `make test` need nothing but Go and git.
.DEFAULT_GOAL := build
SHELL := /bin/bash

GO ?= go
# The same flags as internal/localserver uses, so that either finds the other's build cache.
DEVSERVER_FLAGS := -trimpath -ldflags "-s -w"
DEVSERVER_SOURCES := $(shell find tools/devserver -name '*.go' -not -name '*_test.go') tools/devserver/go.mod tools/devserver/go.sum
# The race detector needs a C compiler.
CC_FOUND := $(shell command -v $${CC:-cc} 2>/dev/null || command -v gcc 2>/dev/null)
RACE := $(if $(CC_FOUND),-race,)
export CONCLAVE_TEST_DEVSERVER := $(CURDIR)/bin/devserver
export CONCLAVE_TEST_BIN := $(CURDIR)/bin

.PHONY: build demo test test-agents test-devserver property fuzz bench chaos lint fixtures clean

build: bin/devserver ## bin/starter, bin/worker, bin/devserver
	$(GO) build -o bin/ ./starter ./worker ./tools/scriptagent

bin/devserver: $(DEVSERVER_SOURCES)
	@if [ ! -x bin/devserver ]; then echo "Compiling the local Temporal server: about 15 CPU minutes, once. Every 50th package tells how far it is."; fi
	@set -o pipefail; cd tools/devserver && of=$$($(GO) list -deps . | wc -l) && \
	$(GO) build -v $(DEVSERVER_FLAGS) -o ../../bin/devserver . 2>&1 | { n=0; while IFS= read -r line; do case $$line in \
		*[[:space:]:]*) echo "$$line" ;; \
		*) n=$$((n + 1)); if [ $$((n % 50)) = 0 ]; then echo "  compiled $$n of at most $$((of)) packages"; fi ;; \
	esac; done; }
	@touch bin/devserver

demo: build ## a dry run on a small repository of its own
	@bash tools/demo.sh

test: build ## all tests of the main module, end to end included
	@echo "race detector: $(if $(RACE),on,off (no C compiler found))"
	$(GO) test $(RACE) $(TESTFLAGS) -parallel 4 -timeout 60m ./...
	$(if $(RACE),@echo "what the race detector leaves out:")
	$(if $(RACE),$(GO) test $(TESTFLAGS) -run Linear ./internal/review)
	$(if $(RACE),$(GO) test $(TESTFLAGS) -run TestNoRequestGrows ./internal/loop)
	$(if $(RACE),$(GO) test $(TESTFLAGS) -run TestAWorkerStaysSmall ./activities)

test-agents: build ## the real agent programs, from npm, against a scripted model server
	@bash tools/agents/install.sh
	CONCLAVE_TEST_AGENTS=$(CURDIR)/tools/agents/node_modules/.bin $(GO) test -count=1 -v -parallel 5 -timeout 60m $(TESTFLAGS) ./internal/realagents

test-devserver: ## the tests of the local server's own module
	cd tools/devserver && GOFLAGS="$(GOFLAGS) -trimpath" $(GO) test $(TESTFLAGS) ./...

property: ## the machine's properties over 100,000 random sequences
	$(GO) test ./internal/convergence -run Property -timeout 60m -rapid.checks=100000

fuzz: ## a minute each on what reads foreign input
	$(GO) test ./internal/convergence -run '^$$' -fuzz FuzzCompile -fuzztime 60s -fuzzminimizetime 10x
	$(GO) test ./internal/convergence -run '^$$' -fuzz FuzzReduce -fuzztime 60s -fuzzminimizetime 10x
	for f in Claude Codex Opencode Gemini Command; do $(GO) test ./internal/agent -run '^$$' -fuzz "^Fuzz$$f\$$" -fuzztime 60s -fuzzminimizetime 10x || exit 1; done

bench: build ## the times and sizes of docs/benchmarks.md
	@bash tools/bench.sh

chaos: build ## kill -9 at every step boundary and at random moments
	$(GO) test -count=1 -v -timeout 60m -run Chaos ./internal/e2e -chaos

fixtures: build ## record the histories that the replay tests replay
	$(GO) test -count=1 -timeout 20m -run Fixture ./internal/e2e -record

lint: ## gofmt, vet, golangci-lint, workflowcheck
	@bash tools/lint.sh

clean:
	rm -rf bin
