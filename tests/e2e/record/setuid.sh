#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# setuid.sh ATOMSAN: a program that runs with somebody else's rights takes no options from who runs it, so that it
# writes no file of his choice, and the verbs say so.
set -u
atomsan=$(realpath "$1")
if [ "$(id -u)" != 0 ] || ! command -v setpriv >/dev/null; then
	echo "only root can make such a program for somebody else"
	exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0
chmod 755 "$folder"
mkdir theirs && chmod 777 theirs
echo 'int main(void) { return 7; }' >x.c
"$atomsan" cc x.c -o x && chmod 4755 x || exit 1
other() {
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}
other ./x
[ $? = 7 ] || { echo "cannot be run by others here" && exit 77; }
other env ATOMSAN_OPTIONS="record=$folder/theirs/x.atr:log_path=$folder/theirs/log:verbosity=2" ./x
[ $? = 7 ] || { echo "fails with options" && failed=1; }
[ -z "$(ls theirs)" ] || { echo "written: $(ls theirs)" && failed=1; }
if other test -x "$atomsan"; then
	for verb in "record -o theirs/x.atr" "run --no-store" "race --no-store" "explore --no-store"; do
		said=$(other "$atomsan" $verb -- ./x 2>&1 >/dev/null)
		case $?:$said in
		1:*"takes no options") ;;
		*) echo "$verb: $said" && failed=1 ;;
		esac
	done
fi
exit $failed
