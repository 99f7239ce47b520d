# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Sourced: a CMake project in C and C++. cmakelists BEFORE AFTER
cmakelists() {
	mkdir -p in_c in_cpp
	(cd in_c && project c)
	(cd in_cpp && project cpp)
	cat >CMakeLists.txt <<-END
		cmake_minimum_required(VERSION 3.20)
		project(count C CXX)
		$1
		foreach(kind c cpp)
		  add_library(up_\${kind} STATIC in_\${kind}/up.\${kind})
		  add_library(twice_\${kind} SHARED in_\${kind}/twice.\${kind})
		  add_executable(prog_\${kind} in_\${kind}/main.\${kind})
		  target_link_options(twice_\${kind} PRIVATE -Wl,--no-undefined)
		  target_link_libraries(prog_\${kind} up_\${kind} twice_\${kind})
		  $2
		endforeach()
	END
}

# Both programs work and are watched, and so is each part.
cmake_results() {
	for kind in c cpp; do
		watched "$1/prog_$kind"
		same "output of prog_$kind" 6 "$(cat output)"
		instrumented "$1/prog_$kind" main.$kind up.$kind
		instrumented "$1/libtwice_$kind.so" twice.$kind
	done
}
