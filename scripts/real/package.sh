#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# package.sh NAME: builds and tests one package with plain clang and with
# atomsan, and prints one line that begins with "ok" or "FAILED".
#
# A package is a file beside this one that sets
#   source       name of the Debian source package
#   needs        Debian packages that the build and the tests need
#   suite_limit  seconds for one command, default 600
#   record_suite 1 if the tests run once more, all under recording
# and defines, run in the unpacked tree with CC and CXX set:
#   build        configure and compile
#   tests        calls of `check` and `note`, the same for every build
#   recorded     calls of `record`
set -eu

here=$(cd "$(dirname "$0")" && pwd)
name=$1
base=$WORK/$name
suite_limit=600
record_suite=
tests()
{
	:
}
recorded()
{
	:
}
. "$here/$name"

# One result: what was tested and how it went, one line, the same in every run.
note()
{
	echo "$1: $2" >>"$results"
}

# check NAME COMMAND...: the command's exit status is the result.
check()
{
	what=$1
	shift
	status=0
	echo "== $what: $*"
	timeout "$suite_limit" "$@" </dev/null || status=$?
	note "$what" "exit status $status"
}

# record NAME COMMAND...: exit status and, if it is 0, standard output are the result. With
# atomsan, the command runs under recording and its trace must have events.
record()
{
	what=$1
	shift
	status=0
	echo "== record $what: $*"
	if [ "$variant" = plain ]; then
		timeout "$suite_limit" "$@" </dev/null >"$base/output" || status=$?
	else
		timeout "$suite_limit" "$ATOMSAN" record -o "$base/trace.atr" -- "$@" </dev/null \
			>"$base/output" || status=$?
		trace_check "$base/trace.atr" || note "$what" "trace is not readable or empty"
		rm -f "$base"/trace.atr*
	fi
	# How much a program has written when it gives up depends on its threads.
	if [ "$status" = 0 ]; then
		note "$what" "exit status 0, output $(cksum <"$base/output")"
	else
		note "$what" "exit status $status, whatever the output"
	fi
}

trace_check()
{
	"$ATOMSAN" dump --stats --json "$1" >"$base/stats.json" || return 1
	cat "$base/stats.json"
	traces=$((traces + 1))
	grep -q '"events": *[1-9]' "$base/stats.json"
}

# Results of automake's test driver: one .trs file per test.
note_automake()
{
	for trs in "$1"/*.trs; do
		note "$(basename "$trs" .trs)" "$(sed -n 's/^:test-result: *//p' "$trs" | sort | uniq -c | tr -s ' \n' ' ')"
		rm -f "$trs"
	done
}

unpack()
{
	rm -rf "${tree:?}"
	mkdir -p "$tree"
	tar -x -f "$(ls "$WORK/downloads/${source}"_*.orig.tar.* | tail -1)" -C "$tree" --strip-components=1
	cd "$tree"
}

# Everything for one variant; returns 1 if it did not build.
run_variant()
{
	variant=$1
	tree=$base/$variant
	results=$base/$variant.results
	: >"$results"
	unpack
	if ! build; then
		note build failed
		return 1
	fi
	tests
	recorded
}

# The tests of the atomsan build again, every process with a trace of its own.
run_suite_recorded()
{
	results=$base/recorded.results
	: >"$results"
	mkdir -p "$base/traces"
	export ATOMSAN_OPTIONS="record=$base/traces/%p.atr:max_size=100"
	tests
	unset ATOMSAN_OPTIONS
	for trace in "$base"/traces/*; do
		trace_check "$trace" || note "$(basename "$trace")" "trace is not readable or empty"
	done
	rm -rf "$base/traces"
}

mkdir -p "$base"
rm -rf "$base/traces"
traces=0
begin=$(date +%s)

# The plain build's results hold until the source, the compiler, the package's file or this one changes.
stamp=$(cat "$here/$name" "$here/package.sh" | cksum; ls "$WORK/downloads/${source}"_*; "clang-$LLVM" --version | head -1)
if [ "$(cat "$base/plain.stamp" 2>/dev/null)" != "$stamp" ]; then
	rm -f "$base/plain.stamp"
	export CC="clang-$LLVM" CXX="clang++-$LLVM"
	if ! (run_variant plain) >"$base/plain.log" 2>&1; then
		echo "FAILED $name: the plain build does not build, see $base/plain.log"
		exit 0
	fi
	echo "$stamp" >"$base/plain.stamp"
	rm -rf "$base/plain" || : # a server that is on its way out may still write there
fi

export CC="$ATOMSAN cc" CXX="$ATOMSAN c++"
{
	built=1
	run_variant atomsan || built=
	sed '/: exit status .*output/d' "$base/plain.results" >"$base/suite.results"
	cp "$base/suite.results" "$base/recorded.results"
	if [ -n "$record_suite" ] && [ -n "$built" ]; then
		run_suite_recorded
	fi
} >"$base/atomsan.log" 2>&1

differences()
{
	diff "$1" "$2" | grep '^[<>]' || :
}
different=$(differences "$base/plain.results" "$base/atomsan.results"
	differences "$base/suite.results" "$base/recorded.results")
bad=$(grep -vc -e 'exit status 0' -e ' PASS' -e ' ok$' "$base/plain.results" || :)
count=$(grep -c . "$base/plain.results" || :)
seconds=$(($(date +%s) - begin))
if [ -n "$different" ] || [ "$count" = 0 ]; then
	echo "FAILED $name: $(echo "$different" | grep -c '^>') of $count results differ, see $base/atomsan.log; $(
		echo "$different" | sort -u | head -6 | tr '\n' ';')"
else
	echo "ok $name: $count results as with the plain build ($bad of them not a success in either), $traces traces read, $seconds s"
fi
