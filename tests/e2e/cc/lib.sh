# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Sourced by every test here. ATOMSAN is the executable under test. Each test
# works in a folder of its own, which is gone afterwards.
set -eu
unset ATOMSAN_OPTIONS ATOMSAN_SPEC ATOMSAN_BITCODE ATOMSAN_EARLY CFLAGS CXXFLAGS CPPFLAGS LDFLAGS CC CXX MAKEFLAGS DESTDIR
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
build=$(dirname "$ATOMSAN")
ACC=$build/atomsan-cc
ACXX=$build/atomsan-c++
llvm=$(cat "$root/.llvm-version")
clang=clang-$llvm
work=$(mktemp -d)
trap 'cd /; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work"

fail() {
	echo "FAIL: $*" >&2
	exit 1
}

need() {
	for tool; do
		command -v "$tool" >/dev/null || { echo "SKIP: $tool is not installed"; exit 77; }
	done
}

# same WHAT EXPECTED FOUND
same() {
	[ "$2" = "$3" ] || fail "$1: expected '$2', found '$3'"
}

# instrumented FILE SOURCE...: the file carries the bitcode of exactly these sources.
instrumented() {
	_file=$1
	shift
	"$ATOMSAN" bitcode -l "$_file" >list || fail "$_file is not instrumented"
	same "translation units in $_file" "$#" "$(wc -l <list)"
	for _source; do
		grep -q "[ /]$_source  " list || fail "$_file lacks $_source: $(cat list)"
	done
}

# watched PROGRAM [ARGUMENT]...: it runs, prints what it must, and the runtime records it.
watched() {
	rm -f trace.atr
	ATOMSAN_OPTIONS=record=$work/trace.atr "$@" >output || fail "$1 ended with status $?"
	same "first bytes of the trace of $1" ATOMSAN "$(head -c 7 "$work/trace.atr")"
	rm -f "$work/trace.atr"
}

# Records two threads that each take a lock, so that there is something to see.
program() {
	cat <<-'END'
		#include <pthread.h>
		#include <stdio.h>
		static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
		static int sum;
		static void *work(void *unused)
		{
			pthread_mutex_lock(&lock);
			sum++;
			pthread_mutex_unlock(&lock);
			return unused;
		}
		int main(void)
		{
			pthread_t thread;
			pthread_create(&thread, NULL, work, NULL);
			work(NULL);
			pthread_join(thread, NULL);
			printf("%d\n", sum);
			return 0;
		}
	END
}

# A project of three parts: a static library, a shared library and a program
# that uses both. project c|cpp
project() {
	cat >count.h <<-'END'
		#ifdef __cplusplus
		extern "C" {
		#endif
		int count_up(void);
		int count_twice(void);
		#ifdef __cplusplus
		}
		#endif
	END
	cat >"up.$1" <<-'END'
		#include "count.h"
		#include <pthread.h>
		static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
		static int count;
		int count_up(void)
		{
			int now;
			pthread_mutex_lock(&lock);
			now = ++count;
			pthread_mutex_unlock(&lock);
			return now;
		}
	END
	cat >"twice.$1" <<-'END'
		#include "count.h"
		#include <pthread.h>
		static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
		static int count;
		int count_twice(void)
		{
			int now;
			pthread_mutex_lock(&lock);
			now = count += 2;
			pthread_mutex_unlock(&lock);
			return now;
		}
	END
	cat >"main.$1" <<-'END'
		#include "count.h"
		#include <stdio.h>
		int main(void)
		{
			count_up();
			count_twice();
			printf("%d\n", count_up() + count_twice());
			return 0;
		}
	END
}
