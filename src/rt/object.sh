#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# object.sh ARCHIVE OBJECT: the runtime as one object that gets along with any
# program. Names of our own are gone, lest the program has the same; what we
# interpose is weak, because a program may define it for itself, as it may
# without us.
set -eu
names=$2.names
trap 'rm -f "$names"' EXIT
ld -r --whole-archive "$1" -o "$2"
nm --defined-only --extern-only "$2" | awk '$3 !~ /^__atomsan_/ { print $3 }' >"$names"
objcopy --localize-hidden --weaken-symbols="$names" "$2"
