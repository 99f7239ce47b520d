#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# pack.sh PARTS ARCHIVE FOLDER: an archive of one object, made of the parts, whose hidden symbols are local.
set -eu
mkdir -p "$3"
ld -r --whole-archive "$1" -o "$3/atomsan_rt.o"
objcopy --localize-hidden "$3/atomsan_rt.o"
rm -f "$2"
ar rcsD "$2" "$3/atomsan_rt.o"
