# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Meson links shared libraries with --no-undefined, as b_lundef says by default.
. "$(dirname "$0")/lib.sh"
need meson ninja
project c
cat >meson.build <<'END'
project('count', 'c', default_options: ['warning_level=3', 'werror=true'])
up = static_library('up', 'up.c')
twice = shared_library('twice', 'twice.c')
prog = executable('prog', 'main.c', link_with: [up, twice])
test('prog', prog)
END
CC="$ATOMSAN cc" meson setup out >log 2>&1 || { cat log; fail "meson setup failed"; }
meson test -C out >log 2>&1 || { cat log; fail "meson test failed"; }
ninja -C out -t commands libtwice.so | grep -q -- '--no-undefined' || fail "b_lundef is not what is tested here"
watched out/prog
same "output" 6 "$(cat output)"
instrumented out/prog main.c up.c
instrumented out/libtwice.so twice.c
