# Everything is installed by package name with the machine's own package managers.

GO       ?= go
VERSION  := $(shell git describe --always --dirty 2>/dev/null || echo unknown)
LDFLAGS  := -s -w -X github.com/brokermark/brokermark/internal/cli.Version=$(VERSION)
GOFUMPT  := mvdan.cc/gofumpt@v0.12.0
STATIC   := honnef.co/go/tools/cmd/staticcheck@v0.8.2
# Tests that measure share two cores with the brokers they measure: one package at a time.
TESTFLAGS ?= -p 1 -count 1 -timeout 15m

.PHONY: build demo test race lint bench clean

build: ## one static binary in bin/
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/brokermark ./cmd/brokermark

demo: build ## a head-to-head of Kafka, RabbitMQ, NATS and JetStream, at most six minutes after installs
	bin/brokermark run head-to-head --available --store demo.db

test: ## the whole test ladder; the tests install and start the real brokers themselves
	$(GO) test $(TESTFLAGS) ./...

race: ## the same under the race detector, without what takes long
	$(GO) test -race -short $(TESTFLAGS) ./...

lint:
	test -z "$$($(GO) run $(GOFUMPT) -l . | tee /dev/stderr)"
	$(GO) vet ./...
	$(GO) run $(STATIC) ./...

bench: build ## paired speed comparisons; brings the brokers up itself
	$(GO) run ./bench

clean:
	rm -rf bin
