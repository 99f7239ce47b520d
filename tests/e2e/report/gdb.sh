#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# gdb.sh ATOMSAN: the commands for gdb know which finding a line belongs to.
set -eu
atomsan=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
script=$here/../../../share/gdb/atomsan.py
if ! command -v gdb >/dev/null || ! gdb -batch -ex 'python print(1)' >/dev/null 2>&1; then
	echo "no gdb with Python here; nothing was tested"
	exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
unset ATOMSAN_DB
cp "$here/both.c" .
"$atomsan" cc -g -O1 both.c -o both -pthread
line=$(grep -n 'lost \*/' both.c | head -1 | cut -d: -f1)
export ATOMSAN="$atomsan"
fail() { echo "$1"; cat out; exit 1; }

gdb -batch -nx -x "$script" -ex 'atomsan list' ./both >out 2>&1 || true
grep -q 'There is no .atomsan/findings.db' out || fail "without a store:"
"$atomsan" record -o t.atr -- ./both
"$atomsan" check t.atr >found || [ $? = 66 ]
id=$(sed -n 's/^\(F-[0-9a-f]*\) .*/\1/p' found)
[ -n "$id" ] || { cat found; exit 1; }

# Standing at the lost write, the question is answered with the step that it is.
gdb -batch -nx -x "$script" -ex "break both.c:$line" -ex run -ex 'atomsan why' -ex 'atomsan list' -ex "atomsan break $id" \
	-ex 'info breakpoints' -ex "atomsan why ${id#F-}" -ex 'atomsan why F-0000' ./both >out 2>&1 || true
if grep -q 'ptrace: Operation not permitted\|Cannot create process\|ptrace' out; then
	echo "this machine does not let gdb run programs; nothing was tested"
	exit 77
fi
grep -q "^$id  deposit is not atomic" out || fail "atomsan why does not know the finding:"
grep -q "^ => [0-9]*\. .* writes account.balance in deposit (both.c:$line)" out || fail "atomsan why does not mark the step:"
grep -q 'deposit should be atomic over' out || fail "atomsan why does not say what should be atomic:"
[ "$(grep -c "^Breakpoint [0-9]* at .*both.c" out)" -ge 3 ] || fail "atomsan break sets no breakpoints:"
grep -q 'No findings begin with F-0000' out || fail "a finding that is none:"
