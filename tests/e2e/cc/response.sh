# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Response files, nested and quoted, decide like words of the command line.
. "$(dirname "$0")/lib.sh"
mkdir 'a folder'
program >'a folder/a program.c'
cat >inner <<'END'
-O1   "a folder/a program.c"
END
cat >outer <<'END'
@inner
-o prog\ one
END
"$ACC" @outer || fail "nested response files do not link"
watched './prog one'
instrumented 'prog one' 'a program.c'

printf '%s' '-c' >only-compile
"$ACC" @only-compile @inner -o one.o || fail "-c in a response file is not seen"
instrumented one.o 'a program.c'
"$ACC" @only-compile @inner -o one.o '-###' 2>commands
grep -q dynamic-list commands && fail "-c in a response file, and yet it links"

# A response file for the linking alone, as build systems write it.
printf "%s\n" "'one.o' -o two -pthread" >link
"$ACC" @link || fail "linking by a response file fails"
watched ./two

# A word of the wrapper's own inside one, beside a word that has a blank.
printf '%s\n' '--no-bitcode "a folder/a program.c" -DX="\"a b\""' >ours
"$ACC" @ours -o three || fail "the wrapper's own option in a response file reaches clang"
watched ./three
if "$ATOMSAN" bitcode three 2>/dev/null; then fail "--no-bitcode in a response file has no effect"; fi

# Clang's own words for one that is missing, or contains itself.
echo '@self -c' >self
for line in '@missing' '@self'; do
	s1=0 s2=0
	"$clang" $line 2>expected || s1=$?
	"$ACC" $line 2>found || s2=$?
	same "status with $line" $s1 $s2
	cmp expected found || fail "$line is diagnosed differently"
done

# Behind -- there are files alone, so what is added must stand before it.
program >last.c
"$ACC" -o four -- last.c || fail "'--' is not understood"
watched ./four
echo '-o five -- last.c' >dashes
"$ACC" @dashes || fail "'--' in a response file is not understood"
watched ./five
