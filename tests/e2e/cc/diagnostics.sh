# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Errors and warnings are clang's own: same words, same exit status.
. "$(dirname "$0")/lib.sh"
echo 'int f(void) { return no_such_name; }' >error.c
echo 'int f(void) { int unused; return 0; }' >warning.c
echo 'int f(void); int main(void) { return f(); }' >undefined.c
echo 'int x' >error.cpp

alike() {
	s1=0 s2=0
	"$1" $3 >expected-out 2>expected-err || s1=$?
	"$2" $3 >found-out 2>found-err || s2=$?
	same "exit status of '$3'" $s1 $s2
	# Names of temporary object files are random.
	sed -i 's:/tmp/[a-z]*-[0-9a-f]*\.o:TEMPORARY:' expected-err found-err
	cmp expected-out found-out && cmp expected-err found-err ||
		{ diff expected-err found-err || :; fail "'$3' says something else"; }
}
for line in '-c error.c' '-c -Wall warning.c' '-c -Wall -Werror warning.c' '-Wall -c no-such-file.c' '' '-o' \
	'-c -no-such-option warning.c' '-c warning.c -lm' '-x no-such-language -c warning.c' '-c -std=c1 warning.c' \
	'-Weverything -c warning.c' '-E no-such-file.c' '-emit-llvm warning.c -c -o /no/such/folder/x'; do
	alike "$clang" "$ACC" "$line"
done
alike "clang++-$llvm" "$ACXX" '-c error.cpp'

# The linker's exit status and message come through as well.
s=0
"$ACC" undefined.c -o undefined 2>found || s=$?
same "exit status of a failed link" 1 $s
grep -q "undefined reference to .f'" found || { cat found; fail "the linker's message is missing"; }
[ -e undefined ] && fail "a failed link leaves a program"

# A crash of the program is the program's.
echo '#include <stdlib.h>
int main(void) { exit(37); }' >status.c
"$ACC" status.c -o status
s=0
./status || s=$?
same "exit status of the program" 37 $s
