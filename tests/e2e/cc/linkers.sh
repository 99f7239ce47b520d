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
