# Run `make help` for what each target does.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VERSION     ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
STATICCHECK := staticcheck-v0.8.2
PACKAGES    ?= ./...
FUZZTIME    ?= 20s
RUNS        ?= 20
MODEL_RUNS  ?= 10000
SEEDS       ?= 20
API_FUZZ    ?= 50
ARGS        ?=

##@ Use

demo: setup build ## Start a gateway with two partners, send real messages, show each answer
	bin/edigw demo $(ARGS)

run: setup build ## Start the gateway (ARGS='--data-dir ...')
	bin/edigw serve $(ARGS)

build: ## Build bin/edigw, one static program
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/edigw ./cmd/edigw

.PHONY: dist dist-check image
dist: ## Pack what is handed out into bin/dist: static program, unit, rules, dashboard, checksum
	@deploy/dist $(VERSION)

image: ## Build a container image with buildah, podman or docker (TARGET=embedded for the one with PostgreSQL)
	@deploy/image $(VERSION)

dist-check: ## Compile what is handed out twice, from nothing, and compare the bytes
	go test -count=1 -timeout 0 -v -run '^TestDist$$' ./deploy -dist

setup: ## Install the PostgreSQL binaries if there are none
	@deploy/postgresql

##@ Develop

checker:
	@deploy/spin

xmlsec:
	@deploy/xmlsec

phive:
	@deploy/phive

.PHONY: rules
rules:
	@deploy/promtool
	@deploy/linters

test: setup checker xmlsec phive rules ## Run every test (PACKAGES=./dedup for some)
	go test $(PACKAGES)

verify: setup bin/$(STATICCHECK) ## Check format, vet, staticcheck, go.mod, arrows, table owners, schema.sql
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "run gofmt -w on:"; echo "$$unformatted"; exit 1; fi
	go mod tidy -diff
	go vet ./...
	bin/$(STATICCHECK) ./...
	go test -count=1 .
	go test -count=1 -run '^TestSchemaIsFresh$$' ./migrations

# Built for itself: `verify` may run with flags, such as -race, that are for us.
bin/$(STATICCHECK):
	@mkdir -p bin
	GOFLAGS= CGO_ENABLED=0 GOBIN=$(CURDIR)/bin go install honnef.co/go/tools/cmd/staticcheck@$(patsubst staticcheck-%,%,$(STATICCHECK))
	@mv bin/staticcheck $@

schema: setup ## Write migrations/schema.sql anew after a migration
	go test -count=1 -run '^TestSchemaIsFresh$$' ./migrations -write

fuzz: xmlsec ## Run each fuzz target for FUZZTIME
	@grep -rHoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' . | sort | while IFS=: read -r file target; do \
		echo "$${target#func } in $$(dirname $$file)"; \
		go test -run '^$$' -fuzz "^$${target#func }$$" -fuzztime $(FUZZTIME) "$$(dirname $$file)"; \
	done

model: setup ## Run MODEL_RUNS random histories through Receive and through its model
	EDIGW_MODEL_RUNS=$(MODEL_RUNS) go test -count=1 -timeout 0 -v -run '^TestModel$$' ./gateway

promela: checker ## Search every state of the model of receiving, and plant each mutation in it
	go test -count=1 -v ./model | grep -v '^=== '

crash: setup ## Kill the program, cut its connections, stop its database: each case RUNS times
	go test -count=1 -timeout 0 -v ./crash -runs $(RUNS) | grep -vE '^=== |^ *--- PASS'

import-keys: setup ## Import a million keys, kill client and gateway in its middle, then send what was imported
	go test -count=1 -timeout 0 -v -run '^TestImport$$' ./crash -keys 1000000 | grep -vE '^=== |^ *--- PASS'

torture: setup ## SEEDS runs in which everything fails at once, then every invariant checked
	go run ./torture -seeds $(SEEDS) $(ARGS)

torture-planted: setup ## Plant each bug of torture/planted in turn: the checker has to find it
	go run ./torture -planted all $(ARGS)

api-fuzz: setup ## Hold the API against its document with schemathesis, API_FUZZ requests made up for each operation
	@deploy/schemathesis
	go test -count=1 -timeout 0 -v -run '^TestTheDocumentAgainstSchemathesis$$' ./cmd/edigw -api-fuzz $(API_FUZZ)

interop-edi: ## Have other people's EDI parsers read what ours reads, and say who is right
	go run ./bench/interop $(ARGS)

interop-as2: setup ## pyas2lib, phase2, OpenAS2 and libas2 send to us and we to them, in every combination that partners use (ARGS=-peers-only: they to each other)
	go run ./bench/as2 $(ARGS)

interop-cms: ## Have Bouncy Castle and package cms open what the other made, of every algorithm
	go run ./bench/cms -interop -peers bin/peers

interop-as4: setup ## phase4, an AS4 library for Java, sends to us and we to it, in every combination that partners use (ARGS=-peers-only: phase4 with itself)
	go run ./bench/as4 $(ARGS)

interop: setup ## What every change has to pass of the three: few combinations of interop-as2 and interop-as4, all of interop-cms
	go run ./bench/as2 -short
	go run ./bench/as4 -short
	go run ./bench/cms -interop -peers bin/peers

outgoing: setup ## Kafka, a webhook receiver, a mail server and two gateways, each killed while events go out (ARGS='-events 20000')
	go run ./bench/outgoing -dir bin/peers $(ARGS)

##@ Measure

bench: setup ## Lexer, receive rates as ratios to the database's own limit, a partner's storm (ARGS='-seconds 1 -rounds 1')
	go test -run '^$$' -bench '^BenchmarkRatios$$' ./edi ./edifact
	go run ./bench/receive $(ARGS)

bench-syntax: ## Lexing, reading, validating and mapping in MB/s of one core, beside bounds and other parsers
	go run ./bench/syntax -peers bin/peers $(ARGS)

bench-as4: setup ## How fast AS4 is received, signed, encrypted and compressed, as a share of the most there can be, and beside phase4's servlet (ARGS='-rounds 1')
	go run ./bench/as4 -rate $(ARGS)

bench-as2: setup ## How fast AS2 is received, signed and encrypted, as a share of the most there can be, and beside the receivers of phase2 and pyas2lib (ARGS='-rounds 1')
	go run ./bench/as2 -rate $(ARGS)

bench-cms: ## Decrypting and verifying CMS beside openssl, 100 MB each: CPU time and memory (ARGS='-mb 8 -rounds 1')
	go run ./bench/cms $(ARGS)

bench-outgoing: setup ## Events a second to Apache Kafka as a ratio to a bare producer, and receiving with relays on as a ratio to without
	go run ./bench/outgoing -what rate,receive -dir bin/peers $(ARGS)

bench-keys: setup ## Receive rate at 10 M keys as a ratio to that of an empty inbox (ARGS='-keys 1000000'): minutes, and 15 GB of disk
	go run ./bench/receive -what keys $(ARGS)

year: setup ## Live a whole year of retention in minutes: every invariant each day, and docs/explanation/year.svg, which shows that nothing grows without end
	go test -count=1 -timeout 0 -v -run '^TestYear$$' ./gateway -year-plot $(CURDIR)/docs/explanation/year.svg

bench-purge: setup ## Purge a million keys and two months of all that is kept while receiving: the rate as a ratio to that without, and what went against what was foreseen, to the row (ARGS='-keys 20000 -seconds 1')
	go run ./bench/receive -what purge -keys 1000000 $(ARGS)

big: setup ## 1 GiB of small invoices through inspect and POST, with the gateway's peak memory
	go run ./bench/big $(ARGS)

big-as4: setup ## 1 GiB of small invoices over AS4, signed and encrypted, with the gateway's peak memory; and a byte more than is taken
	go run ./bench/big -as4 $(ARGS)

big-invoices: setup ## One interchange of 10,000 invoices, of a few lines and of twenty: one transaction, and the gateway's peak memory
	go run ./bench/big -invoices 10000 $(ARGS)

help: ## Show this list
	@awk -F ':.*## ' \
		'/^##@/ { printf "\n%s\n", substr($$0, 5) } \
		 /^[a-z0-9-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: year bench-purge demo run build setup checker xmlsec phive test verify schema fuzz model promela crash import-keys torture torture-planted api-fuzz interop interop-edi interop-as4 outgoing bench bench-syntax bench-cms bench-outgoing bench-keys big big-as4 big-invoices interop-as2 interop-cms bench-as4 bench-as2 help
