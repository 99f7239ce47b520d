# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A build written by hand, which calls clang itself with the flags of --print.
. "$(dirname "$0")/lib.sh"
project c
cc=$("$ATOMSAN" cc --print compiler)
cflags=$("$ATOMSAN" cc --print cflags)
ldflags=$("$ATOMSAN" cc --print ldflags)
eval "$cc $cflags -O2 -fPIC -c main.c up.c twice.c" || fail "cannot compile with --print cflags"
eval "$cc -shared twice.o -o libtwice.so" || fail "cannot link a shared library"
eval "$cc main.o up.o -L. -ltwice -Wl,-rpath,$work $ldflags -o prog" || fail "cannot link with --print ldflags"
watched ./prog
instrumented prog main.c up.c
instrumented libtwice.so twice.c
[ -f "$("$ATOMSAN" cc --print include)/atomsan/atomsan.h" ] || fail "--print include names a folder without the header"
[ -f "$("$ATOMSAN" cc --print plugin)" ] && [ -f "$("$ATOMSAN" cc --print runtime)" ] || fail "no such plugin or runtime"
same "the C++ compiler" clang++-$llvm "$(basename "$("$ATOMSAN" c++ --print compiler)")"

if "$ATOMSAN" cc --print clfags 2>message; then fail "a word that is none is accepted"; fi
grep -q "did you mean 'cflags'" message || fail "no suggestion: $(cat message)"
if "$ATOMSAN" cc --print 2>message; then fail "--print without a word is accepted"; fi

need pkg-config
export PKG_CONFIG_PATH=$build/share
eval "$cc $(pkg-config --cflags atomsan) main.c up.c twice.c $(pkg-config --libs atomsan) -o prog2" ||
	fail "cannot build with pkg-config"
watched ./prog2
instrumented prog2 main.c up.c twice.c
same "the compiler by pkg-config" clang-$llvm "$(pkg-config --variable=compiler atomsan)"
