# callsim: `make run` plays the scenario suite, `make test` runs the tests. Both start from a bare Debian machine
# with Swift on it.
#
# Debug and release builds live in folders of their own, so that neither rebuilds the other.

SHELL := /bin/bash
RELEASE := .build-release
# Exclusive access is checked at run time in debug builds, which the tests and the fuzzers run.
RELEASE_BUILD := swift build -c release --scratch-path $(RELEASE) -Xswiftc -enforce-exclusivity=unchecked
CALLSIM := $(RELEASE)/release/callsim
PLANTED := .build-planted
SCENARIOS ?= scenarios
# For the build of the tests.
BUILD_FLAGS ?=
FUZZ_SECONDS ?= 60

.PHONY: help prepare build planted build-bench run test examples interop man fuzz-parsers sanitize lint format bench clean external differential \
	fidelity congestion
help:
	@sed -n 's/^\([a-z-]*\):.*## */\1|/p' $(MAKEFILE_LIST) | while IFS='|' read -r n d; do printf '  make %-12s %s\n' $$n "$$d"; done

prepare: ## installs the system packages that are missing
	@scripts/prepare

build: prepare ## builds the callsim program, optimised
	$(RELEASE_BUILD) --product callsim

planted: prepare ## builds callsim with planted defects, optimised; CALLSIM_PLANT=NAME plants one
	swift build -c release --scratch-path $(PLANTED) -Xswiftc -enforce-exclusivity=unchecked -Xswiftc -DPLANTED_DEFECTS --product callsim

run: build ## builds callsim and runs every scenario
	$(CALLSIM) run $(SCENARIOS)

test: prepare ## builds and runs all tests
	swift build --build-tests $(BUILD_FLAGS)
	swift test --skip-build --disable-xctest

# Beside the tests, so that the modules of this package are not built again.
examples: prepare ## builds and tests the packages in Examples, each as somebody else's
	for example in Examples/*/; do \
	  swift test --package-path $$example --scratch-path .build --disable-xctest $(BUILD_FLAGS) || exit; done

interop: build ## calls other software and itself, live; INTEROP="--only relay" and the like choose
	@interop/all $(INTEROP)

fuzz-parsers: prepare ## fuzzes every parser, machine and a whole session, FUZZ_SECONDS (60) each
	scripts/fuzz $(FUZZ_SECONDS)

sanitize: prepare ## runs the unit tests and a live call with the address sanitizer, then with the thread sanitizer
	scripts/sanitize

man: build ## writes the manual page callsim.1
	scripts/manual $(CALLSIM) > callsim.1

lint: ## reports what does not follow the formatting rules
	swift format lint --strict --parallel --recursive Sources Tests Fuzz Benchmarks Examples Package.swift

format: ## formats every source file in place
	swift format --in-place --parallel --recursive Sources Tests Fuzz Benchmarks Examples Package.swift

external: build ## plays scenarios in which real programs sit on simulated networks, in real time
	@interop/install
	$(CALLSIM) run interop/scenarios --jobs 1 --allow-programs --pass-env CHROMIUM

differential: build ## compares our stack in virtual time with Chromium behind the same simulated networks
	@interop/install
	interop/differential.py --callsim $(CALLSIM) --write docs/differential.md

fidelity: build ## lays our media statistics in virtual time beside Chromium's behind the same simulated networks
	@interop/install
	interop/fidelity.py --callsim $(CALLSIM) --write docs/fidelity.md

congestion: build ## lays our congestion control in virtual time beside Chromium's on the same simulated links
	@interop/install
	interop/congestion.py --callsim $(CALLSIM) --write docs/congestion.md

build-bench: prepare ## builds the benchmarks, optimised
	$(RELEASE_BUILD) --product callsim-bench

bench: build-bench ## measures speed against the figures we aim for
	$(RELEASE)/release/callsim-bench $(BENCH)

clean: ## removes everything that was built
	rm -rf .build $(RELEASE) $(PLANTED) .build-fuzz .build-asan .build-tsan .fuzz callsim-runs interop-runs interop/.venv interop/.venv-scores interop/.venv-socket-io interop/.venv-xmpp interop/.pion
