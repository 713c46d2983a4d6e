# The commands of the project: `make` lists them. Besides Go they need bash, and some
# need git. Make exits with 2 whatever a command exits with: run the binary
# itself to see the exit code of a verdict.

GO         ?= go
# Build as the released program is built. Then Go compiles each package once, also
# for tests that build programs. The race detector needs cgo. Debuggers want DWARF:
# build what they are to show with go build.
SETTINGS           = -trimpath -gcflags=all=-dwarf=false -ldflags=-s
export CGO_ENABLED = 0
export GOFLAGS    := $(filter-out $(SETTINGS),$(shell $(GO) env GOFLAGS)) $(SETTINGS)

# Compilers, linters and tests allocate much and keep little. They compute less if the heap
# may grow to five times its live size before it is collected.
RARE_GC = GOGC=400
ARGS   ?=

# The packages to test, the one that takes longest first, and flags for go test.
PACKAGES  ?= ./cmd/... ./suites/runner ./...
TESTFLAGS ?=

# RACED packages share memory between goroutines. The race detector slows computation down
# tenfold and finds nothing in packages that only compute. One run of ./suites is enough for
# each change: make nightly has the detector watch those that judge many.
RACED ?= ./suites ./internal/client ./internal/judge ./internal/redact ./internal/sandbox \
	./fixtures/refserver/... ./loadtest/generate ./loadtest/inspect

# Tests that compute or wait for long have names that end in _long. Those of the command
# lines in the documents and of many runs take minutes, too. make nightly runs them. make fresh
# compares generated files, and make race runs TestConformance.
LONG = ^(TestDocuments|TestSteady|TestGeneratedPartsAreFresh|TestConformance)$$|_long$$

# Timeouts are for tests that hang. make lint vets.
TESTS = $(RARE_GC) $(GO) test -vet=off -timeout 20m $(TESTFLAGS)

.DEFAULT_GOAL := help
.PHONY: help build test race selftest ginkgo lint generate fresh check figures judged nightly fuzz release

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

build: ## build bin/outreach-conformance
	$(GO) build -trimpath -o bin/ ./cmd/outreach-conformance

# Tests that wait leave a core idle: 4 packages at a time.
test: ## run the tests; PACKAGES='./cmd/...' runs some
	@$(TESTS) -p 4 -skip '$(LONG)' $(PACKAGES)

# The libraries of others compile faster without inlining.
race: ## run the tests of concurrent packages with the race detector
	@CGO_ENABLED=1 $(TESTS) -race '-gcflags=all=-dwarf=false -l' -gcflags=std=-dwarf=false -gcflags=outreach.example/conformance/...=-dwarf=false \
		-skip '_long$$' $(RACED)

selftest: build ## prove that every check finds its defects and accepts legal behaviour
	bin/outreach-conformance selftest $(ARGS)

ginkgo: ## run the suites with the ginkgo command and each flag that the documents name
	tools/ginkgo-demo

lint: ## check the format, run the analyzers that tools/go.mod names, and go mod tidy
	@unformatted="$$(gofmt -l .)"; [ -z "$$unformatted" ] || { echo "gofmt would change: $$unformatted"; exit 1; }
	$(RARE_GC) $(GO) -C tools build -o ../bin/lint ./lint
	$(RARE_GC) bin/lint ./...
	$(RARE_GC) bin/lint .ci/results.go
	cd tools && $(RARE_GC) ../bin/lint ./...
	cd docs/example && $(RARE_GC) ../../bin/lint ./...
	$(GO) mod tidy -diff
	$(GO) -C tools mod tidy -diff
	$(GO) -C docs/example mod tidy -diff

generate: ## write all generated files
	$(GO) generate ./...
	$(GO) -C tools generate ./client
	$(GO) test ./suites/runner -count=1 -run TestChecksThatNeedWholeLists_long -args -update
	$(GO) test ./internal/doctest -count=1 -run TestGeneratedPartsAreFresh -args -update

fresh: ## fail if make generate would change a file
	tools/fresh

check: lint fresh test race selftest ginkgo ## run every check that a change must pass

figures: ## check the figures of load against the server's own record, on a quiet machine
	$(GO) test ./loadtest -run TestTruth -count=1 -v -timeout 40m -args -truth
	$(GO) test ./loadtest/swarm -run TestSharedLoad -count=1 -v -timeout 40m -args -slow

judged: ## judge traffic of 300 defects and all quirks, and verify 300 tampered and 20 honest bundles
	$(GO) test ./suites/selftest -count=1 -v -timeout 2h -run 'TestJudge(Defects|Quirks)$$' -judge 300 -judge-quirks 10
	$(GO) test ./suites/certify -count=1 -v -timeout 2h -run 'TestTampering|TestHonestBundles' -tampered 300 -honest 20

nightly: ## run what takes long: tools/nightly lists the steps; ARGS='hostile steady' runs some
	GO='$(GO)' tools/nightly $(ARGS)

FUZZTIME ?= 10s
fuzz: ## run each fuzz target for FUZZTIME
	GO='$(GO)' tools/fuzz $(FUZZTIME)

# The settings of a release: an empty VERSION is that of the commit. ALLOW_DIRTY=1
# builds a working tree with changes.
VERSION     ?=
PLATFORMS   ?= all
ALLOW_DIRTY ?=
release: ## build a release into dist/: archives, images, lists of modules, checksums; VERSION=v1.2.3 PLATFORMS=host
	$(GO) -C tools run ./release -source .. -output ../dist -platforms '$(PLATFORMS)' -version '$(VERSION)' $(if $(ALLOW_DIRTY),-allow-dirty)
