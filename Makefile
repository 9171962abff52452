# Every command of a developer; .ci/run calls the same names. `make` alone lists them.
PYTHON ?= python3
CARGO ?= cargo
CONTRACT := .venv/contract
PEERS := .venv/peers
BINARY = $(or $(CARGO_TARGET_DIR),target)/release/tensorcask
export TENSORCASK_BIN ?= $(abspath $(BINARY))

.DEFAULT_GOAL := help
.PHONY: help check test test-peers test-all rust-test build contract peers bless corpus fuzz bench

help: ## list of the tasks
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

check: ## fmt, clippy, deny where it is installed, docs; run it before each commit
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	@if $(CARGO) deny --version >/dev/null 2>&1; then $(CARGO) deny check licenses bans sources; else echo "cargo-deny is not installed: licences are not checked"; fi
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --quiet

test: rust-test contract ## Rust tests, then the contract tests against the release binary

test-peers: build peers ## differential tests against the reference libraries, with real files (about 130 MB of downloads, once)

test-all: test test-peers ## test, test-peers and the slow Rust tests
	$(CARGO) test --workspace -- --ignored

rust-test:
	$(CARGO) test --workspace

build:
	$(CARGO) build --release --workspace

contract: build $(CONTRACT)/.stamp
	$(CONTRACT)/bin/python -m pytest tests/contract

peers: $(PEERS)/.stamp
	$(PEERS)/bin/python corpus/fetch.py st-silero-vad-16k st-wordllama-256 hf-rxnmapper hf-minilm
	$(PEERS)/bin/python -m pytest tests/peers

bless: ## rewrite the expectations that tests keep in files; read the diff
	TENSORCASK_BLESS=1 TRYCMD=overwrite $(CARGO) test --workspace
	@git --no-pager diff --stat

# A maker is corpus/make/NAME.py; each empties and refills its own folder.
F ?= $(basename $(notdir $(filter-out %/case.py %/recipe.py,$(wildcard corpus/make/*.py))))
corpus: $(PEERS)/.stamp ## rebuild the corpus with the peer libraries: all, or F=safetensors
	@set -e; for maker in $(F); do echo "corpus/make/$$maker.py"; $(PEERS)/bin/python -m corpus.make.$$maker; done

# The seeds come from corpus/. The parsers have no unsafe code, so the address sanitizer would only slow them down.
NIGHTLY ?= nightly
SECONDS_EACH ?= 600
fuzz: ## ten minutes of one fuzz target: T=safetensors (needs a nightly toolchain and cargo-fuzz)
	@test -n "$(T)" || { echo "name a target: make fuzz T=safetensors"; ls fuzz/fuzz_targets | sed 's/\.rs$$//'; exit 2; }
	fuzz/seed.sh
	cd fuzz && $(CARGO) +$(NIGHTLY) fuzz run --sanitizer none $(T) corpus/$(T) -- -max_total_time=$(SECONDS_EACH) -max_len=8192 -timeout=10

bench: build $(PEERS)/.stamp ## ratios against peers, measured in one run: all rows, or ROWS="hash57 names-rust" (needs b3sum)
	$(CARGO) build --release --workspace --examples
	$(CARGO) build --release --manifest-path benches/peer-rs/Cargo.toml --target-dir $(or $(CARGO_TARGET_DIR),target)/peer-rs
	$(PEERS)/bin/python benches/run.py $(ROWS)

# The stamp is newer than the list of packages, or the environment is made again.
$(CONTRACT)/.stamp: tests/contract/requirements.txt
$(PEERS)/.stamp: corpus/make/requirements.txt
$(CONTRACT)/.stamp $(PEERS)/.stamp:
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv --clear $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@
