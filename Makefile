# Everything a newcomer needs: `make demo` to see it, `make test` before sending a change.

CARGO ?= cargo
PYTHON ?= python3
PLIANT = target/release/pliant
OUT = out
FUZZ_SECONDS ?= 60

.PHONY: help demo test lint bench bench-peers fuzz tools

help: ## Say what there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## Build and simulate a scene: animation, pictures and plots under out/
	$(CARGO) build --release --quiet --bin pliant
	@mkdir -p $(OUT)
	@sh demo.sh $(PLIANT) $(OUT)

test: lint ## Format check, lints, all tests, documentation; what continuous integration runs
	$(CARGO) test --workspace --all-targets --quiet
	$(CARGO) test --workspace --doc --quiet
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --document-private-items --quiet

lint: tools ## Format check and clippy, warnings denied
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings

bench: ## Time the library; takes a few minutes
	$(CARGO) bench --workspace

bench-peers: ## Time it beside PARDISO and MuJoCo, which are installed under target/; takes a few minutes
	$(PYTHON) crates/pliant/benches/peers/peers.py

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
