# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What is installed works from where it lies, also below DESTDIR.
. "$(dirname "$0")/lib.sh"
need meson pkg-config cmake ninja
meson install -C "$build" --destdir "$work/stage" --no-rebuild >log 2>&1 || { cat log; fail "meson install failed"; }
bin=$(dirname "$(find "$work/stage" -name atomsan-cc)")
[ -x "$bin/atomsan" ] || fail "atomsan is not installed"
program >a.c
"$bin/atomsan-cc" a.c -o one || fail "the installed compiler does not work"
watched ./one
for word in include plugin runtime; do
	case $("$bin/atomsan" cc --print $word) in
	"$(cd "$work/stage" && pwd -P)"/*) ;;
	*) fail "--print $word leads out of the installed tree: $("$bin/atomsan" cc --print $word)" ;;
	esac
done

PKG_CONFIG_PATH=$(dirname "$(find "$work/stage" -name atomsan.pc)")
export PKG_CONFIG_PATH
eval "$clang $(pkg-config --cflags atomsan) a.c $(pkg-config --libs atomsan) -o two" || fail "pkg-config fails"
watched ./two
pkg-config --cflags --libs atomsan | grep -q "$build" && fail "the installed atomsan.pc leads to the build folder"

. "$here/cmakelists.sh"
cmakelists "" ""
cmake -G Ninja -S . -B out --toolchain "$(find "$work/stage" -name atomsan-toolchain.cmake)" >log 2>&1 ||
	{ cat log; fail "cmake with the installed toolchain file failed"; }
cmake --build out >log 2>&1 || { cat log; fail "the build failed"; }
cmake_results out
for page in atomsan atomsan-cc atomsan-c++ atomsan-doctor atomsan-bitcode; do
	[ -e "$(find "$work/stage" -name $page.1)" ] || fail "the page $page.1 is not installed"
done
