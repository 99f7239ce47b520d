# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Other ways to hand over a source: standard input, several at once, preprocessed
# (as compiler caches do), precompiled headers, and with all temporary files kept.
. "$(dirname "$0")/lib.sh"
program >a.c
"$ACC" -x c - -o one <a.c
watched ./one
"$ACC" -xc -o two - <a.c
watched ./two
"$ACC" -c -x c /dev/stdin -o three.o <a.c
"$ACC" three.o -o three
watched ./three

project c
"$ACC" -O2 main.c up.c twice.c -o several
watched ./several
instrumented several main.c up.c twice.c

# A language that stays on must not swallow what the wrapper adds behind it.
"$ACC" -o trailing -x c a.c
watched ./trailing

"$ACC" -E a.c -o a.i
"$ACC" -c a.i -o ai.o
"$ACC" ai.o -o four
watched ./four
instrumented four a.c
"$ACC" -x cpp-output -c a.i -o ai.o
"$ACC" ai.o -o four
watched ./four

mkdir pch
echo '#include <stdio.h>' >pch/all.h
"$ACC" pch/all.h -o pch/all.h.pch || fail "cannot precompile a header"
"$ACC" -include-pch pch/all.h.pch a.c -o five
watched ./five
"$ACXX" -x c++-header pch/all.h -o pch/all.pch || fail "cannot precompile a C++ header"
cp a.c a.cpp
"$ACXX" -include-pch pch/all.pch a.cpp -o six
watched ./six
instrumented six a.cpp

mkdir kept && cd kept
"$ACC" -save-temps ../a.c -o seven || fail "-save-temps fails"
[ -s seven-a.s ] || [ -s a.s ] || fail "-save-temps keeps nothing: $(ls)"
cd ..
watched kept/seven
instrumented kept/seven a.c

if command -v ccache >/dev/null; then
	export CCACHE_DIR=$work/ccache
	for i in 1 2; do ccache "$ACC" -O1 -c up.c -o cached.o || fail "ccache does not get along"; done
	instrumented cached.o up.c
else
	echo "note: ccache is not installed, left out"
fi

# A build that stops at bitcode and goes on from there is instrumented once.
"$ACC" -O2 a.c -o once
watched ./once
"$ATOMSAN" record -o once.atr -- ./once >output
"$ATOMSAN" dump --stats once.atr | grep -E '^ *(read|write|lock|unlock|create) ' >expected
[ -s expected ] || fail "there is nothing to compare"
for kind in c S; do
	"$ACC" -O2 -emit-llvm -$kind a.c -o a.$kind.ll
	"$ACC" -O2 -x ir a.$kind.ll -o twice
	instrumented twice a.c
	"$ATOMSAN" record -o twice.atr -- ./twice >output
	"$ATOMSAN" dump --stats twice.atr | grep -E '^ *(read|write|lock|unlock|create) ' >found
	cmp expected found || { diff expected found || :; fail "by way of -emit-llvm -$kind it is another program"; }
done

# The advice about ccache in the manual page holds: options are seen, and so are the files that are named.
if command -v ccache >/dev/null; then
	"$ACC" --early -O1 -c up.c -o early.o
	ccache "$ACC" --early -O1 -c up.c -o cached.o
	cmp early.o cached.o || fail "ccache does not see --early"
	: >spec
	CCACHE_EXTRAFILES=$work/spec
	export CCACHE_EXTRAFILES
	ccache "$ACC" -O1 -c twice.c -o cached.o
	ccache --zero-stats >/dev/null
	ccache "$ACC" -O1 -c twice.c -o cached.o
	echo '# changed' >spec
	ccache "$ACC" -O1 -c twice.c -o cached.o
	same "hits and misses of ccache" "1 1" "$(ccache --print-stats |
		awk '$1 == "direct_cache_hit" || $1 == "preprocessed_cache_hit" { h += $2 } $1 == "cache_miss" { m += $2 } END { print h, m }')"
fi
