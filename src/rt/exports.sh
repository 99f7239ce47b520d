#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# exports.sh ARCHIVE LIST: the archive's symbols of default visibility, as a linker's dynamic list.
set -eu
{
	echo '{'
	readelf -Ws "$1" | awk '($5 == "GLOBAL" || $5 == "WEAK") && $6 == "DEFAULT" && $7 != "UND" { print "\t" $8 ";" }' | sort -u
	echo '};'
} >"$2"
