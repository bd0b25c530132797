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
# Tests that judge time have the machine for themselves, one package at a time (in a package, t.Parallel marks those that judge none:
# they begin when the others have ended). Those that wait for brokers and other processes run several at a time; those that take longest
# begin first. A neighbour that held the processor may fail both, so a test that fails runs again, twice at most, and is reported at the
# end; whole, since parts of a contract build on each other. All others run once, and collect garbage less often: that took a quarter of
# their processor time. A data race fails at once.
MEASURING := ./internal/busiest ./internal/clock ./internal/lab ./internal/schedule ./internal/worker ./brokers/sim
CONCURRENT := $(filter-out ./internal/busiest,$(MEASURING)) ./internal/agent ./internal/driver/... ./internal/fleet ./internal/hist ./internal/measure ./internal/provision ./internal/watch
LONGEST  := ./internal/cli ./brokers/kafka ./brokers/rabbitmq ./brokers/jetstream ./internal/fleet ./internal/page ./brokers/pulsar ./brokers/redis \
	./brokers/rabbitmq-stream ./brokers/mosquitto ./brokers/artemis ./brokers/rocketmq ./internal/store ./internal/provision
SLOWEST  := ./reports ./internal/search ./internal/driver/drivertest ./internal/claim
WAITING   = $(LONGEST) $$($(GO) list ./brokers/... ./internal/{agent,exchange,fleet,pipeline/...,provision,store/...,watch} | grep -vxFf <($(GO) list $(MEASURING) $(LONGEST)) | tr '\n' ' ')
PLAIN     = $(SLOWEST) $$($(GO) list ./... | grep -vxFf <($(GO) list $(MEASURING) $(WAITING) $(SLOWEST)) | tr '\n' ' ')
TESTFLAGS ?= -vet off -count 1 -timeout 15m
# $(call TESTS,NAME,PACKAGES,FLAGS OF GOTESTSUM) writes what happened to bin/tests-NAME.json, which LADDER sums up: see internal/testkit/ladder.
TESTS     = mkdir -p bin; $(GO) run $(GOTESTSUM) --format pkgname --jsonfile bin/tests-$(1).json $(3) --packages "$(2)" -- $(TESTFLAGS)
AGAIN    := --rerun-fails=2 --rerun-fails-abort-on-data-race --rerun-fails-run-root-test --rerun-fails-max-failures=20
LADDER    = $(GO) run ./internal/testkit/ladder
# Pure functions of one goroutine: nothing there can race.
PURE     := ./internal/schedule

FUZZTIME ?= 1m

SHA256   := $(shell command -v sha256sum || echo shasum -a 256)
PAGE     := web/dist/sources.sha256

.PHONY: build web notices demo quick test proof race lint cross verify vulnerable release site bench clean

build: web ## one static binary in bin/
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/brokermark ./cmd/brokermark

web: $(PAGE) ## the front end of the HTML report; what is built is committed (decision 019)

$(PAGE): $(wildcard web/src/*) web/package.json web/package-lock.json
	@if command -v npm >/dev/null; then set -e; cd web; \
	test node_modules/.package-lock.json -nt package-lock.json || { npm ci --ignore-scripts --no-audit --no-fund; touch node_modules/.package-lock.json; }; \
	npm run --silent check; npm run --silent build; $(SHA256) src/* package.json package-lock.json >dist/sources.sha256; \
	else echo 'npm is not installed, so the front end stays as it was committed (apt-get install npm)' >&2; fi

notices: web ## the licences of everything in the program, for brokermark version --licenses
	$(GO) generate ./internal/notices

demo: build ## a head-to-head of Kafka, RabbitMQ, NATS and JetStream, some twenty minutes after installs
	bin/brokermark run head-to-head --available --store demo.db >/dev/null || test $$? -eq 4 -o $$? -eq 5 # a point failed or is void: the report says which
	@bin/brokermark report headtohead --store demo.db
	@bin/brokermark report --store demo.db -o demo.html && echo "The whole report: $(CURDIR)/demo.html"

quick: ## no broker, no network, nothing installed: for every change
	$(GO) test -vet off -short -p 4 $$($(GO) list ./... | grep -vxFf <($(GO) list $(MEASURING) ./internal/fleet ./internal/cli))

test: export BROKERMARK_LIVE = 1
test: web ## the whole test ladder; the tests install and start the real brokers themselves
	$(call TESTS,measuring,$(MEASURING),$(AGAIN)) -p 1 -parallel 3; one=$$?; \
	$(call TESTS,waiting,$(WAITING),$(AGAIN)) -p 4; two=$$?; \
	export GOGC=400; $(call TESTS,plain,$(PLAIN)) -p 4; three=$$?; \
	$(LADDER) bin/tests-{measuring,waiting,plain}.json && exit $$((one + two + three))

proof: export BROKERMARK_LIVE = 1
proof: export BROKERMARK_LONG = 1
proof: web ## all that takes long, too: older versions, clusters of JVMs, random endings, fuzzing, and what else is made here
	$(call TESTS,measuring,$(MEASURING),$(AGAIN)) -timeout 60m -p 1 -parallel 3; one=$$?; \
	$(call TESTS,waiting,$(WAITING),$(AGAIN)) -timeout 150m -p 3; two=$$?; \
	$(call TESTS,plain,$(PLAIN)) -timeout 60m -p 4; three=$$?; \
	$(LADDER) bin/tests-{measuring,waiting,plain}.json && exit $$((one + two + three))
	set -e; for package in $$($(GO) list ./...); do for target in $$($(GO) test -vet off -list '^Fuzz' $$package | grep '^Fuzz'); do \
	$(GO) test -vet off -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 2s $$package; done; done
	$(MAKE) demo notices site release bench clean
	$(MAKE) vulnerable

race: web ## what runs in several goroutines, under the race detector, without what takes long; no figure is judged, so packages run beside each other
	$(GO) build -race $(CONCURRENT)
	$(call TESTS,race,$(filter-out $(PURE),$(CONCURRENT)),$(AGAIN)) -p 3 -parallel 4 -race -short; one=$$?; \
	$(LADDER) bin/tests-race.json && exit $$one

lint: export GOGC = 400
lint: web
	test -z "$$($(GO) run $(GOFUMPT) -l . | tee /dev/stderr)"
	$(GO) vet ./...
	$(GO) run $(STATIC) ./...

release: web ## archives, packages, images, bills of materials and checksums in dist/, the same bytes for the same commit
	SIGN=$(SIGN) packaging/release.sh
	packaging/check.sh

# No change here brings back a database that is away: with AWAY=pass, as in CI, that is a line at the end. Everything else fails.
vulnerable: ## known vulnerabilities in what the linker leaves in the program; asks a database on the network
	@$(GO) build -o bin/vulnerable ./cmd/brokermark
	@$(GO) run $(VULNCHECK) -mode binary bin/vulnerable 2>&1 | tee bin/vulnerable.txt || \
	{ test '$(AWAY)' = pass && grep -q '^govulncheck: fetching vulnerabilities: ' bin/vulnerable.txt && \
	echo 'NOT CHECKED for known vulnerabilities: their database is away'; }

verify: ## the modules are those that go.sum names, and the front end that is committed is what its sources give, byte for byte
	$(GO) mod verify
	@command -v npm >/dev/null || { echo 'npm is not installed, so the front end cannot be built (apt-get install npm)' >&2; exit 1; }
	rm -f web/dist/sources.sha256 && $(MAKE) web
	@changed=$$(git status --porcelain -- web/dist); test -z "$$changed" || { echo "not what web/ gives: $$changed" >&2; exit 1; }

site: build ## the documentation as a static site in site/public
	site/build.sh bin/brokermark

cross: ## what another system or processor would refuse to compile; make release builds the whole program for each
	GOOS=darwin GOARCH=arm64 $(GO) vet ./internal/clock ./internal/provision ./internal/worker ./internal/agent ./internal/driver/... ./brokers/sim
	GOOS=linux GOARCH=arm64 $(GO) vet ./internal/clock/... ./internal/provision/... ./brokers/sim/...
	$(GO) test -vet off -tags portable ./internal/clock
	$(GO) test -vet off -tags portable -run ThroughALink ./internal/provision

bench: build ## paired speed comparisons; brings the brokers up itself
	$(GO) run ./bench

clean:
	rm -rf bin dist site/public site/static web/node_modules
