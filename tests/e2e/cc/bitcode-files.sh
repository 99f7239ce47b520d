# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Bitcode comes through every kind of file, and LLVM's tools take it.
. "$(dirname "$0")/lib.sh"
need "llvm-link-$llvm" "opt-$llvm" ar strip objcopy "llvm-ar-$llvm"
project c
echo 'inline int count_inline(int x) { return x + 1; } int use(void) { return count_inline(1); }' >a_name_of_more_than_sixteen_characters.cpp
"$ACC" -O2 -fPIC -c main.c up.c twice.c
"$ACXX" -c a_name_of_more_than_sixteen_characters.cpp
long=a_name_of_more_than_sixteen_characters

instrumented main.o main.c
instrumented $long.o $long.cpp
"$ACC" main.o up.o twice.o $long.o -o prog
instrumented prog main.c up.c twice.c $long.cpp
strip prog
instrumented prog main.c up.c twice.c $long.cpp
"$ACC" -shared up.o twice.o -o lib.so
strip lib.so
instrumented lib.so up.c twice.c
ld -r up.o twice.o -o both.o
instrumented both.o up.c twice.c
strip -g up.o -o stripped.o
instrumented stripped.o up.c

ar rcs gnu.a up.o twice.o $long.o
instrumented gnu.a up.c twice.c $long.cpp
ar rcsT thin.a up.o twice.o $long.o
instrumented thin.a up.c twice.c $long.cpp
mkdir elsewhere && (cd elsewhere && instrumented ../thin.a up.c twice.c $long.cpp)
"llvm-ar-$llvm" --format=bsd rcs bsd.a up.o twice.o $long.o
instrumented bsd.a up.c twice.c $long.cpp
ar rcs empty.a
if "$ATOMSAN" bitcode empty.a 2>message; then fail "an empty archive holds bitcode"; fi
grep -q 'holds no bitcode' message || fail "the message is wrong: $(cat message)"
"$ATOMSAN" bitcode gnu.a | grep -q "gnu.a($long.o)" || fail "the member is not named"

for file in prog lib.so gnu.a both.o; do
	rm -rf out
	"$ATOMSAN" bitcode -o out $file || fail "cannot extract from $file"
	for unit in out/*.bc; do
		"opt-$llvm" --passes=verify -disable-output "$unit" || fail "$unit of $file is not valid"
	done
	"llvm-link-$llvm" out/*.bc -o linked.bc || fail "what was extracted from $file does not link"
	"opt-$llvm" --passes=verify -disable-output linked.bc || fail "the linked bitcode of $file is not valid"
done
rm -rf out && "$ATOMSAN" bitcode -o out prog
same "files" "001-main.c.bc 002-up.c.bc 003-twice.c.bc 004-$long.cpp.bc" "$(ls out | tr '\n' ' ' | sed 's/ $//')"
# Pristine: as if clang had never heard of us.
"llvm-nm-$llvm" out/001-main.c.bc | grep atomsan && fail "the bitcode is instrumented"

need python3
"$ATOMSAN" bitcode --json prog | python3 -c '
import json, sys
units = json.load(sys.stdin)["units"]
assert [u["source"] for u in units][:2] == ["main.c", "up.c"], units
assert all(u["size"] > 0 and u["file"] == "prog" for u in units), units'

# Of several files at once, and in a folder that cannot be made.
"$ATOMSAN" bitcode prog lib.so >lines
same "units of two files" 6 "$(wc -l <lines)"
if "$ATOMSAN" bitcode -o no/such/folder prog 2>message; then fail "a folder was made from nothing"; fi
if "$ATOMSAN" bitcode 2>message; then fail "no file is enough"; fi
"$ACC" --no-bitcode main.c up.c twice.c -o without
if "$ATOMSAN" bitcode without 2>message; then fail "--no-bitcode leaves bitcode"; fi
