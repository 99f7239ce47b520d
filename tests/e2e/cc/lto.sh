# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Link-time optimisation: the pass has done its work before the linker sees the bitcode.
. "$(dirname "$0")/lib.sh"
need "ld.lld-$llvm"
project c
for kind in full thin; do
	for linker in lld bfd; do
		# The GNU linker needs LLVM's plugin; without it clang itself says what is missing.
		if [ $linker = bfd ] && [ ! -e "/usr/lib/llvm-$llvm/lib/LLVMgold.so" ]; then
			echo "note: no LLVMgold.so, -flto=$kind with the GNU linker is left out"
			continue
		fi
		rm -f *.o prog libtwice.so
		"$ACC" -O2 -flto=$kind -fPIC -c up.c twice.c main.c
		"$ACC" -O2 -flto=$kind -fuse-ld=$linker -shared twice.o -o libtwice.so
		"$ACC" -O2 -flto=$kind -fuse-ld=$linker main.o up.o -L. -ltwice -Wl,-rpath,"$work" -o prog ||
			fail "-flto=$kind does not link with $linker"
		watched ./prog
		same "output" 6 "$(cat output)"
		instrumented prog main.c up.c
		instrumented libtwice.so twice.c
	done
done
# An object file is bitcode then, and is told from a damaged one.
if "$ATOMSAN" bitcode up.o 2>message; then fail "an LTO object was taken for an ELF file"; fi
grep -q 'is bitcode itself' message || fail "the message does not say what it is: $(cat message)"
