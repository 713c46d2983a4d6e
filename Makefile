# The habits of the project: `make` lists them. What a target needs besides Go
# is bash and, for `fresh` and so for `check`, git. Make itself exits with 2
# whatever a program exits with: for the exit codes of a verdict, run the binary.

GO         ?= go
STATICCHECK = $(GO) tool -modfile=tools/go.mod staticcheck
FUZZTIME   ?= 10s
RUNS       ?= 20
ARGS       ?=

RACE = env CGO_ENABLED=1 $(GO) test -race -timeout 30m
# What is mostly waiting, and measured: packages that put load on a server are
# tested one at a time, beside the others, which let them go first.
LOADING = ./loadtest ./loadtest/generate ./loadtest/scenario ./loadtest/swarm

.DEFAULT_GOAL := help
.PHONY: help test check format vet lint tidy fresh documents generate build run load truth transports manifests steady busy selftest selftest-figures bench fuzz

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' Makefile

test: ## all tests, with the race detector
	@loading="$$($(GO) list $(LOADING))" && others="$$($(GO) list ./... | grep -vxF "$$loading")" || exit 1; \
	$(RACE) -p 1 $$loading & load=$$!; trap "kill $$load" INT TERM; \
	nice $(RACE) $$others; code=$$?; \
	wait $$load && exit $$code

check: format vet lint tidy fresh documents manifests test ## everything that must hold before a change goes in

format: ## fail on files that gofmt would change
	@unformatted="$$(gofmt -l .)" || exit 1; \
	if [ -n "$$unformatted" ]; then echo "gofmt would change:"; echo "$$unformatted"; exit 1; fi

vet: ## go vet
	$(GO) vet ./...
	$(GO) vet .ci/results.go

lint: ## staticcheck, in the version that tools/go.mod pins
	$(STATICCHECK) ./...

tidy: ## fail when go mod tidy would change something
	$(GO) mod tidy -diff
	$(GO) -C tools mod tidy -diff

fresh: ## fail when make generate would change something
	tools/fresh

documents: ## run the command lines of the documents
	$(GO) test ./cmd/outreach-conformance -run TestDocuments -count=1

generate: ## write everything that is derived from something else
	$(GO) generate ./...
	$(GO) test ./internal/doctest -count=1 -run TestReadmeIsFresh -args -update

build: ## build bin/outreach-conformance
	$(GO) build -trimpath -o bin/ ./cmd/outreach-conformance

run: ## judge a target; ARGS='--target http://127.0.0.1:8025'
	$(GO) run ./cmd/outreach-conformance run $(ARGS)

load: ## load a target; ARGS='--scenario mixed --target http://127.0.0.1:8025'
	$(GO) run ./cmd/outreach-conformance load $(ARGS)

truth: ## load's figures against the server's own record, and what make test computes only in part; on a quiet machine
	$(GO) test ./loadtest -run TestTruth -count=1 -v -timeout 15m -args -truth
	$(GO) test ./loadtest/scenario -run 'TestScenariosTellFaults/soak|TestRateLimitObserves' -count=1 -v -timeout 15m -args -slow
	$(GO) test ./loadtest/infer/... ./loadtest/compare ./loadtest/measure ./suites/selftest/faults -count=1 -v -timeout 15m

transports: ## CPU time and memory of a request over HTTP transports, beside raw Vegeta
	$(GO) test ./loadtest/generate -run TestTransports -count=1 -v -args -transports 5

manifests: ## the Kubernetes manifests against the API's own types
	$(GO) -C tools vet ./manifests
	$(GO) -C tools test ./manifests

steady: ## RUNS runs in different random orders must give the same verdicts
	$(GO) test ./suites/runner -run TestSteady -count=1 -v -args -runs $(RUNS)

busy: ## 100 runs while something else keeps every core busy: identical verdicts
	tools/busy $(GO) test ./suites/runner -run TestSteady -count=1 -v -timeout 60m -args -runs 100

selftest: build ## prove every check: all defects caught, all quirks let pass
	bin/outreach-conformance selftest $(ARGS)

selftest-figures: build ## the whole of it, and its figures into the README; on an idle machine
	bin/outreach-conformance selftest --output bin/selftest
	$(GO) test ./internal/doctest -count=1 -run TestReadmeIsFresh -args -update -selftest $(CURDIR)/bin/selftest/selftest.json

bench: ## all benchmarks
	$(GO) test ./... -run '^$$' -bench . -benchmem

fuzz: ## each fuzz target for FUZZTIME
	GO='$(GO)' tools/fuzz $(FUZZTIME)
