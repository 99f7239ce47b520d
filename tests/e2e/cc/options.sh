# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The wrapper's own options reach the pass through the environment and never clang.
# A compiler that only tells what it was given stands in for clang.
. "$(dirname "$0")/lib.sh"
mkdir bin specs
cat >bin/$clang <<'END'
#!/bin/sh
for word; do echo "word $word"; done
env | grep ^ATOMSAN_ | sort
END
chmod +x bin/$clang
PATH=$work/bin:$PATH
export PATH
: >specs/one
: >specs/two
: >specs/three

"$ACC" -c --spec=specs/one --early x.c --no-bitcode --spec="$work/specs/two" >told
for option in --spec --early --no-bitcode; do
	grep -q "^word $option" told && fail "$option reaches clang"
done
same "specification files" "ATOMSAN_SPEC=$(pwd -P)/specs/one:$(pwd -P)/specs/two" "$(grep ^ATOMSAN_SPEC told)"
same "early" ATOMSAN_EARLY=1 "$(grep ^ATOMSAN_EARLY told)"
same "bitcode" ATOMSAN_BITCODE=0 "$(grep ^ATOMSAN_BITCODE told)"

# From the environment first, then from the line.
ATOMSAN_SPEC=specs/three "$ACC" -c --spec=specs/one x.c >told
same "specification files" "ATOMSAN_SPEC=$(pwd -P)/specs/three:$(pwd -P)/specs/one" "$(grep ^ATOMSAN_SPEC told)"

"$ACC" -c x.c >told
grep '^ATOMSAN_' told && fail "the pass is told something without being asked"

# Only these spellings, and only where clang would look for an option.
"$ACC" -c x.c --early=1 -D --early -Xclang --no-bitcode -- --early >told
same "words that are clang's" 4 "$(grep -c -e '--early' -e '--no-bitcode' told)"
grep '^ATOMSAN_' told && fail "a value is taken for an option"

# Ours come first, so that the user's win; the folder of headers comes last of all.
"$ACC" -g0 -c x.c -I mine >told
for pair in '-g:-g0' '-g0:-idirafter' 'mine:-idirafter'; do
	first=$(grep -n "^word ${pair%%:*}" told | head -1 | cut -d: -f1)
	second=$(grep -n "^word ${pair##*:}" told | tail -1 | cut -d: -f1)
	[ "$first" -lt "$second" ] || fail "${pair%%:*} does not come before ${pair##*:}: $(cat told)"
done

# What links and what does not.
: >x.c
: >x.o
: >x.h
: >x
links() {
	expected=$1
	shift
	"$ACC" "$@" >told
	found=nothing
	grep -q 'dynamic-list' told && found=executable
	grep -q 'unresolved-symbols' told && found=shared
	same "linking '$*'" $expected $found
}
links executable x.c
links executable x.o -lm
links executable -x c -
links executable -working-directory elsewhere y.c
links executable -Xclang -E x.c
links executable -o -c x.c
links executable x.h x.c
links executable -Wl,-rpath,folder x.o
links shared -shared x.o
links shared -fPIC x.c -o x.so -shared -Wl,--no-undefined
links nothing -c x.c
links nothing x.c -S
links nothing -E x.c
links nothing -MM x.c
links nothing -fsyntax-only x.c
links nothing -r x.o
links nothing -Wl,-O1,-r x.o
links nothing -Xlinker -r x.o
links shared -Wl,-shared x.o
links nothing -nostdlib x.c
links nothing x.c -nodefaultlibs
links nothing -nostdlib -shared x.c
links nothing no-such-file.c
links nothing -v
links nothing --version
links nothing -print-search-dirs
links nothing x.h
links nothing -x c++-header x
links nothing -dumpmachine x.c

# Help is ours when nothing else is asked; with other words it is clang's.
"$ACC" -h | grep -q '^usage: atomsan cc ' || fail "-h is not ours"
"$ACC" --help | grep -q '^usage: atomsan cc ' || fail "--help is not ours"
"$ACXX" -h | grep -q '^usage: atomsan c++ ' || fail "-h of c++ is not ours"
"$ACC" --help -v | grep -q '^word --help' || fail "--help among others is not clang's"
"$ATOMSAN" cc -h >expected && "$ACC" -h >found && cmp expected found || fail "atomsan-cc is not atomsan cc"

# Under other names, as a link.
ln -s "$ATOMSAN" x86_64-linux-gnu-atomsan-cc
./x86_64-linux-gnu-atomsan-cc -c x.c | grep -q '^word -fpass-plugin=' || fail "a prefixed name is not understood"

# No compiler at all.
s=0
PATH=/nonexistent "$ACC" --print compiler >path 2>message || s=$?
[ $s = 0 ] && [ -x "$(cat path)" ] || grep -q "apt-get install clang-$llvm" message || fail "no advice: $(cat message)"
