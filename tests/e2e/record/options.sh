#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# options.sh ATOMSAN PROGRAM.c: what ATOMSAN_OPTIONS cannot mean is said, one line each, and the program runs as without.
set -u
atomsan=$(realpath "$1")
source=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0

"$atomsan" cc -g -O1 -pthread "$source" -o program || exit 1

# says OPTIONS LINE: nothing if LINE is empty
says() {
	said=$(ATOMSAN_OPTIONS=$1 ./program 2>&1 >/dev/null)
	status=$?
	[ $status = 0 ] || { echo "$1: status $status" && failed=1; }
	[ "$said" = "${2:+atomsan: ATOMSAN_OPTIONS: $2}" ] || { echo "$1: said '$said', not '$2'" && failed=1; }
}

says filter=2 ""
says filter=9 "filter is at most 2; filter=9 is ignored"
says exitcode=255 ""
says exitcode=256 "exitcode is at most 255; exitcode=256 is ignored"
says sections=none ""
says sections=most "sections is all or sure or none; sections=most is ignored"
says sched_events=some "sched_events is every or first; sched_events=some is ignored"
says filter=two "'two' is no number (in filter=two)"
says fliter=1 "there is no option 'fliter'; did you mean 'filter'?"
says filter "'filter' has no value; write filter=1"

# What is ignored does not count: the filter is as without it.
events() {
	rm -f t.atr
	ATOMSAN_OPTIONS=record=t.atr:log_path=log:$1 ./program >/dev/null
	"$atomsan" dump --stats --json t.atr | sed -n 's/.*"events": *\([0-9]*\).*/\1/p' | head -1
}
one=$(events filter=1) nine=$(events filter=9) none=$(events filter=0)
[ "$one" = "$nine" ] || { echo "filter=9 has $nine events, filter=1 $one" && failed=1; }
[ "$one" != "$none" ] || { echo "filter=0 has as many events as filter=1, $one" && failed=1; }
exit $failed
