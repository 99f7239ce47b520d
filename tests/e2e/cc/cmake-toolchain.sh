# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A whole CMake project through the toolchain file, which works from the build folder.
. "$(dirname "$0")/lib.sh"
need cmake ninja
. "$here/cmakelists.sh"
cmakelists "" ""
cmake -G Ninja -S . -B out --toolchain "$build/share/cmake/Atomsan/atomsan-toolchain.cmake" >log 2>&1 ||
	{ cat log; fail "cmake failed"; }
cmake --build out >log 2>&1 || { cat log; fail "the build failed"; }
cmake_results out
