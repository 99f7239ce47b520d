# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Libtool looks closely at the compiler, links shared libraries with -no-undefined
# and runs programs from the build folder through scripts.
. "$(dirname "$0")/lib.sh"
need autoreconf automake libtoolize make
project c
cat >configure.ac <<'END'
AC_INIT([count], [1])
AC_CONFIG_MACRO_DIRS([m4])
AM_INIT_AUTOMAKE([foreign])
AC_PROG_CC
AM_PROG_AR
LT_INIT
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
END
cat >Makefile.am <<'END'
ACLOCAL_AMFLAGS = -I m4
lib_LTLIBRARIES = libtwice.la
noinst_LTLIBRARIES = libup.la
libtwice_la_SOURCES = twice.c count.h
libtwice_la_LDFLAGS = -no-undefined -Wl,--no-undefined
libup_la_SOURCES = up.c
bin_PROGRAMS = prog
prog_SOURCES = main.c
prog_LDADD = libtwice.la libup.la
TESTS = prog
END
mkdir m4
autoreconf -i >log 2>&1 || { cat log; fail "autoreconf failed"; }
./configure CC="$ACC" --disable-static >log 2>&1 || { cat log config.log; fail "configure failed"; }
make check >log 2>&1 || { cat log; fail "make check failed"; }
watched ./prog
same "output" 6 "$(cat output)"
instrumented .libs/libtwice.so twice.c
