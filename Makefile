# make run     builds what is missing and runs the host with the built-in and sample plugins on ./state
# make fleet-demo  lets three hosts share a queue on a PostgreSQL server of their own, and kills one
# make fleet-chaos  runs three hosts on a PostgreSQL server through kills, freezes, lost connections and more
# make test    builds and runs all tests
# make sanitize runs the concurrent parts' tests under ThreadSanitizer and fuzzes the decoders under AddressSanitizer; make races runs a few
# make proofs   throws all random sequences at the scheduler; make cycles kills the host at every failpoint, and 500 times at random moments
# make soak     runs a host for half an hour under load and through trouble, as root; every request must end once and right
# make token-servers   refreshes tokens of real authorization servers, which it installs from the Python Package Index
# make upload-server   uploads to the server of resumable uploads that is in swift-nio-extras, whose connections are cut
# make monitoring   checks metrics, alert rules and the Grafana dashboard with a real Prometheus
# make api-check   checks /openapi.json against the running host with schemathesis, which it installs from the Python Package Index
# make dashboard-check   uses the dashboard in Debian's Chromium, which it installs
# make docs     writes the reference of the SDK and the header into .build/documentation
# make lint    checks the format
# make bench   measures, each figure beside its raw limit; make fleet-bench does so for hosts that share a PostgreSQL server
# make package  builds Debian packages in .build/package; make package-check installs, upgrades and removes them in a Debian 12 of their own
# make clean   removes what was built; make clean-state removes ./state

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help deps build samples apple-code stage run fleet-demo fleet-chaos test sanitize races proofs cycles soak token-servers upload-server monitoring api-check dashboard-check states docs package packaged package-check lint format bench fleet-bench clean clean-state

# What the build and the tests need beyond git, make and the Swift toolchain. gdb shows where a test hangs. The service of postgresql is not
# needed, and is not started: tests start servers of their own.
PACKAGES := dbus-daemon gcc g++ gdb iproute2 libc6-dev libcurl4-openssl-dev libffi-dev libseccomp-dev libsqlite3-dev libssl-dev openssl pkg-config postgresql procps python3 python3-croniter strace systemd tmux tzdata util-linux zlib1g-dev
STATE := state
BUILD := .build/release
# The programs as they are installed: without debug information, which stays in $(BUILD).
STAGE := .build/stage
SAMPLE_SCRATCH := .build-samples

help:
	@sed -n 's/^# make/make/p' Makefile

# Installs the Debian packages that are missing, and asks for nothing when none is.
deps:
	@packages="$(PACKAGES)"; command -v rustc >/dev/null || packages="$$packages rustc"; \
	missing=""; for package in $$packages; do \
	  dpkg-query -W -f='$${Status}' $$package 2>/dev/null | grep -q 'install ok installed' || missing="$$missing $$package"; done; \
	if [ -n "$$missing" ]; then \
	  echo "installing$$missing"; \
	  as_root=""; if [ "$$(id -u)" != 0 ]; then as_root=sudo; fi; \
	  $$as_root apt-get update -q; $$as_root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -q -y --no-install-recommends $$missing; \
	fi
	@command -v swift >/dev/null || { echo "make: swift is not on the PATH: install the Swift 6.3 toolchain from swift.org"; exit 1; }

# What is run and measured. Without a product, SwiftPM would also build what only tests need.
PRODUCTS := taskhost taskhost-worker taskhost-notify TokenRefresh Cleanup Transfers Exec
build: deps
	for product in $(PRODUCTS); do swift build -c release --product $$product; done

# SwiftPM does not see that a source file of a package it depends on by path is gone: it builds by its old plan, and fails.
plan_anew = rm -f $(SAMPLE_SCRATCH)/$(1)/*.yaml
# The samples are built as third parties would build them: with a compiler alone, or as a package of their own.
# Those in Swift share a folder: the second needs nothing compiled but its own code.
samples: deps
	mkdir -p $(SAMPLE_SCRATCH)
	cc -shared -fPIC -O2 -Wall -Wextra -I SDK/CTaskHost/include -o $(SAMPLE_SCRATCH)/hello-c.so Plugins/Samples/hello-c/hello.c
	c++ -std=c++17 -shared -fPIC -O2 -Wall -Wextra -fvisibility=hidden -I SDK/CTaskHost/include \
	  -o $(SAMPLE_SCRATCH)/hello-cpp.so Plugins/Samples/hello-cpp/hello.cpp
	rustc --edition 2021 --crate-type cdylib -O -C panic=unwind -C strip=symbols -D warnings \
	  -o $(SAMPLE_SCRATCH)/hello-rust.so Plugins/Samples/hello-rust/hello.rs
	$(call plan_anew,swift)
	swift build -c release --package-path Plugins/Samples/hello-swift --scratch-path $(SAMPLE_SCRATCH)/swift
	swift build -c release --package-path Plugins/Samples/notes-sync --scratch-path $(SAMPLE_SCRATCH)/swift

# Apps for iOS as their authors wrote them, built as plugins, for the tests.
apple-code: deps
	$(call plan_anew,apple-code)
	swift build -c release -Xswiftc -static-stdlib --package-path Tests/Fixtures/AppleCode --scratch-path $(SAMPLE_SCRATCH)/apple-code

# Everything the host loads must be writable by its owner alone, so the folders are made with that mode whatever the umask is.
stage: build samples
	install -d -m 0755 $(STATE) $(STATE)/plugins $(STATE)-demo $(STAGE)
	install -s -m 0755 $(BUILD)/taskhost $(BUILD)/taskhost-worker $(BUILD)/taskhost-notify $(BUILD)/libExec.so $(STAGE)/
	install -s -m 0755 $(BUILD)/libTokenRefresh.so $(BUILD)/libCleanup.so $(BUILD)/libTransfers.so $(SAMPLE_SCRATCH)/hello-c.so \
	  $(SAMPLE_SCRATCH)/hello-cpp.so $(SAMPLE_SCRATCH)/hello-rust.so $(SAMPLE_SCRATCH)/swift/release/libHelloSwift.so \
	  $(SAMPLE_SCRATCH)/swift/release/libNotesSync.so $(STATE)/plugins/
	[ -e $(STATE)/taskhost.toml ] || sed "s|@DEMO@|$(CURDIR)/$(STATE)-demo|; s|@SAMPLES@|$(CURDIR)/Plugins/Samples|; s|@STATE@|$(CURDIR)/$(STATE)|" Packaging/demo/taskhost.toml > $(STATE)/taskhost.toml
	for number in $$(seq 1 30); do head -c 4096 /dev/zero > $(STATE)-demo/old-$$number.log; touch -d '2 days ago' $(STATE)-demo/old-$$number.log; done

run: stage
	exec $(STAGE)/taskhost run --config $(STATE)/taskhost.toml

fleet-demo: stage
	Packaging/demo/fleet $(STAGE)

# Each phase is a kind of trouble; no request may be lost, run twice at a time, or succeed twice.
fleet-chaos: stage
	Tests/FleetChaos/run $(STAGE)

# A few tests at a time: with all of a thousand begun at once, each is as slow as all together, and their time limits mean nothing.
WIDTH := --experimental-maximum-parallelization-width 8
# A test that hangs fails the run: after three minutes without a line of output, Tests/watch names it and ends the run.
# Nobody listens at the proxy: a request that took it from the environment would fail.
define run_tests
TASKHOST_STRICT=1 TASKHOST_SAMPLES=$(CURDIR)/$(SAMPLE_SCRATCH) http_proxy=http://127.0.0.1:1 https_proxy=http://127.0.0.1:1 no_proxy= \
  Tests/watch swift test --skip-build $(WIDTH) $(1)
endef
# Long computations, which would keep the few threads of Swift's concurrency from tests that look at the clock.
COMPUTATIONS := SchedulerProofTests|StoresAgreeTests|CroniterTests|ExtremeValueTests|TaskSchedulerTests.RandomTests|LeaseModelTests
test: deps samples apple-code
	TASKHOST_STRICT=1 swift build --build-tests
	$(call run_tests,--skip 'EndToEndTests|$(COMPUTATIONS)')
	$(call run_tests,--filter '$(COMPUTATIONS)')
	$(call run_tests,--filter EndToEndTests)
	Tests/watch swift test --package-path Plugins/Samples/notes-sync --scratch-path $(SAMPLE_SCRATCH)/swift

# What `make test` does in small.
# Exclusivity checks are off, as a release build has removed them from what is not public: -enable-testing makes everything public.
PROOF_BUILD := -c release -Xswiftc -enable-testing -Xswiftc -enforce-exclusivity=unchecked --scratch-path .build-proofs
proofs: deps
	swift build $(PROOF_BUILD) --build-tests
	TASKHOST_MEASURE=1 swift test $(PROOF_BUILD) --skip-build --filter 'BusyWeekTests|ForecastTests'
	TASKHOST_SEQUENCES=100000 swift test $(PROOF_BUILD) --skip-build --filter WalkTests

cycles: deps
	swift build --build-tests
	TASKHOST_CYCLES=500 swift test --skip-build --filter 'KillCycleTests|FailpointTests'

soak: build
	Tests/Soak/run

# Prometheus comes as a Debian package; its service is not needed, and is not started.
monitoring: build
	command -v promtool prometheus >/dev/null || { as_root=""; if [ "$$(id -u)" != 0 ]; then as_root=sudo; fi; \
	  $$as_root apt-get update -q; $$as_root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -q -y --no-install-recommends prometheus; }
	Tests/Monitoring/run $(BUILD)

# django-oauth-toolkit, Authlib and Canaille, in an environment of their own. The other tests skip what needs them.
TOKEN_SERVERS := .build-token-servers
token-servers: deps
	[ -x $(TOKEN_SERVERS)/bin/pip ] || python3 -m venv $(TOKEN_SERVERS) || { echo "make: install the package python3-venv"; exit 1; }
	$(TOKEN_SERVERS)/bin/pip install --quiet --disable-pip-version-check -r Tests/Fixtures/TokenServers/requirements.txt
	swift build --build-tests
	TASKHOST_TOKEN_SERVERS=$(CURDIR)/$(TOKEN_SERVERS)/bin/python swift test --skip-build --filter TokenRefreshTests.RealServerTests

# NIOResumableUpload of swift-nio-extras, in a package of its own.
upload-server: deps
	swift build --package-path Tests/ResumableUpload --scratch-path .build-upload-server
	for product in taskhost taskhost-worker Transfers; do swift build --product $$product; done
	python3 Tests/ResumableUpload/check.py .build/debug .build-upload-server/debug/UploadServer

# openapi-spec-validator and schemathesis, in an environment of their own.
API_CHECK := .build-api-check
api-check: deps
	[ -x $(API_CHECK)/bin/pip ] || python3 -m venv $(API_CHECK) || { echo "make: install the package python3-venv"; exit 1; }
	$(API_CHECK)/bin/pip install --quiet --disable-pip-version-check -r Tests/ApiCheck/requirements.txt
	swift build --product taskhost
	swift build --product taskhost-worker
	cc -shared -fPIC -O2 -I SDK/CTaskHost/include -o $(API_CHECK)/hello-c.so Plugins/Samples/hello-c/hello.c
	$(API_CHECK)/bin/python Tests/ApiCheck/check.py .build/debug/taskhost $(API_CHECK)/hello-c.so

# Every page at two widths in both themes, and what people do there. axe-core's rules come with a package of PyPI; without it, the check has
# rules of its own. Pictures of the pages: make dashboard-check DASHBOARD_SHOTS=FOLDER.
DASHBOARD_SCRATCH := .build-dashboard
dashboard-check: PACKAGES += chromium chromium-driver python3-pip fonts-dejavu-core
dashboard-check: build
	mkdir -p $(DASHBOARD_SCRATCH)
	[ -e $(DASHBOARD_SCRATCH)/axe.min.js ] || { \
	  python3 -m pip download --quiet --no-deps --dest $(DASHBOARD_SCRATCH) axe-core-python==0.1.0 && \
	  python3 -m zipfile -e $(DASHBOARD_SCRATCH)/axe_core_python-*.whl $(DASHBOARD_SCRATCH)/axe && \
	  cp $(DASHBOARD_SCRATCH)/axe/axe_core_python/axe.min.js $(DASHBOARD_SCRATCH)/; } || echo "without axe-core"
	python3 Tests/Dashboard/check.py $(BUILD) $(if $(DASHBOARD_SHOTS),--shots $(DASHBOARD_SHOTS)) \
	  $$([ ! -e $(DASHBOARD_SCRATCH)/axe.min.js ] || echo --axe $(DASHBOARD_SCRATCH)/axe.min.js)

# Writes the table of transitions into Documentation/states.md; a test compares it.
states: deps
	TASKHOST_WRITE_STATES=1 swift test --filter SchedulerProofTests.StatesTests

# The reference of the SDK and the header, as a site of static files.
docs: deps
	Documentation/build TaskHostSDK TaskHostTesting BackgroundTasks

# ThreadSanitizer ends a process with its first report. A worker's environment is what its host says, so the options come to it by a script;
# it does not wait at exit, which would be longer than the launch budgets of some tests. Two tests at a time:
# each takes ten times as long as without it, and some look at the clock.
TSAN_SCRATCH := .build-tsan
# Without the search for deadlocks, which ends with an error of its own when many short-lived locks are taken.
TSAN_OPTIONS := halt_on_error=1:exitcode=66:detect_deadlocks=0
TSAN_TESTS := TaskSchedulerTests|TaskStoreTests|HostThreadsTests|PluginRuntimeTests|WorkerProcessesTests
TSAN_WORKER := $(CURDIR)/$(TSAN_SCRATCH)/with-options/taskhost-worker
define run_under_tsan
mkdir -p $(dir $(TSAN_WORKER))
printf '#!/bin/sh\nTSAN_OPTIONS=%s:atexit_sleep_ms=0 exec "%s" "$$@"\n' '$(TSAN_OPTIONS)' \
  '$(CURDIR)/$(TSAN_SCRATCH)/debug/taskhost-worker' > $(TSAN_WORKER)
chmod +x $(TSAN_WORKER)
TSAN_OPTIONS=$(TSAN_OPTIONS) TASKHOST_WORKER=$(TSAN_WORKER) Tests/watch --silence 900 --limit 3600 \
  swift test --skip-build --sanitize=thread --scratch-path $(TSAN_SCRATCH) --experimental-maximum-parallelization-width 2 --filter '$(1)'
endef
sanitize: deps
	swift build --build-tests --sanitize=thread --scratch-path $(TSAN_SCRATCH)
	$(call run_under_tsan,$(TSAN_TESTS))
	Tests/Fuzz/run

# The tests of what has the most threads, for CI: only what they need is built, without worker processes.
RACE_TESTS := HostThreadsTests|PluginRuntimeTests|TaskSchedulerTests\.(AheadThread|Drain|PluginHealthThread|RequestThread|Scheduler|StoreFailure)Tests
races: export TASKHOST_TESTS := HostThreadsTests,PluginRuntimeTests,TaskSchedulerTests
races: deps
	swift build --product taskhostPackageTests --sanitize=thread --scratch-path $(TSAN_SCRATCH)
	$(call run_under_tsan,$(RACE_TESTS))

# Debian packages. Programs and plugins in them contain Swift's libraries, for machines that have none: all code is compiled anew for that,
# and a host keeps some 6 MiB more in memory.
PACKAGED := .build-package
PACKAGE := .build/package
package package-check packaged: PACKAGES += binutils chrpath dpkg-dev
packaged: deps
	for product in $(PRODUCTS); do swift build -c release -Xswiftc -static-stdlib --scratch-path $(PACKAGED) --product $$product; done
	install -d -m 0755 $(PACKAGED)/programs $(PACKAGED)/plugins
	cd $(PACKAGED)/release && install -s -m 0755 taskhost taskhost-worker taskhost-notify libExec.so $(CURDIR)/$(PACKAGED)/programs/
	cd $(PACKAGED)/release && install -s -m 0755 libTokenRefresh.so libCleanup.so libTransfers.so $(CURDIR)/$(PACKAGED)/plugins/

package: packaged
	Packaging/debian/build $(PACKAGED)/programs $(PACKAGED)/plugins $(PACKAGE)

# As root. It downloads a Debian 12 once, and keeps it in /var/tmp. What terminals showed is in $(PACKAGE)/shown.
package-check: PACKAGES += debootstrap e2fsprogs fish groff lintian man-db mandoc qemu-system-x86 systemd zsh
package-check: packaged
	Tests/Package/check.py $(PACKAGED)/programs $(PACKAGED)/plugins --shown $(PACKAGE)/shown

lint:
	swift format lint --strict --recursive Package.swift Sources SDK Plugins Tests

format:
	swift format --in-place --recursive Package.swift Sources SDK Plugins Tests

bench: build
	Benchmarks/run

fleet-bench: build
	Benchmarks/fleet

clean:
	rm -rf .build .build-tsan .build-fuzz .build-upload-server $(SAMPLE_SCRATCH) $(TOKEN_SERVERS) $(API_CHECK) $(DASHBOARD_SCRATCH) $(PACKAGED)

clean-state:
	rm -rf $(STATE) $(STATE)-demo
