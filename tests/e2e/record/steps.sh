#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# steps.sh ATOMSAN SOURCE: steps of a loop with gaps take far less than a word each, and are read as what they were.
set -eu
atomsan=$(realpath "$1")
source=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
line=$(grep -n '/\* step \*/' "$source" | cut -d: -f1)

fail() {
	echo "steps.sh: $*" >&2
	exit 1
}

# What the loop's reads are, in any order: those of an unrolled loop are told one after the other.
reads() {
	"$atomsan" dump "$1" | grep " read .*steps.c:$line:" | awk '{print $1, $2, $4}' | sort
}

# Not moved about in memory: all it touches has the same address in each run.
"$atomsan" cc -O2 -g -no-pie -pthread "$source" -o program
ATOMSAN_OPTIONS=pack=0 "$atomsan" record -o many -- ./program >output
# With values each step is an event of its own.
ATOMSAN_OPTIONS=pack=0:values=1 "$atomsan" record -o single -- ./program | cmp - output
reads many >many.reads
reads single | cmp - many.reads || fail "the events are others"
steps=$((2 * 40 * 1500))
[ "$(wc -l <many.reads)" -eq $steps ] || fail "$(wc -l <many.reads) reads, not $steps"
less=$(($(wc -c <single) - $(wc -c <many)))
# One step has two words there.
[ $less -gt $((steps * 8 * 7 / 4)) ] || fail "$less bytes less for $steps steps"
