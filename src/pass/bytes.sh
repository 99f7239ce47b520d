#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# bytes.sh LLVM_BIN BITCODE HEADER: bitcode as a C array with the header's name, without what must come from
# the module that it is linked into: module flags, target processor, identification.
set -eu
"$1/llvm-dis" "$2" -o - |
	sed -E -e '/^!llvm\.(module\.flags|ident)/d' \
		-e 's/"(target-cpu|target-features|tune-cpu|stack-protector-buffer-size)"="[^"]*"//g' |
	"$1/llvm-as" -o "$3.bc"
{
	echo "static const unsigned char $(basename "$3" .h)[] = {"
	od -An -v -tx1 "$3.bc" | sed 's/ \(..\)/0x\1,/g'
	echo '};'
} >"$3"
rm "$3.bc"
