#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# run.sh ATOMSAN SAMPLES OUTPUT: HTML reports in a real Chromium; screenshots go to OUTPUT. The report of a real
# finding is made first: the bank of the examples is built, recorded and checked, and the loss forced.
# Nothing is downloaded here: scripts/install-browser does that, once.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
atomsan=$(realpath "$1")
samples=$(realpath "$2")
mkdir -p "$3"
output=$(realpath "$3")
for program in chromium node; do
	if ! command -v "$program" >/dev/null; then
		echo "$program is not installed; scripts/install-browser installs what the browser tests need"
		exit 77
	fi
done
if ! [ -d "${ATOMSAN_NODE_MODULES:=$here/node_modules}/playwright-core" ]; then
	echo "playwright-core is not installed; scripts/install-browser installs what the browser tests need"
	exit 77
fi
export ATOMSAN_NODE_MODULES
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$here/../.."
export ATOMSAN_DB="$folder/findings.db"

"$atomsan" cc -g -O2 examples/bank.c -o "$folder/bank" -pthread
# Which run loses money is up to the machine; most do.
tries=0
until (cd "$folder" && "$atomsan" record -o bank.atr -- ./bank 2000 >/dev/null || [ $? = 1 ]) &&
	! "$atomsan" check "$folder/bank.atr" >"$folder/found"; do
	tries=$((tries + 1))
	[ $tries -lt 10 ] || { echo "the bank lost nothing in 10 runs"; exit 1; }
done
grep -q '^SUMMARY: atomsan: 1 finding' "$folder/found" || { cat "$folder/found"; exit 1; }
(cd "$folder" && "$atomsan" explore --seed=1 --budget=20 --jobs=1 -- ./bank 1 >found) || [ $? = 66 ]
"$atomsan" report -o "$folder/bank.html"

# A whole life, a race, broken sections and a deadlock: what other verbs find is shown as well.
mkdir "$folder/life" "$folder/race" "$folder/deadlock"
"$atomsan" cc -g -O2 examples/bank.c -o "$folder/life/bank" -pthread
"$atomsan" cc -g -O2 tests/corpus/wrong/bank/bank.c -o "$folder/race/bank" -pthread
"$atomsan" cc -g -O1 tests/e2e/sched/deadlock.c -o "$folder/deadlock/deadlock" -pthread
unset ATOMSAN_DB
found() { "$atomsan" "$@" >"$folder/found" 2>&1 || [ $? = 66 ] || { cat "$folder/found"; exit 1; }; }
(
	cd "$folder/life"
	found lint ./bank
	"$atomsan" record -o t.atr -- ./bank 1 >/dev/null || [ $? = 1 ]
	found predict t.atr
	found explore --seed=1 --budget=20 --jobs=1 --plain-seconds=0.01 -- ./bank 1
	found learn --from-findings -- ./bank 1
	found heal --verify -- ./bank 1
	found mark 40f78d747c6f fixed --reason='one critical section'
)
(
	cd "$folder/race"
	found lint --no-store --repository=bank.atomicity ./bank
	for seed in 1 2 3 4 5 6 7 8 9 10; do
		found race --noise=random:100:sleep:50 --repository=bank.atomicity --seed=$seed -- ./bank
		[ "$("$atomsan" list | grep -c '^F-')" -lt 2 ] || break
	done
)
(cd "$folder/deadlock" && found explore --seed=1 --budget=200 --stop-at-first --jobs=1 -- ./deadlock)
for name in life race deadlock; do
	"$atomsan" report --all --db="$folder/$name/.atomsan/findings.db" -o "$folder/$name.html"
done
for sample in all hostile 5000; do
	"$samples" json "$sample" >"$folder/$sample.json"
	"$atomsan" report -o "$folder/$sample.html" "$folder/$sample.json"
done
# What the browser leaves behind if it is killed lies in the folder, too.
mkdir "$folder/tmp"
TMPDIR=$folder/tmp node "$here/report.mjs" "$folder" "$output"
