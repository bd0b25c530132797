# Everything is installed by package name with the machine's own package managers.

SHELL    := /bin/bash
.SHELLFLAGS := -o pipefail -c
GO       ?= go
VERSION  := $(shell git describe --always --dirty 2>/dev/null || echo unknown)
LDFLAGS  := -s -w -X github.com/brokermark/brokermark/internal/cli.Version=$(VERSION)
GOFUMPT  := mvdan.cc/gofumpt@v0.12.0
VULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.1.4
STATIC   := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOTESTSUM := gotest.tools/gotestsum@v1.13.0
# Tests that measure have the machine for themselves, one package at a time (in a package, t.Parallel marks those that
# judge no time: they begin when the others have ended); those that wait for brokers, browsers
# and databases run several at a time. What time decides may fail because a neighbour held the processor: a test that
# fails runs again, twice at most, and fails when it never passes; whole, since parts of a contract build on each other.
# A data race is never a matter of luck: it fails at once.
MEASURING := ./internal/clock ./internal/lab ./internal/schedule ./internal/worker ./brokers/sim
CONCURRENT := $(MEASURING) ./internal/agent ./internal/driver/... ./internal/fleet ./internal/hist ./internal/measure ./internal/provision ./internal/watch
# Those that take longest begin first, so that none of them is left to run alone at the end.
LONGEST := ./brokers/kafka ./brokers/rabbitmq ./brokers/pulsar ./brokers/redis ./internal/cli ./brokers/artemis ./brokers/activemq ./internal/page
TESTFLAGS ?= -vet off -count 1 -timeout 15m
BESIDE   := $(GO) run $(GOTESTSUM) --format pkgname --rerun-fails=1 --rerun-fails-run-root-test --rerun-fails-max-failures=8
PAIRED    = $(GO) run $(GOTESTSUM) --format pkgname --rerun-fails=2 --rerun-fails-abort-on-data-race --rerun-fails-run-root-test --rerun-fails-max-failures=20 --packages "$(1)" -- $(TESTFLAGS) -p $(2) -parallel 3
ALONE     = $(call PAIRED,$(1),1)
# Pure functions of one goroutine: nothing there can race.
PURE     := ./internal/schedule

# Decoders of bytes that somebody else wrote, each fuzzed for so long in make proof; make test runs their seeds.
DECODERS := internal/wire:FuzzRead internal/study:FuzzParse internal/hist:FuzzUnmarshal internal/store:FuzzRecordsOfAFile internal/secret:FuzzNoPasswordOfAURLIsShown \
	internal/measure:FuzzUnpack internal/measure:FuzzJoin internal/exchange:FuzzFromOMB internal/published:FuzzTable internal/provision:FuzzState \
	internal/pipeline/server:FuzzAPlainRequestIsWhatNetHTTPReads internal/pipeline/load:FuzzAPlainResponseIsWhatNetHTTPReads \
	internal/pipeline/ride:FuzzAMessageThatIsNoRideIsAnError internal/pipeline/ride:FuzzABodyMeansWhatJSONSaysItDoes internal/pipeline/ride:FuzzAMessageMeansWhatJSONSaysItDoes \
	brokers/redis:FuzzReply brokers/jetstream:FuzzAnAcknowledgementMeansWhatJSONSaysItDoes brokers/internal/natsio:FuzzMonitoringPage brokers/rabbitmq:FuzzManagementAnswer \
	brokers/rabbitmq-stream:FuzzGreeting brokers/pulsar:FuzzAdministrationAnswer brokers/artemis:FuzzAttribute \
	internal/study:FuzzPayloads internal/claim:FuzzClaims brokers/internal/jvm:FuzzSchema internal/provision:FuzzSocketTable internal/cli:FuzzImportedFile
FUZZTIME ?= 10m

SHA256   := $(shell command -v sha256sum || echo shasum -a 256)
PAGE     := web/dist/sources.sha256

.PHONY: build web notices demo test proof race lint cross verify vulnerable release site bench clean

build: web ## one static binary in bin/
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/brokermark ./cmd/brokermark

web: $(PAGE) ## the front end of the HTML report; what is built is committed (decision 019)

$(PAGE): $(wildcard web/src/*) web/package.json web/package-lock.json
	@if command -v npm >/dev/null; then set -e; cd web; \
	test node_modules/.package-lock.json -nt package-lock.json || { npm ci --no-audit --no-fund; touch node_modules/.package-lock.json; }; \
	npm run --silent check; npm run --silent build; $(SHA256) src/* package.json package-lock.json >dist/sources.sha256; \
	else echo 'npm is not installed, so the front end stays as it was committed (apt-get install npm)' >&2; fi

notices: web ## the licences of everything in the program, for brokermark version --licenses
	$(GO) generate ./internal/notices

demo: build ## a head-to-head of Kafka, RabbitMQ, NATS and JetStream, about ten minutes after installs
	bin/brokermark run head-to-head --available --store demo.db >/dev/null || test $$? -eq 4 -o $$? -eq 5 # a point failed or is void: the report says which
	@bin/brokermark report headtohead --store demo.db
	@bin/brokermark report --store demo.db -o demo.html && echo "The whole report: $(CURDIR)/demo.html"

test: web ## the whole test ladder; the tests install and start the real brokers themselves
	$(call ALONE,$(MEASURING))
	$(BESIDE) --packages "$(LONGEST) $$($(GO) list ./... | grep -vxFf <($(GO) list $(MEASURING) $(LONGEST)) | tr '\n' ' ')" -- $(TESTFLAGS) -p 4

proof: web ## what takes long, too: older versions, clusters of JVMs, every guarantee on every number of nodes
	BROKERMARK_LONG=1 $(call ALONE,$(MEASURING)) -run 'Capacity|Hiccups|Poisson|LittleLoss|LongLatency|SeveralBounds|Soaked|StillWarmsUp|TheirOwnProcess|OverRabbitMQ|RelaysAreKilled|StoodStill|EveryKindOfMeasurement'
	BROKERMARK_LONG=1 $(GO) test $(TESTFLAGS) -timeout 60m -p 1 ./brokers/...
	BROKERMARK_LONG=1 $(GO) test $(TESTFLAGS) -timeout 30m ./internal/cli -run 'NothingIsLeftHowever|OnePointOfEach|ThoughPartsDie|NoSpecMakes'
	BROKERMARK_LONG=1 $(GO) test $(TESTFLAGS) -timeout 60m ./internal/cli -v -run 'AThousandRandomEndings' | grep -v '^ *=== '
	BROKERMARK_LONG=1 $(GO) test $(TESTFLAGS) -timeout 25m ./internal/cli -parallel 8 -v -run 'NoMomentToDie|InNamespaces|AnyNumberOfAgents|ALostAgent|WithoutItsMeter' | grep -v '^ *=== '
	BROKERMARK_LONG=1 $(GO) test $(TESTFLAGS) -p 1 ./internal/fleet ./internal/measure -v -run 'WhatCoordinatingCosts|CrossesTheControlChannel|JoinsInLittleMemory|AnySplitCounts|ADayOfMessages' | grep -v '^ *=== '
	BROKERMARK_LONG=1 $(GO) test $(TESTFLAGS) -timeout 15m . -run 'TheSite|WhoFollows'
	set -e; for at in $(DECODERS); do $(GO) test -run '^$$' -fuzz "^$${at#*:}$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 2s ./$${at%:*}; done

race: web ## what runs in several goroutines, under the race detector, without what takes long; no figure is judged, so two packages run beside each other
	$(GO) build -race $(CONCURRENT)
	$(call PAIRED,$(filter-out $(PURE),$(CONCURRENT)),2) -race -short

lint: web
	test -z "$$($(GO) run $(GOFUMPT) -l . | tee /dev/stderr)"
	$(GO) vet ./...
	$(GO) run $(STATIC) ./...

release: web ## archives, packages, images, bills of materials and checksums in dist/, the same bytes for the same commit
	packaging/release.sh
	packaging/check.sh

vulnerable: ## known vulnerabilities in what the program calls; asks a database on the network
	$(GO) run $(VULNCHECK) ./cmd/brokermark

verify: ## the modules are those that go.sum names
	$(GO) mod verify

site: build ## the documentation as a static site in site/public
	site/build.sh bin/brokermark

cross: ## what another system or processor would refuse to compile; make release builds the whole program for each
	GOOS=darwin GOARCH=arm64 $(GO) vet ./internal/clock ./internal/provision ./internal/worker ./internal/agent ./internal/driver/... ./brokers/sim
	GOOS=linux GOARCH=arm64 $(GO) vet ./internal/clock/... ./internal/provision/... ./brokers/sim/...
	$(GO) test -vet off -tags portable ./internal/clock

bench: build ## paired speed comparisons; brings the brokers up itself
	$(GO) run ./bench

clean:
	rm -rf bin dist site/public site/static web/node_modules
