# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The usual three steps: configure must find the compiler to work, and make check to pass.
. "$(dirname "$0")/lib.sh"
need autoreconf automake make
project c
cat >configure.ac <<'END'
AC_INIT([count], [1])
AM_INIT_AUTOMAKE([foreign])
AC_PROG_CC
AC_PROG_CXX
AC_PROG_RANLIB
AM_PROG_AR
AC_CHECK_FUNCS([pthread_create no_such_function])
AC_CHECK_HEADERS([atomsan/atomsan.h])
AC_C_INLINE
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
END
cat >Makefile.am <<'END'
noinst_LIBRARIES = libcount.a
libcount_a_SOURCES = up.c twice.c count.h
bin_PROGRAMS = prog
prog_SOURCES = main.c
prog_LDADD = libcount.a
TESTS = prog
END
autoreconf -i >log 2>&1 || { cat log; fail "autoreconf failed"; }
./configure CC="$ACC" CXX="$ACXX" >log 2>&1 || { cat log config.log; fail "configure failed"; }
grep -q 'checking for pthread_create... yes' log || fail "configure does not find pthread_create"
grep -q 'checking for no_such_function... no' log || fail "configure finds a function that there is not"
grep -q 'checking for atomsan/atomsan.h... yes' log || fail "configure does not find atomsan/atomsan.h"
make check >log 2>&1 || { cat log; fail "make check failed"; }
watched ./prog
same "output" 6 "$(cat output)"
instrumented prog main.c up.c twice.c
