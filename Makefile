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

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## Build and simulate a scene: animation, pictures and plots under out/
	$(CARGO) build --release --quiet --bin pliant
	@mkdir -p $(OUT)
	@sh demo.sh $(PLIANT) $(OUT)

reproduce: ## Reproduce all experiments of the papers, and write docs/reproduction.md; takes about 15 minutes
	$(CARGO) run --release --quiet -p pliant-reproduce -- all -o $(OUT)/reproduce --summary docs

test: lint page test-rust test-browser test-python ## Run format checks, lints, all tests and documentation builds, as continuous integration does

# Includes the Python package, so that common dependencies are built once. Benchmarks are compiled by the lints.
TESTS = --workspace --lib --bins --tests --examples
test-rust:
	$(CARGO) test $(TESTS) --quiet
	$(CARGO) test --workspace --doc --quiet
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --document-private-items --quiet

# Uses the same binary as the tests of the command line.
test-browser: page browser
	$(CARGO) test $(TESTS) --no-run --quiet
	PLIANT=$(CURDIR)/target/debug/pliant $(WITH_NODE) npm test --silent

page: $(PAGE) ## Build the page of `pliant view`, which the next build of the command embeds

$(PAGE): web/node_modules/.package-lock.json web/index.html web/vite.config.ts web/tsconfig.json $(shell find web/src web/public -type f)
	$(WITH_NODE) npm run --silent build -- --logLevel warn
	@touch $@

web/node_modules/.package-lock.json: web/package-lock.json | python-tools
	$(WITH_NODE) npm ci --silent --no-audit --no-fund
	@touch $@

# Installed as by a user, but with the checks of a debug build.
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

lint: tools python-tools web/node_modules/.package-lock.json ## Run format checks and lints; warnings are errors
	$(WITH_NODE) npm run --silent lint
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings
	$(CARGO) clippy --package pliant --lib --no-default-features --quiet -- -D warnings

bench: ## Time the library; takes a few minutes
	$(CARGO) bench --workspace --exclude pliant-py

bench-peers: ## Compare its speed with PARDISO, MuJoCo and SciPy, installed under target/; takes a few minutes
	$(PYTHON) crates/pliant/benches/peers/peers.py

bench-python: $(VENV)/tests-installed ## Compare the time of calls from Python and from Rust
	$(VENV)/bin/pip install --quiet --force-reinstall --no-deps .
	$(VENV)/bin/python crates/pliant-py/benches/overhead.py

bench-viewer: build browser ## Time interaction in the browser; for the server alone see `make bench`
	PLIANT=$(CURDIR)/$(PLIANT) $(WITH_NODE) npm run --silent bench

fuzz: ## Fuzz every reader for FUZZ_SECONDS each; needs a nightly compiler
	$(CARGO) fuzz --version >/dev/null 2>&1 || $(CARGO) install cargo-fuzz
	@set -e; for target in $$($(CARGO) fuzz list); do \
		echo "== $$target"; \
		$(CARGO) fuzz run $$target -- -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -rss_limit_mb=1024 -timeout=10; \
	done

# Components of the Rust toolchain that a minimal installation lacks.
tools:
	@$(CARGO) fmt --version >/dev/null 2>&1 || rustup component add rustfmt
	@$(CARGO) clippy --version >/dev/null 2>&1 || rustup component add clippy

# Browser for the tests of the page.
browser:
	@[ -x "$(CHROMIUM)" ] || { $(call install,chromium) ; } >&2

# Python with support for virtual environments, a separate package on Debian.
python-tools:
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { $(call install,python3-venv) ; } >&2

# Installs a package on Debian or Ubuntu, updating the package lists if needed.
install = echo "installing $(1)"; \
	sudo=$$([ "$$(id -u)" = 0 ] || echo sudo); \
	$$sudo apt-get install -y -qq $(1) || { $$sudo apt-get update -qq && $$sudo apt-get install -y -qq $(1); }
