# The commands of the project: `make` lists them. Besides Go they need bash, and
# `fresh` and `check` need git. Make exits with 2 whatever a command exits with:
# run the binary itself to see the exit code of a verdict.

GO         ?= go
# Build as the released program is built. Then Go compiles each package once, also
# for tests that build programs. The race detector needs cgo. Debuggers want DWARF:
# build what they are to show with go build.
SETTINGS           = -trimpath -gcflags=all=-dwarf=false -ldflags=-s
export CGO_ENABLED = 0
export GOFLAGS    := $(filter-out $(SETTINGS),$(shell $(GO) env GOFLAGS)) $(SETTINGS)

# Compilers, linters and tests allocate much and keep little. They compute less if the heap
# may grow to five times its live size before it is collected.
RARE_GC   = GOGC=400
FUZZTIME ?= 10s
ARGS     ?=
# The packages that `make test` and `make busy` test, and flags for go test. The packages
# that take longest are first, so that none of them runs alone in the end.
PACKAGES   ?= ./cmd/... ./suites/runner ./...
TESTFLAGS  ?=

# RACED packages share memory between goroutines, so `make race` tests them with
# the race detector. It slows computation down tenfold and finds nothing in
# packages that only compute, or that only start the built program. The longest are first.
RACED = ./suites/runner ./loadtest/runner ./suites/explore ./suites/preflight \
	./fixtures/target ./fixtures/refserver/... ./internal/client ./internal/judge ./internal/outage ./internal/redact \
	./internal/sandbox/... ./loadtest/generate ./loadtest/inspect ./suites

# LONG tests compute or wait for long, and their names end in _long. make test, make race
# and make busy leave them out: make long runs them, in the packages that have some. Those
# of RACED packages share no more between goroutines than the other tests there.
LONG = _long$$
LONG_PACKAGES = $(sort $(dir $(shell grep -rl --include='*_test.go' '^func Test[^ ]*_long.t ' .)))

# STARTED packages start programs and wait for them. They depend most on what a
# process inherits and on how busy the machine is: `make strange` and, in CI,
# `make busy` test them.
STARTED = ./cmd/... ./loadtest/swarm

# HOSTILE plays a few behaviours in `make test`, and all of them in `make hostile`.
HOSTILE = ./internal/testbed/hostile

# CI runs each test once: LONG tests by `make long`, RACED packages by `make race`, STARTED
# packages by `make busy`, HOSTILE by `make hostile`, and OTHERS by `make test`. On its
# own, `make test` runs all packages.
OTHERS = $(GO) list ./... | grep -vxF "$$($(GO) list $(RACED) $(STARTED) $(HOSTILE))"

# Many tests wait for programs, so two packages run on each core, and two hostile targets.
# Timeouts are for tests that hang: a slow and busy machine may take 20 minutes for one of
# the packages. make lint vets.
TWICE = $(shell echo $$((2 * $$(getconf _NPROCESSORS_ONLN))))
TESTS = $(RARE_GC) $(GO) test -vet=off -p $(TWICE) -timeout 40m $(TESTFLAGS)
# The command lines of the documents take a minute: `make documents` runs them. Containers
# get their verdicts in `make truth`.
SKIP ?= ^(TestDocuments|TestVerdictsAreTheSameHoweverTheTargetComesUp)$$|$(LONG)

.DEFAULT_GOAL := help
.PHONY: help release release-test test packages long race race-packages busy steady strange hostile ginkgo example truth figures inferences verdicts transports capacities compare demo documents manifests client openapi selftest judged \
	frozen check format lint platforms tidy fresh generate build run load bench fuzz list-started list-others

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' Makefile

test: ## run the tests in 4 minutes or less; PACKAGES='./cmd/...' runs some
	@$(TESTS) -skip '$(SKIP)' $(PACKAGES)

long: ## run the tests that compute or wait for long
	@$(TESTS) -v -run '$(LONG)' $(LONG_PACKAGES)

# The libraries of others compile faster without inlining, and their speed does not matter to
# these tests.
WITH_RACE = -race '-gcflags=all=-dwarf=false -l' \
	-gcflags=std=-dwarf=false -gcflags=outreach.example/conformance/...=-dwarf=false

# TestConformance would judge once more what ./suites/runner judges: make test runs it, and
# in CI make ginkgo. TestSteady has a target of its own. The race detector needs much memory:
# huge pages let the kernel map it in fewer steps.
race: ## run the tests of concurrent packages with the race detector
	@CGO_ENABLED=1 GORACE=no_huge_pages_for_shadow=0 $(TESTS) $(WITH_RACE) -skip '^(TestConformance|TestSteady)$$|$(LONG)' $(RACED)

race-packages: ## compile what make race tests
	@CGO_ENABLED=1 $(RARE_GC) $(GO) list $(WITH_RACE) -test -deps -export $(RACED) >/dev/null

packages: ## compile what make test tests
	@$(RARE_GC) $(GO) list -test -deps -export ./... >/dev/null

# BUSY is how many processes keep cores busy; empty for one on each core. CI has the
# race detector do so instead.
BUSY ?=
busy: RUNS ?= 20
busy: ## run make test RUNS times while another program keeps every core busy
	@BUSY=$(BUSY) tools/busy $(RUNS) env $(TESTS) -count=1 -skip '$(SKIP)' $(PACKAGES)

steady: RUNS ?= 100
steady: ## judge a server RUNS times in random order on busy cores: the verdicts must be identical
	BUSY=$(BUSY) tools/busy 1 env $(RARE_GC) $(GO) test ./suites/runner -run TestSteady -count=1 -v -timeout 60m -args -runs $(RUNS)

strange: ## run tests of started programs in unusual environments: nohup, umask, locale, proxy, home
	GO='$(GO)' tools/strange

hostile: ## run the program against hostile targets and in environments that lack something
	$(RARE_GC) $(GO) test $(HOSTILE) -parallel $(TWICE) -count=1 -v -timeout 40m -args -hostile

ginkgo: ## run the suites with the ginkgo command and each flag that the documents name
	tools/ginkgo-demo

example: ## test the example of a repository that embeds the suites
	$(RARE_GC) $(GO) -C docs/example test -count=1 -timeout 40m ./...

truth: figures inferences verdicts ## check the figures of load against the server's own record, on a quiet machine

figures: ## the part of make truth that needs a quiet machine: figures and verdicts of load
	$(GO) test ./loadtest -run TestTruth -count=1 -v -timeout 40m -args -truth
	$(GO) test ./loadtest/swarm -run TestSharedLoad -count=1 -v -timeout 40m -args -slow

inferences: ## the part of make truth that computes: what load infers of known limiters
	$(RARE_GC) $(GO) test ./loadtest/infer -run 'TestGrid|TestRandom|TestReal' -count=1 -v -timeout 40m -args -slow

verdicts: ## the part of make truth that brings a server up in every way: verdicts of run
	$(GO) test ./cmd/outreach-conformance -run TestVerdictsAreTheSame -count=1 -v -timeout 40m -args -slow

transports: ## compare CPU time and memory of a request over HTTP transports with raw Vegeta
	$(GO) test ./loadtest/generate -run TestTransports -count=1 -v -args -transports 5

capacities: ## search the sustained rate of servers with ten known capacities, and print a table
	$(GO) test ./loadtest -run TestSearchOfKnownCapacities -count=1 -v -timeout 40m -args -capacities 10

compare: ## compare run and load with k6 and Vegeta on the same work; skips what is not in the PATH
	$(GO) test ./cmd/outreach-conformance -run TestTools -count=1 -v -timeout 40m -args -tools 3

demo: ## play a gate, a release and a vendor on a server with a defect, and keep their files in bin/demo
	$(GO) test ./cmd/outreach-conformance -run '^TestDemo$$' -count=1 -v -timeout 40m -args -demo '$(CURDIR)/bin/demo'

documents: ## run the commands in the documents
	$(GO) test ./cmd/outreach-conformance -run '^TestDocuments$$' -count=1 -timeout 40m

client: ## drive every operation of serve through a client that is generated from the OpenAPI document
	$(RARE_GC) $(GO) -C tools test -count=1 ./client

openapi: ## lint the OpenAPI documents with two linters and a strict YAML parser (Debian: libyaml-pp-perl)
	mkdir -p bin
	$(GO) run ./cmd/outreach-conformance openapi --version 3.1 >bin/openapi-3.1.yaml
	perl -MYAML::PP -e 'YAML::PP->new(schema => ["JSON"])->load_file($$_) for @ARGV' schemas/openapi.yaml bin/openapi-3.1.yaml
	$(RARE_GC) $(GO) -C tools test -count=1 ./openapi

manifests: ## check the Kubernetes manifests against the types of the API
	$(RARE_GC) $(GO) -C tools test ./manifests

selftest: build ## prove that every check finds its defects and accepts legal behaviour
	bin/outreach-conformance selftest $(ARGS)

judged: ## judge traffic of 300 defects and all quirks, and verify 300 tampered and 20 honest bundles
	$(GO) test ./suites/selftest -count=1 -v -timeout 2h -run 'TestJudge(Defects|Quirks)$$' -judge 300 -judge-quirks 10
	$(GO) test ./suites/certify -count=1 -v -timeout 2h -run 'TestTampering|TestHonestBundles' -tampered 300 -honest 20

check: format lint platforms tidy fresh documents manifests openapi client test long ## run every check that a change must pass

format: ## fail if gofmt would change a file
	@unformatted="$$(gofmt -l .)" || exit 1; \
	if [ -n "$$unformatted" ]; then echo "gofmt would change:"; echo "$$unformatted"; exit 1; fi

lint: ## run the analyzers of staticcheck and of go vet, in the versions that tools/go.mod names
	$(RARE_GC) $(GO) -C tools build -o ../bin/lint ./lint
	$(RARE_GC) bin/lint ./...
	$(RARE_GC) bin/lint .ci/results.go
	cd tools && $(RARE_GC) ../bin/lint ./...
	cd docs/example && $(RARE_GC) ../../bin/lint ./...

# The first time takes minutes: all dependencies are compiled for each system.
platforms: ## vet the code for the other systems that have releases
	GOOS=windows $(RARE_GC) $(GO) vet ./...
	GOOS=darwin $(RARE_GC) $(GO) vet ./...

tidy: ## fail if go mod tidy would change a file
	$(GO) mod tidy -diff
	$(GO) -C tools mod tidy -diff
	$(GO) -C docs/example mod tidy -diff

fresh: ## fail if make generate would change a file
	tools/fresh

generate: ## write all generated files
	$(GO) generate ./...
	$(GO) -C tools generate ./client
	$(GO) test ./suites/runner -count=1 -run TestChecksThatNeedWholeLists_long -args -update
	$(GO) test ./internal/doctest -count=1 -run TestGeneratedPartsAreFresh -args -update

build: ## build bin/outreach-conformance
	$(GO) build -trimpath -o bin/ ./cmd/outreach-conformance

# The settings of a release: an empty VERSION is that of the commit. ALLOW_DIRTY=1
# builds a working tree with changes.
VERSION     ?=
PLATFORMS   ?= all
ALLOW_DIRTY ?=
release: ## build a release into dist/: archives, images, lists of modules, checksums; VERSION=v1.2.3 PLATFORMS=host
	$(GO) -C tools run ./release -source .. -output ../dist -platforms '$(PLATFORMS)' -version '$(VERSION)' $(if $(ALLOW_DIRTY),-allow-dirty)

release-test: ## build a release for this machine twice, and check its files
	$(RARE_GC) $(GO) -C tools test -count=1 ./release

# The player of the frozen faults is built from the commit that tools/frozen/commit names.
FROZEN   ?= 0
SEED     ?= 1
PLAYER    = bin/player-$(shell cut -c1-12 tools/frozen/commit)
frozen: build $(PLAYER) ## run the program against the faults of an earlier, larger suite; FROZEN=500 draws a sample, SEED=2 another one
	$(GO) -C tools run ./frozen -player ../$(PLAYER) -program ../bin/outreach-conformance -sample $(FROZEN) -seed $(SEED)

$(PLAYER): tools/frozen/commit
	rm -rf bin/frozen && mkdir -p bin/frozen
	git archive $$(cat tools/frozen/commit) | tar -x -C bin/frozen
	$(GO) -C bin/frozen build -o ../../$(PLAYER) ./suites/selftest/player
	rm -rf bin/frozen

run: ## judge a target; ARGS='--target http://127.0.0.1:8025'
	$(GO) run ./cmd/outreach-conformance run $(ARGS)

load: ## load a target; ARGS='--scenario mixed --target http://127.0.0.1:8025'
	$(GO) run ./cmd/outreach-conformance load $(ARGS)

bench: ## run all benchmarks
	$(GO) test ./... -run '^$$' -bench . -benchmem

fuzz: ## run each fuzz target for FUZZTIME
	GO='$(GO)' tools/fuzz $(FUZZTIME)

list-started: # for CI
	@$(GO) list $(STARTED)

list-others: # for CI
	@$(OTHERS)
