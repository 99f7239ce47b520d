#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# wrap.sh ATOMSAN: the wrapper of examples/ci makes a project's own tests fail on findings, under Meson and under ctest,
# and a baseline lets them pass.
set -eu
atomsan=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
wrapper=$(realpath "$here/../../../examples/ci/atomsan-test")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin"
ln -s "$atomsan" "$folder/bin/atomsan"
PATH=$folder/bin:$PATH
cd "$folder"
unset ATOMSAN_BASELINE CC CXX CFLAGS LDFLAGS
export ATOMSAN_DB="$folder/findings.db"
cp "$here/both.c" .
echo 'int main(void) { return 3; }' >fails.c
cat >meson.build <<'END'
project('bank', 'c')
test('both', executable('both', 'both.c', dependencies: dependency('threads')))
END
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.20)
project(bank C)
enable_testing()
find_package(Threads REQUIRED)
add_executable(both both.c)
target_link_libraries(both Threads::Threads)
add_test(NAME both COMMAND both)
END
fail() { echo "$1"; cat log; exit 1; }

CC="$atomsan cc" meson setup m >log 2>&1 || fail "meson setup:"
ninja -C m >log 2>&1 || fail "ninja:"
meson test -C m >log 2>&1 || fail "without the wrapper the test passes:"
if meson test -C m --wrap="$wrapper" >log 2>&1; then fail "with the wrapper it should fail:"; fi
grep -q 'exit status 66' log || fail "with the status of findings:"
atomsan diff --update base
ATOMSAN_BASELINE=$folder/base meson test -C m --wrap="$wrapper" >log 2>&1 || fail "what is known does not fail:"

CC="$atomsan cc" cmake -S . -B c -DCMAKE_CROSSCOMPILING_EMULATOR="$wrapper" >log 2>&1 || fail "cmake:"
cmake --build c >log 2>&1 || fail "cmake --build:"
if ctest --test-dir c >log 2>&1; then fail "ctest with the wrapper should fail:"; fi
ATOMSAN_BASELINE=$folder/base ctest --test-dir c >log 2>&1 || fail "what is known does not fail under ctest:"

# The test's own failure comes first, and a program without atomsan is left alone.
"$atomsan" cc fails.c -o fails
got=0
"$wrapper" ./fails >log 2>&1 || got=$?
[ $got = 3 ] || fail "the status is the program's, not $got:"
"$wrapper" true >log 2>&1 || fail "a program that was not built with atomsan:"
