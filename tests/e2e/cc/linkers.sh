# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Executables, position independent or not, and shared objects, with each linker there is.
. "$(dirname "$0")/lib.sh"
project c
for linker in bfd gold lld; do
	command -v ld.$linker >/dev/null || { echo "note: ld.$linker is not installed, left out"; continue; }
	for pie in -pie -no-pie; do
		"$ACC" -fuse-ld=$linker -shared -fPIC -Wl,--no-undefined -Wl,-z,defs twice.c -o libtwice.so ||
			fail "$linker insists on defined symbols"
		"$ACC" -fuse-ld=$linker $pie -Wl,--gc-sections -Wl,--as-needed main.c up.c -L. -ltwice \
			-Wl,-rpath,"$work" -o prog || fail "$linker does not link with $pie"
		watched ./prog
		same "output with $linker $pie" 6 "$(cat output)"
		instrumented prog main.c up.c
		instrumented libtwice.so twice.c
	done
done

# Hiding what comes from archives must not hide the runtime from shared objects.
"$ACC" -shared -fPIC twice.c -o libtwice.so
"$ACC" -Wl,--exclude-libs,ALL main.c up.c -L. -ltwice -Wl,-rpath,"$work" -o prog || fail "--exclude-libs hides the runtime"
watched ./prog
for symbol in pthread_mutex_lock malloc; do
	nm -D --defined-only prog | grep -q " $symbol$" || fail "$symbol is hidden by --exclude-libs"
done

# A version script may hide it all the same; then this is said, unless nobody asks for anything.
echo '{ global: main; local: *; };' >hides.map
program >threads.c
for linker in bfd gold lld; do
	command -v ld.$linker >/dev/null || continue
	"$ACC" -pthread -fuse-ld=$linker -Wl,--version-script=hides.map threads.c -o hides || fail "$linker does not link with a version script"
	"$ACC" -pthread -fuse-ld=$linker threads.c -o shows
	for prog in hides shows; do
		watched ./$prog 2>said
		same "output of $prog with $linker" 2 "$(cat output)"
		said=$(grep -c "hides functions of the runtime" said || :)
		hidden=$(nm -D --defined-only $prog | grep -q " pthread_create$" && echo 0 || echo 1)
		same "said of $prog with $linker" "$hidden" "$said"
		same "said of $prog with $linker when nothing is asked" "" "$(./$prog 2>&1 >/dev/null)"
	done
	[ $hidden = 0 ] || fail "$linker hides the runtime without a version script"
done
