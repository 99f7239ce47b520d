# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# find_package(Atomsan): the project's own clang, and flags by way of a target.
. "$(dirname "$0")/lib.sh"
need cmake ninja "$clang"
. "$here/cmakelists.sh"
cmakelists 'find_package(Atomsan 0.1 REQUIRED)' \
	'foreach(t up twice prog)
	   target_link_libraries(${t}_${kind} Atomsan::Atomsan)
	 endforeach()'
cmake -G Ninja -S . -B out -DCMAKE_C_COMPILER="$clang" -DCMAKE_CXX_COMPILER="clang++-$llvm" \
	-DCMAKE_PREFIX_PATH="$build" >log 2>&1 || { cat log; fail "cmake failed"; }
cmake --build out -v >log 2>&1 || { cat log; fail "the build failed"; }
cmake_results out

# Another compiler cannot load the pass: that is found out before the build.
need gcc g++
if cmake -G Ninja -S . -B out2 -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ -DCMAKE_PREFIX_PATH="$build" \
	>log 2>&1; then
	fail "gcc was accepted"
fi
grep -q "needs clang $llvm" log || { cat log; fail "the reason is not given"; }

# A newer version than this one is not this one.
sed -i 's/Atomsan 0.1/Atomsan 999/' CMakeLists.txt
if cmake -G Ninja -S . -B out3 -DCMAKE_C_COMPILER="$clang" -DCMAKE_CXX_COMPILER="clang++-$llvm" \
	-DCMAKE_PREFIX_PATH="$build" >log 2>&1; then
	fail "version 999 was found"
fi
