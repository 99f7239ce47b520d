#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# agree.sh ATOMSAN AGREE SOURCES: agree.c on the programs of this folder.
set -eu
atomsan=$(realpath "$1") agree=$(realpath "$2") sources=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
bad=0
for name in lost torn cycle race atomics upgrade queue phases polling c11 forks cancels chain ranges steps blocks parts; do
	"$atomsan" cc -g -O1 -pthread "$sources/$name.c" -o "$name"
done
"$atomsan" c++ -g -O1 -pthread "$sources/cxx.cc" -o cxx
for program in lost torn cycle race atomics upgrade queue phases polling c11 forks cancels chain ranges steps blocks parts cxx; do
	for mode in again record; do
		"$agree" "$atomsan" "$mode" "./$program" >out || {
			echo "$program, $mode:"
			cat out
			bad=1
		}
	done
done
exit $bad
