# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What cannot work is refused in one sentence with exit status 1, and nothing is written.
. "$(dirname "$0")/lib.sh"
program >a.c
refused() {
	wanted=$1
	shift
	rm -f out.o
	s=0
	"$ACC" "$@" -o out.o >message 2>&1 || s=$?
	same "exit status of '$*'" 1 $s
	same "lines of the message for '$*'" 1 "$(wc -l <message)"
	grep -q "$wanted" message || fail "'$*' is refused with other words: $(cat message)"
	[ -e out.o ] && fail "'$*' is refused and yet writes"
	:
}
refused 'static-libstdc++' -static a.c
refused 'static-libstdc++' -static-pie a.c
for rival in thread address memory hwaddress leak address,undefined undefined,leak; do
	refused 'build twice' -fsanitize=$rival -c a.c
	refused 'build twice' -fsanitize=$rival a.c
done
refused 'Linux x86-64' -m32 -c a.c
refused 'Linux x86-64' --target=aarch64-linux-gnu -c a.c
refused 'Linux x86-64' -target riscv64-linux-gnu -c a.c
refused 'no-such-spec' --spec=no-such-spec -c a.c
: >with:colon
refused 'colon' --spec=with:colon -c a.c
export ATOMSAN_SPEC=no-such-spec
refused 'no-such-spec' -c a.c
unset ATOMSAN_SPEC

# Near misses of all that must go through.
for line in '-c -static' '-fsanitize=undefined' '-fsanitize=thread -fno-sanitize=thread' \
	'-fsanitize=address -fno-sanitize=all' '-m64' '--target=x86_64-linux-gnu' '-target x86_64-pc-linux-gnu' \
	'-static-libgcc' '-Xlinker -O1 -Xpreprocessor -DX'; do
	"$ACC" $line a.c -o out || fail "'$line' is refused"
done
