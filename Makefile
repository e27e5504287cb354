# Everything a newcomer needs: `make` to build it, `make demo` to see it, `make test` before sending a change.

CARGO ?= cargo
PYTHON ?= python3
PLIANT = target/release/pliant
OUT = out
FUZZ_SECONDS ?= 60

VENV = target/venv
PAGE = crates/pliant-viewer/page/dist/index.html
WITH_NODE = PYTHON=$(PYTHON) sh web/with-node.sh
export CHROMIUM ?= $(or $(shell command -v chromium || command -v chromium-browser || command -v google-chrome),/usr/bin/chromium)

.PHONY: build help demo reproduce page test test-rust test-python test-browser lint wheel bench bench-peers bench-python bench-viewer fuzz tools python-tools browser

build: page ## Build the viewer's page and the command, target/release/pliant
	$(CARGO) build --release --bin pliant

help: ## Say what there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## Build and simulate a scene: animation, pictures and plots under out/
	$(CARGO) build --release --quiet --bin pliant
	@mkdir -p $(OUT)
	@sh demo.sh $(PLIANT) $(OUT)

reproduce: ## Run all experiments of the papers again, and write docs/reproduction.md; takes about a quarter of an hour
	$(CARGO) build --release --quiet --bin pliant
	$(PLIANT) reproduce all -o $(OUT)/reproduce --summary docs

test: lint page test-rust test-browser test-python ## Format check, lints, all tests, documentation; what continuous integration runs

# The Python package is built along, so that what it has in common with the tests is built once. Benchmarks are compiled by the lints.
TESTS = --workspace --lib --bins --tests --examples
test-rust:
	$(CARGO) test $(TESTS) --quiet
	$(CARGO) test --workspace --doc --quiet
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --document-private-items --quiet

# The binary is the one that the tests of the command line use.
test-browser: page browser
	$(CARGO) test $(TESTS) --no-run --quiet
	PLIANT=$(CURDIR)/target/debug/pliant $(WITH_NODE) npm test --silent

page: $(PAGE) ## Build the page of `pliant view`; the next build of the command has it

$(PAGE): web/node_modules/.package-lock.json web/index.html web/vite.config.ts web/tsconfig.json $(shell find web/src web/public -type f)
	$(WITH_NODE) npm run --silent build -- --logLevel warn
	@touch $@

web/node_modules/.package-lock.json: web/package-lock.json | python-tools
	$(WITH_NODE) npm ci --silent --no-audit --no-fund
	@touch $@

# Installed as a user does it, but with the checks of a debug build.
test-python: $(VENV)/tests-installed
	$(VENV)/bin/pip install --quiet --force-reinstall --no-deps --config-settings=build-args="--profile dev" .
	$(VENV)/bin/python -m pytest --quiet

wheel: page $(VENV)/bin/python ## Build the Python package as a wheel, under target/wheels
	$(VENV)/bin/pip wheel --quiet --no-deps --wheel-dir target/wheels .
	@ls target/wheels/pliant-*.whl

$(VENV)/bin/python: | python-tools
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --upgrade pip

$(VENV)/tests-installed: crates/pliant-py/tests/requirements.txt | $(VENV)/bin/python
	$(VENV)/bin/pip install --quiet -r $<
	@touch $@

lint: tools python-tools web/node_modules/.package-lock.json ## Format checks and lints, warnings denied
	$(WITH_NODE) npm run --silent lint
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings

bench: ## Time the library; takes a few minutes
	$(CARGO) bench --workspace --exclude pliant-py

bench-peers: ## Time it beside PARDISO and MuJoCo, which are installed under target/; takes a few minutes
	$(PYTHON) crates/pliant/benches/peers/peers.py

bench-python: $(VENV)/tests-installed ## Time calls from Python beside the same from Rust
	$(VENV)/bin/pip install --quiet --force-reinstall --no-deps .
	$(VENV)/bin/python crates/pliant-py/benches/overhead.py

bench-viewer: build browser ## Time what someone who pulls in the browser sees; for the server alone see `make bench`
	PLIANT=$(CURDIR)/$(PLIANT) $(WITH_NODE) npm run --silent bench

fuzz: ## Fuzz every reader for FUZZ_SECONDS each; needs a nightly compiler
	$(CARGO) fuzz --version >/dev/null 2>&1 || $(CARGO) install cargo-fuzz
	@set -e; for target in $$($(CARGO) fuzz list); do \
		echo "== $$target"; \
		$(CARGO) fuzz run $$target -- -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -rss_limit_mb=1024 -timeout=10; \
	done

# Parts of the Rust toolchain that a minimal installation lacks.
tools:
	@$(CARGO) fmt --version >/dev/null 2>&1 || rustup component add rustfmt
	@$(CARGO) clippy --version >/dev/null 2>&1 || rustup component add clippy

# A browser for its tests.
browser:
	@[ -x "$(CHROMIUM)" ] || { $(call install,chromium) ; } >&2

# Python with what makes virtual environments, which Debian has in a package of its own.
python-tools:
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { $(call install,python3-venv) ; } >&2

# A package of Debian or Ubuntu; lists of packages are fetched if they are needed.
install = echo "installing $(1)"; \
	sudo=$$([ "$$(id -u)" = 0 ] || echo sudo); \
	$$sudo apt-get install -y -qq $(1) || { $$sudo apt-get update -qq && $$sudo apt-get install -y -qq $(1); }
