# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A makefile with implicit rules needs nothing but CC and CXX.
. "$(dirname "$0")/lib.sh"
need make
project c
cat >three.cpp <<'END'
extern "C" int three() { return 3; }
END
cat >Makefile <<'END'
CFLAGS = -O2 -Wall -Wextra -Werror -fPIC
all: prog
prog: main.o libtwice.so libup.a three.o
	$(CC) $(CFLAGS) -o $@ main.o three.o -L. -ltwice -lup -Wl,-rpath,'$$ORIGIN'
libup.a: up.o
	$(AR) rcs $@ $^
libtwice.so: twice.o
	$(CC) $(CFLAGS) -shared -o $@ $^
END
make CC="$ATOMSAN cc" CXX="$ATOMSAN c++" || fail "make failed"
watched ./prog
same "output" 6 "$(cat output)"
instrumented prog main.c up.c three.cpp
instrumented libtwice.so twice.c
