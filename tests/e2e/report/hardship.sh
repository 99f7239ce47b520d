#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# hardship.sh ATOMSAN SAMPLES: a store that cannot be written. Whatever the reason, there is one clear sentence, and
# what was found is printed. A read-only folder and a full disk are made in a namespace of our own; where that is not
# allowed, the test is skipped.
set -eu
if [ "${INSIDE:-}" != yes ]; then
	atomsan=$(realpath "$1")
	samples=$(realpath "$2")
	folder=$(mktemp -d)
	trap 'rm -rf "$folder"' EXIT
	as_user=
	[ "$(id -u)" = 0 ] || as_user=-r
	if ! unshare $as_user -m mount -t tmpfs -o size=64k none "$folder" 2>/dev/null; then
		echo "no namespace with mounts of its own here; nothing was tested"
		exit 77
	fi
	INSIDE=yes unshare $as_user -m "$0" "$atomsan" "$samples" "$folder"
	exit
fi
atomsan=$1
samples=$2
unset ATOMSAN_DB
mount -t tmpfs -o size=16m none "$3"
cd "$3"
mkdir small readonly
mount -t tmpfs -o size=96k none small
mount -t tmpfs -o size=64k none readonly
"$samples" json bank >bank.json
"$samples" json 400 >readonly/x 2>/dev/null || rm -f readonly/x
cp bank.json readonly/
mount -o remount,ro readonly

# refused STATUS PART COMMAND...: that status, one sentence with that part, and the result all the same.
refused()
{
	status=$1
	part=$2
	shift 2
	got=0
	"$@" >out 2>err || got=$?
	[ "$got" = "$status" ] || { echo "$*: exit status $got, not $status"; cat err; exit 1; }
	[ "$(wc -l <err)" = 1 ] || { echo "$*: not one sentence:"; cat err; exit 1; }
	grep -q "$part" err || { echo "$*: '$part' is not in: $(cat err)"; exit 1; }
	grep -q '^SUMMARY: atomsan: 1 finding' out || { echo "$*: what was found is not printed"; exit 1; }
}

# Asked for, a store that cannot be written is a failure; by default it is not the run's.
refused 1 'not stored: cannot' "$atomsan" import --db=readonly/findings.db bank.json
refused 1 'not stored: cannot make the folder' "$atomsan" import --db=readonly/.atomsan/findings.db bank.json
cd readonly
refused_here()
{
	got=0
	"$atomsan" import bank.json >../out 2>../err || got=$?
	[ "$got" = 66 ] && grep -q 'not stored: ' ../err && grep -q '^SUMMARY: atomsan: 1 finding' ../out
}
refused_here || { echo "a read-only folder: status and output are wrong"; cat ../out ../err; exit 1; }
cd ..

# The disk becomes full while the store is written. What was there before is there afterwards.
"$atomsan" import --db=small/findings.db bank.json >out || [ $? = 66 ]
dd if=/dev/zero of=small/fill bs=1k count=200 2>/dev/null || true
"$samples" json 300 | sed 's|"verb": "check"|"verb": "later"|' >many.json
got=0
"$atomsan" import --db=small/findings.db many.json >out 2>err || got=$?
[ "$got" = 1 ] || { echo "a full disk: exit status $got"; cat err; exit 1; }
[ "$(wc -l <err)" = 1 ] || { cat err; exit 1; }
grep -q 'not stored: .*room' err || { cat err; exit 1; }
grep -q '^SUMMARY: atomsan: 300 findings' out
rm small/fill
"$atomsan" list --db=small/findings.db >out
grep -q '^1 finding ' out || { echo "after a full disk:"; cat out; exit 1; }

# A database of another program, one of a newer version, one that is none.
sqlite() { python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])' "$@"; }
sqlite other.db 'CREATE TABLE cookies (name TEXT)'
refused 1 'another program' "$atomsan" import --db=other.db bank.json
"$atomsan" import --db=newer.db bank.json >out || [ $? = 66 ]
sqlite newer.db 'PRAGMA user_version = 1000'
refused 1 'newer atomsan' "$atomsan" import --db=newer.db bank.json
refused 1 'not a database' "$atomsan" import --db=bank.json bank.json
mkdir folder.db
refused 1 'not stored: ' "$atomsan" import --db=folder.db bank.json
echo ok
