# SPDX-License-Identifier: Apache-2.0
# The only build tool. `make help` lists the targets; all output goes to build/<variant>/.

VARIANT ?= release
BUILD := build/$(VARIANT)
PREFIX ?= /usr/local
SYSCONFDIR ?= /etc
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
GEN := $(BUILD)/gen
VERSION := 0.1.0

CC ?= gcc
PKGS := libevent libpq librabbitmq libcurl jansson yaml-0.1 libcrypto zlib
CPPFLAGS += -I. -I$(GEN) -D_GNU_SOURCE -DLARGESSE_VERSION='"$(VERSION)"' $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
WARN := -Wall -Wextra -Werror -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
CFLAGS_release := -O2 -g
CFLAGS_debug := -O0 -g3
CFLAGS_san := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
# Sanitizers make gcc see truncations that cannot happen.
CFLAGS_san += $(if $(findstring clang,$(CC)),,-Wno-format-truncation)
CFLAGS_fuzz := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
CFLAGS_cover := -O0 -g --coverage
ALL_CFLAGS = -std=c17 $(WARN) $(CFLAGS_$(VARIANT)) -pthread $(CFLAGS) -MMD -MP
LDLIBS := $(shell pkg-config --libs $(PKGS) 2>/dev/null) -lcsv -lm
ALL_LDFLAGS = $(CFLAGS_$(VARIANT)) -pthread $(LDFLAGS)

DAEMONS := scheduler fulfiller reconciler
COMMON_OBJS := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard common/*.c))
SUPPORT_OBJS := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tests/support/*.c))
daemon_objs = $(patsubst %.c,$(BUILD)/obj/%.o,$(filter-out $(1)/main.c,$(wildcard $(1)/*.c)))
BINS := $(foreach d,$(DAEMONS),$(if $(wildcard $(d)/main.c),$(BUILD)/bin/$(d))) \
        $(if $(wildcard tests/simulator/*.c),$(BUILD)/bin/simulator)
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/test_*.c))
SYSTEM_TESTS := $(patsubst tests/system/%.c,$(BUILD)/tests/system/%,$(wildcard tests/system/test_*.c))
BENCH_BINS := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(wildcard tests/bench/*.c))

.PHONY: all
all: $(BINS)

.SECONDARY:
# A folder is not made of the file of the same name: no built-in rules.
.SUFFIXES:
.DELETE_ON_ERROR:

# --- generated: SQL inside the binaries -------------------------------------------------------------------------------
$(GEN)/sql_%.inc: sql/embed.awk $(wildcard sql/queries/*/*.sql)
	@mkdir -p $(@D)
	@awk -v form=statements -f sql/embed.awk $(sort $(wildcard sql/queries/$*/*.sql)) /dev/null > $@

MIGRATION_FILES := $(sort $(wildcard sql/schema/*.sql)) $(sort $(wildcard sql/functions/*.sql)) $(sort $(wildcard sql/audits/*.sql)) $(wildcard sql/grants.sql)
$(GEN)/sql_migrations.inc: sql/embed.awk $(MIGRATION_FILES)
	@mkdir -p $(@D)
	@awk -v form=files -f sql/embed.awk $(MIGRATION_FILES) > $@

# --- generated: the console inside the reconciler -----------------------------------------------------------------------
JAVASCRIPT ?= /usr/share/javascript
ASSET_FILES := $(sort $(wildcard $(addprefix reconciler/assets/*.,html css js svg))) \
               $(JAVASCRIPT)/bootstrap5/css/bootstrap.min.css $(JAVASCRIPT)/chart.js/chart.min.js
$(GEN)/assets.inc: reconciler/assets/embed.sh $(wildcard $(ASSET_FILES) reconciler/assets)
	@mkdir -p $(@D)
	@reconciler/assets/embed.sh $(ASSET_FILES) > $@

# The console's words of closed sets, for the texts that the reconciler makes of them.
$(GEN)/console_words.inc: reconciler/assets/zh_words.js
	@mkdir -p $(@D)
	@sed -n "s/^  '\([^']*\)': '\([^']*\)',$$/WORD(\"\1\", \"\2\")/p" $< > $@

GENERATED := $(GEN)/sql_common.inc $(GEN)/sql_shared.inc $(GEN)/sql_scheduler.inc $(GEN)/sql_fulfiller.inc $(GEN)/sql_reconciler.inc $(GEN)/sql_migrations.inc $(GEN)/assets.inc $(GEN)/console_words.inc

# --- objects, libraries, programs -------------------------------------------------------------------------------------
$(BUILD)/obj/%.o: %.c | $(GENERATED)
	@mkdir -p $(@D)
	@echo "  CC $<"
	@$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<

$(BUILD)/libcommon.a: $(COMMON_OBJS)
	@rm -f $@ && ar rcs $@ $^

$(BUILD)/libsupport.a: $(SUPPORT_OBJS)
	@rm -f $@ && ar rcs $@ $^

define daemon_rules
$(BUILD)/lib$(1).a: $(call daemon_objs,$(1))
	@rm -f $$@ && ar rcs $$@ $$^
$(BUILD)/bin/$(1): $(BUILD)/obj/$(1)/main.o $(BUILD)/lib$(1).a $(BUILD)/libcommon.a
	@mkdir -p $$(@D)
	@echo "  LD $$@"
	@$(CC) $(ALL_LDFLAGS) -o $$@ $$^ $(LDLIBS)
endef
$(foreach d,$(DAEMONS),$(eval $(call daemon_rules,$(d))))

SIMULATOR_OBJS := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tests/simulator/*.c))
$(BUILD)/bin/simulator: $(SIMULATOR_OBJS) $(BUILD)/libcommon.a
	@mkdir -p $(@D)
	@echo "  LD $@"
	@$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS)

# --- tests and benchmarks ---------------------------------------------------------------------------------------------
# A unit test may include the .c file it tests; it links every library, so it can test any module but a main.c.
DAEMON_LIBS := $(foreach d,$(DAEMONS),$(if $(filter-out $(d)/main.c,$(wildcard $(d)/*.c)),$(BUILD)/lib$(d).a))
$(BUILD)/tests/%: $(BUILD)/obj/tests/unit/%.o $(DAEMON_LIBS) $(BUILD)/libcommon.a
	@mkdir -p $(@D)
	@$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS) -lcmocka

$(BUILD)/tests/system/%: $(BUILD)/obj/tests/system/%.o $(BUILD)/libsupport.a $(BUILD)/libcommon.a
	@mkdir -p $(@D)
	@$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS) -lcmocka

# tests/bench/<name>.c is a program; what lies in tests/bench/<name>/ belongs to it.
define bench_rule
$(BUILD)/bench/$(1): $(patsubst %.c,$(BUILD)/obj/%.o,tests/bench/$(1).c $(wildcard tests/bench/$(1)/*.c)) $(BUILD)/libsupport.a $(BUILD)/libcommon.a
	@mkdir -p $$(@D)
	@echo "  LD $$@"
	@$(CC) $(ALL_LDFLAGS) -o $$@ $$^ $(LDLIBS)
endef
$(foreach b,$(patsubst tests/bench/%.c,%,$(wildcard tests/bench/*.c)),$(eval $(call bench_rule,$(b))))

# Built by `make fuzz` with VARIANT=fuzz and clang.
FUZZERS := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
$(BUILD)/fuzz/%: $(BUILD)/obj/tests/fuzz/%.o $(DAEMON_LIBS) $(BUILD)/libcommon.a
	@mkdir -p $(@D)
	@echo "  LD $@"
	@$(CC) $(ALL_LDFLAGS) -fsanitize=fuzzer -o $@ $^ $(LDLIBS)

# --- what people type ---------------------------------------------------------------------------------------------------
# A recipe that first installs packages builds in a second make, which then finds them.
SUBMAKE = $(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS)) VARIANT=$(VARIANT) BUILD=$(BUILD)
STACK = LARGESSE_BIN=$(abspath $(BUILD))/bin exec tests/support/stack.sh
RUN_TESTS = BUILD=$(BUILD) exec tests/support/run_tests.sh

.PHONY: help deps build-tests demo run stop env test check check-valgrind chaos screenshots lint format format-check fuzz fuzzers cover install dist clean
help:  ## these lines
	@awk -F ':.*## ' '/^[a-z][a-z -]*:.*## / { printf "  %-34s %s\n", "make " $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo "  VARIANT=release|debug|san|cover, LARGESSE_PORT=7400, LARGESSE_HOME=var, LARGESSE_TEST_CLOCK=1; see README.md"

deps:  ## install missing Debian packages
	@tests/support/deps.sh

demo: deps  ## build, start everything, send claims, deliver, audit, summary
	@$(SUBMAKE) all $(if $(wildcard tests/bench/load.c),$(BUILD)/bench/load)
	@$(STACK) demo

run: deps  ## build and start the private stack; Ctrl-C stops it
	@$(SUBMAKE) all
	@$(STACK) run

stop:  ## stop the private stack
	@$(STACK) stop

env:  ## NAME=value lines of the private stack (make -s env)
	@$(STACK) env

build-tests: $(BINS) $(BUILD)/bench/load $(UNIT_TESTS) $(SYSTEM_TESTS)

test:  ## all tests, on servers of their own
	@tests/support/deps.sh build test
	@$(SUBMAKE) build-tests
	@$(RUN_TESTS) all

check: $(UNIT_TESTS)  ## unit tests only: no servers, under 10 s
	@$(RUN_TESTS) unit

check-valgrind:  ## unit tests under valgrind
	@tests/support/deps.sh build valgrind
	@$(SUBMAKE) VARIANT=debug BUILD=$(if $(filter release,$(VARIANT)),build/debug,$(BUILD)) run-valgrind

.PHONY: run-valgrind
run-valgrind: $(UNIT_TESTS)
	@$(RUN_TESTS) valgrind

screenshots:  ## the pictures of the console in README.md, with a festival's data
	@tests/support/deps.sh build test
	@$(SUBMAKE) all
	@$(RUN_TESTS) screenshots

chaos: deps  ## the long fault runs
	@$(SUBMAKE) build-tests
	@LARGESSE_CHAOS=1 $(RUN_TESTS) chaos

.PHONY: bench bench-claim bench-fulfil bench-audit bench-fulfil-peers bench-clock
bench: bench-claim bench-fulfil bench-audit bench-clock  ## all benchmarks; BENCH_JSON=file BENCH_SECONDS=n BENCH_FULL=1
bench-claim bench-fulfil bench-audit bench-fulfil-peers bench-clock: deps  ## one benchmark; bench-fulfil-peers compares with Node.js consumers
	@$(SUBMAKE) all $(BENCH_BINS)
	@BUILD=$(BUILD) exec tests/bench/$@.sh

.PHONY: config-docs
config-docs: $(BINS)  ## write the generated tables of config/README.md
	@tests/support/config_docs.sh $(BUILD)/bin

lint:  ## the rules of the house; formatting where clang-format 14 is installed
	@exec tests/lint/lint.sh

C_FILES = $(sort $(wildcard common/*.[ch] $(addsuffix /*.[ch],$(DAEMONS)) tests/*/*.[ch]))
format:  ## format every C file (clang-format 14)
	@tests/support/deps.sh build lint
	@clang-format -i $(C_FILES)

format-check:  ## fail if formatting would change a file
	@tests/support/deps.sh build lint
	@clang-format --dry-run --Werror $(C_FILES)

FUZZ_SECONDS ?= 30
fuzz:  ## fuzz every parser of outside bytes, FUZZ_SECONDS each (default 30)
	@tests/support/deps.sh build fuzz
	@$(SUBMAKE) VARIANT=fuzz BUILD=build/fuzz CC=clang fuzzers
	@exec tests/fuzz/run.sh build/fuzz $(FUZZ_SECONDS)
fuzzers: $(FUZZERS)

cover:  ## line coverage of all tests, per file
	@$(SUBMAKE) VARIANT=cover BUILD=build/cover test
	@exec tests/support/cover.sh build/cover

install: all  ## DESTDIR, PREFIX (default /usr/local), SYSCONFDIR (default /etc)
	@install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(SYSCONFDIR)/largesse $(DESTDIR)$(PREFIX)/share/doc/largesse
	@install $(filter-out %/simulator,$(BINS)) $(DESTDIR)$(PREFIX)/bin
	@install -m 644 README.md LICENSE CHANGELOG.md openapi.yaml $(DESTDIR)$(PREFIX)/share/doc/largesse
	@install -m 644 config/largesse.yaml config/prometheus/largesse.rules.yml config/grafana/largesse.json $(DESTDIR)$(PREFIX)/share/doc/largesse
	@install -d $(DESTDIR)$(PREFIX)/share/doc/largesse/providers $(DESTDIR)$(PREFIX)/share/doc/largesse/textbook
	@install -m 644 sql/textbook/*.sql $(DESTDIR)$(PREFIX)/share/doc/largesse/textbook
	@install -m 644 config/providers/*.yaml $(DESTDIR)$(PREFIX)/share/doc/largesse/providers
	@test -e $(DESTDIR)$(SYSCONFDIR)/largesse/largesse.yaml || install -m 640 config/largesse.yaml $(DESTDIR)$(SYSCONFDIR)/largesse
	@install -d $(DESTDIR)$(PREFIX)/lib/systemd/system
	@for unit in $(notdir $(wildcard config/systemd/*.service config/systemd/*.timer)); do \
	  sed 's#/usr/local/#$(PREFIX)/#g; s#/etc/largesse/#$(SYSCONFDIR)/largesse/#g' config/systemd/$$unit >$(DESTDIR)$(PREFIX)/lib/systemd/system/$$unit && \
	  chmod 644 $(DESTDIR)$(PREFIX)/lib/systemd/system/$$unit || exit 1; done

dist:  ## build/largesse-VERSION.tar.gz of the committed files
	@mkdir -p build
	@git archive --format=tar.gz --prefix=largesse-$(VERSION)/ -o build/largesse-$(VERSION).tar.gz HEAD
	@echo build/largesse-$(VERSION).tar.gz

clean:  ## remove build/; the state of a private stack stays in var/
	rm -rf build

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
