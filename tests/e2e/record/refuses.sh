#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# refuses.sh ATOMSAN: what `record` cannot do gets one sentence and status 1, and leaves nothing behind.
set -u
atomsan=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0

# refused SENTENCE ARGUMENT...
refused() {
	sentence=$1
	shift
	said=$("$atomsan" record "$@" 2>&1 >/dev/null)
	status=$?
	case $said in
	*"$sentence"*) ;;
	*) echo "record $*: said '$said', not '$sentence'" && failed=1 ;;
	esac
	[ "$(printf '%s\n' "$said" | wc -l)" = 1 ] || { echo "record $*: more than one line: $said" && failed=1; }
	[ $status = 1 ] || { echo "record $*: status $status" && failed=1; }
}

refused "which program?"
refused "cannot be written: No such file" -o missing/x.atr -- true
refused "cannot be replaced: Is a directory" -o "$folder" -- true
mkfifo pipe
ln -s pipe leads-to-it
for file in pipe leads-to-it; do
	refused "cannot be replaced: it is not a regular file" -o $file -- true
	[ -p $file ] || { echo "$file is gone" && failed=1; }
done
said=$("$atomsan" run --keep-trace pipe -- true 2>&1)
case $?:$said in
1:*"pipe: cannot be replaced: it is not a regular file") ;;
*) echo "run --keep-trace pipe: $said" && failed=1 ;;
esac
[ -p pipe ] || { echo "pipe is gone after run" && failed=1; }
rm pipe leads-to-it
refused "was it built with 'atomsan cc'?" -o x.atr -- true
refused "No such file or directory" -o x.atr -- ./missing
refused "may not have a colon" -o a:b -- true
refused "takes megabytes" --max-size=much -- true
refused "did you mean '--verbose'?" --verbos -- true
[ -z "$(ls)" ] || { echo "left behind: $(ls)" && failed=1; }
exit $failed
