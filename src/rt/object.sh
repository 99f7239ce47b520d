#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# object.sh ARCHIVE OBJECT ATOMSAN: the runtime as one object that gets along with any
# program. Names of our own are gone, lest the program has the same; what we
# interpose is weak, because a program may define it for itself, as it may
# without us. The path of the executable ATOMSAN is put into it: there a program
# finds its checker.
set -eu
names=$2.names
path=$2.path.o
trap 'rm -f "$names" "$path"' EXIT
quoted=$(printf '%s' "$3" | sed 's/[\\"]/\\&/g')
as -o "$path" <<END
	.section .rodata
	.globl __atomsan_checker
	.hidden __atomsan_checker
__atomsan_checker:
	.asciz "$quoted"
	.section .note.GNU-stack,"",@progbits
END
ld -r --whole-archive "$1" "$path" -o "$2"
nm --defined-only --extern-only "$2" | awk '$3 !~ /^__atomsan_/ { print $3 }' >"$names"
objcopy --localize-hidden --weaken-symbols="$names" "$2"
