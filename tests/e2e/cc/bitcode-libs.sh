# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# --libs follows what the dynamic linker would load.
. "$(dirname "$0")/lib.sh"
project c
mkdir near far
"$ACC" -shared -fPIC up.c -o far/libup.so
"$ACC" -shared -fPIC twice.c -Wl,--no-as-needed -Lfar -lup -Wl,-rpath,'$ORIGIN/../far' -o near/libtwice.so
found() {
	"$ATOMSAN" bitcode --libs prog >list 2>message || fail "$1: $(cat message)"
	same "$1" "main.c twice.c up.c" "$(awk '{print $3}' list | sort | tr '\n' ' ' | sed 's/ $//')"
}
link="-Lnear -Lfar -ltwice -lup -Wl,--no-as-needed"
"$ACC" main.c $link -Wl,-rpath,'$ORIGIN/near' -Wl,-rpath-link,far -Wl,--enable-new-dtags -o prog 2>/dev/null
LD_LIBRARY_PATH=$work/far found "RUNPATH with LD_LIBRARY_PATH"
"$ACC" main.c $link -Wl,-rpath,'${ORIGIN}/near:${ORIGIN}/far' -Wl,--disable-new-dtags -o prog
found "RPATH"
"$ACC" main.c $link -o prog
LD_LIBRARY_PATH=near:far found "LD_LIBRARY_PATH"
# What is not found is said, and the rest is listed.
"$ATOMSAN" bitcode --libs prog >list 2>message || fail "a library that is missing is fatal"
grep -q 'libtwice.so needed by prog was not found' message || fail "not said: $(cat message)"
same "units" 1 "$(wc -l <list)"
