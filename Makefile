# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The front door; Meson and Ninja do the work. `make demo` and `make test`
# install what is missing (Debian, as root or with sudo) and build first.
BUILD ?= build
PREFIX ?= /usr/local
LLVM := $(shell cat .llvm-version)
export CC := clang-$(LLVM)
export CXX := clang++-$(LLVM)

.PHONY: all deps demo test bench tables test-real install clean format
all: $(BUILD)/build.ninja
	ninja -C $(BUILD)

$(BUILD)/build.ninja: | deps
	meson setup $(BUILD) --prefix=$(PREFIX)

deps:
	@scripts/install-deps

demo: all
	@scripts/demo $(BUILD)

test: all
	@scripts/test $(BUILD)

# QUICK=1: a tenth of the work, kept out of docs. LONG=1: the long run, too.
bench: all
	@bench/all $(if $(QUICK),--quick --output=$(BUILD)/bench/results,--output=docs/results) $(if $(LONG),--long) $(BUILD)

tables: all
	@scripts/tables $(BUILD)

test-real: all
	@scripts/test-real $(BUILD)

install: all
	meson configure $(BUILD) --prefix=$(PREFIX)
	DESTDIR=$(DESTDIR) meson install -C $(BUILD)

format:
	git ls-files '*.c' '*.h' '*.cc' | xargs clang-format-$(LLVM) -i

clean:
	rm -rf $(BUILD) build-*
