# SPDX-License-Identifier: Apache-2.0
# The only build tool. `make help` lists the targets; all output goes to build/<variant>/.

VARIANT ?= release
BUILD := build/$(VARIANT)
GEN := $(BUILD)/gen
VERSION := 0.1.0

CC ?= gcc
PKGS := libevent libpq librabbitmq libcurl jansson yaml-0.1 libcrypto
CPPFLAGS += -I. -I$(GEN) -D_GNU_SOURCE -DLARGESSE_VERSION='"$(VERSION)"' $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
WARN := -Wall -Wextra -Werror -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
CFLAGS_release := -O2 -g
CFLAGS_debug := -O0 -g3
CFLAGS_san := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
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
.DELETE_ON_ERROR:

# --- generated: SQL inside the binaries -------------------------------------------------------------------------------
$(GEN)/sql_%.inc: sql/embed.awk $(wildcard sql/queries/*/*.sql)
	@mkdir -p $(@D)
	@awk -v form=statements -f sql/embed.awk $(sort $(wildcard sql/queries/$*/*.sql)) /dev/null > $@

MIGRATION_FILES := $(sort $(wildcard sql/schema/*.sql)) $(sort $(wildcard sql/functions/*.sql)) $(sort $(wildcard sql/audits/*.sql)) $(wildcard sql/grants.sql)
$(GEN)/sql_migrations.inc: sql/embed.awk $(MIGRATION_FILES)
	@mkdir -p $(@D)
	@awk -v form=files -f sql/embed.awk $(MIGRATION_FILES) > $@

GENERATED := $(GEN)/sql_scheduler.inc $(GEN)/sql_fulfiller.inc $(GEN)/sql_reconciler.inc $(GEN)/sql_migrations.inc

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

$(BUILD)/bench/%: $(BUILD)/obj/tests/bench/%.o $(BUILD)/libsupport.a $(BUILD)/libcommon.a
	@mkdir -p $(@D)
	@$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS)

.PHONY: check clean
check: $(UNIT_TESTS)
	@for t in $(UNIT_TESTS); do echo "# $$t"; $$t || exit 1; done

clean:
	rm -rf build

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
