# Each module is judged by its own go.mod, whatever go.work lies above.
export GOWORK := off
# Servers that tests start live in sbin, which an ordinary user's PATH may lack.
export PATH := $(PATH):/usr/sbin:/sbin

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS   += --no-builtin-rules --no-print-directory

GO ?= go
# How long make fuzz tries each target.
FUZZTIME ?= 30s
# How many seeds make sim plays.
SEEDS ?= 5000
# Arguments of the programs behind make bench and make bench-peers.
BENCH ?=

# An importer of Weir inherits no other module: linters and generators in tools/, rivals in bench/, frameworks, h2spec.
MODULES := . tools $(if $(wildcard bench/go.mod),bench) examples/frameworks internal/h2conform
SCRIPTS := .ci/run $(wildcard scripts/*)
tool     = $(GO) tool -modfile=$(CURDIR)/tools/go.mod

.DEFAULT_GOAL := help
.PHONY: help build run setup test test-traefik lint fmt generate generate-check bench bench-peers budget pgo chaos fuzz soak sim

help: ## list what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build bin/weir
	$(GO) build -o bin/weir ./cmd/weir

run: ## serve a sample policy, and say what to try; needs only Go
	$(GO) run ./cmd/weir serve

setup: ## install what the tests need, or say what to install
	@scripts/setup

# -buildvcs=false: git refuses to describe a checkout that another user owns.
test: setup ## run every test of every module, with the race detector
	CGO_ENABLED=1 $(GO) test -race -timeout 15m ./...
	$(GO) test -run Allocat ./... # what the race detector's own allocations would hide
	cd internal/chaos && $(GO) test -count 1 -timeout 10m # every fault for some seconds, by itself: it measures; without a package it is not silent
	@for m in $(filter-out .,$(MODULES)); do ( set -x; cd $$m; \
		$(GO) build -buildvcs=false -o /dev/null ./... && $(GO) vet ./... && $(GO) test -timeout 5m ./... \
	); done
	@echo "test: ok ($(MODULES:.=weir))"

lint: generate-check ## check format, vet, staticcheck, errcheck and shell syntax
	@for f in $(SCRIPTS); do bash -n "$$f"; done
	@unformatted=$$($(tool) gofumpt -l .); \
	if [ -n "$$unformatted" ]; then \
		echo "lint: not formatted, run make fmt:"; echo "$$unformatted"; exit 1; \
	fi
	@for m in $(MODULES); do ( set -x; cd $$m; \
		$(GO) vet ./... && \
		$(tool) staticcheck ./... && \
		$(tool) errcheck -exclude $(CURDIR)/tools/errcheck.txt ./... \
	); done
	@echo "lint: ok ($(MODULES:.=weir))"

fmt: ## format all Go files
	$(tool) gofumpt -w .

generate: ## generate Go from the .proto files
	cd tools && $(GO) run ./protogen -go $(GO) ../api

generate-check: ## check that generated Go is what its sources give
	cd tools && $(GO) run ./protogen -check -go $(GO) ../api

bench: setup ## compare with other Go libraries, memory, middleware and Redis, in one interleaved run
	cd bench && $(GO) run ./cmd/compare $(BENCH)

# The peer is a module of its own, in no list above: it takes minutes to build the first time.
bench-peers: setup build ## build envoyproxy/ratelimit and measure Weir beside it, for docs/benchmarks.md; BENCH="-quick" for a look
	cd bench/peers && $(GO) build -buildvcs=false -o ../../bin/ratelimit github.com/envoyproxy/ratelimit/src/service_cmd
	cd bench && $(GO) build -buildvcs=false -o ../bin/bench-peers ./cmd/peers
	cd bench && ../bin/bench-peers $(BENCH)

pgo: setup ## profile the server at its usual work, for the compiler: cmd/weir/default.pgo
	GO="$(GO)" scripts/pgo

budget: setup ## what one decision costs, part by part, as docs/performance.md tells it
	GO="$(GO)" scripts/budget

test-traefik: setup ## build Traefik, which takes minutes, and test examples/traefik with it
	scripts/traefik
	WEIR_TRAEFIK=$(CURDIR)/bin/traefik $(GO) test -count 1 -tags traefik -run '^TestTraefik$$' -v ./internal/gatewaytest

chaos: setup ## break Redis under load in every way, for long, and write docs/reliability.md
	WEIR_CHAOS=long WEIR_CHAOS_REPORT=$(CURDIR)/docs/reliability.md \
		$(GO) test -count 1 -timeout 60m -run '^TestChaos$$' -v ./internal/chaos

fuzz: setup ## fuzz every target, FUZZTIME (30s) each
	@pkgs=$$($(GO) list ./...); \
	for pkg in $$pkgs; do \
		list=$$($(GO) test -list '^Fuzz' "$$pkg"); \
		for target in $$(grep '^Fuzz' <<<"$$list"); do \
			( set -x; $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x "$$pkg" ); \
		done; \
	done
	@echo "fuzz: ok"

sim: ## play SEEDS (5000) seeds of the simulator
	$(GO) test -count 1 -timeout 60m -run '^TestSeeds$$' -v ./internal/sim -seeds $(SEEDS)

soak: setup ## run the end-to-end tests for longer: 200 restarts under load
	WEIR_SOAK=1 $(GO) test -count 1 -timeout 30m -v ./internal/e2e
