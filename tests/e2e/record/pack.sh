#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# pack.sh ATOMSAN SOURCE: a trace that is squeezed while it is written has the events of one that is not, in
# half the room or less, also if the process is killed, and packing it for keeping changes nothing.
set -eu
atomsan=$(realpath "$1")
source=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
# Not moved about in memory: all it touches has the same address in each run.
"$atomsan" cc -O1 -g -no-pie -pthread "$source" -o prog
# Where stack and heap lie is up to the system: the heap anywhere behind the program, whose variables are below 0x500000.
events() {
	"$atomsan" dump "$1" | sed -E 's/0x([0-9a-f]{7,}|[5-9a-f][0-9a-f]{5})/elsewhere/g; s/stack size [0-9]+//' >"$2"
}
for way in "" killed; do
	for pack in 0 1; do
		rm -f trace
		(ATOMSAN_OPTIONS=record=trace:pack=$pack exec ./prog $way) || [ $? = 137 ]
		events trace events.$pack
		mv trace trace.$pack
	done
	[ "$(wc -l <events.0)" -gt 50000 ] || { echo "only $(wc -l <events.0) events"; exit 1; }
	cmp events.0 events.1 || { echo "pack=1 differs (${way:-not killed})"; exit 1; }
	plain=$(stat -c %s trace.0)
	squeezed=$(stat -c %s trace.1)
	[ $((squeezed * 2)) -le "$plain" ] || { echo "$squeezed bytes of $plain"; exit 1; }
	"$atomsan" convert --to=packed -o packed trace.1
	"$atomsan" convert --to=atr -o plain trace.1
	for other in packed plain; do
		events "$other" events.other
		cmp events.0 events.other || { echo "converted to $other it differs"; exit 1; }
		rm "$other"
	done
done
