#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# field.sh ARCHIVE RESULT: the runtime for the field as an archive of one object, whose names of our own are gone
# and whose interposers are weak, as in object.sh.
set -eu
object=$2.d/atomsan_heal.o
names=$2.d/names
rm -rf "$2" "$2.d"
mkdir "$2.d"
trap 'rm -rf "$2.d"' EXIT
ld -r --whole-archive "$1" -o "$object"
nm --defined-only --extern-only "$object" | awk '$3 !~ /^__atomsan_/ { print $3 }' >"$names"
objcopy --localize-hidden --weaken-symbols="$names" "$object"
ar rcsD "$2" "$object"
