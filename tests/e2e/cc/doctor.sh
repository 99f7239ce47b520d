# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The doctor finds a sound machine sound, names what is broken, and leaves nothing behind.
. "$(dirname "$0")/lib.sh"
need python3
mkdir tmp
export TMPDIR=$work/tmp
"$ATOMSAN" doctor >lines || { cat lines; fail "something is broken here"; }
for what in 'the pass compiles' 'the runtime links' 'runs and writes a trace' 'carries its bitcode' overcommit_memory; do
	grep -q "^ok .*$what" lines || fail "'$what' is not said: $(cat lines)"
done
"$ATOMSAN" doctor --json >json
python3 - json <<'END'
import json, sys
document = json.load(open(sys.argv[1]))
assert document["version"] == 1 and document["broken"] == 0
states = [c["state"] for c in document["checks"]]
assert len(states) > 10 and set(states) <= {"ok", "warning"}, states
assert states.count("warning") == document["warnings"]
END
same "what is left of it" "" "$(ls tmp)"

# A limited address space has no room for the shadow.
s=0
(ulimit -v 8000000; "$ATOMSAN" doctor >lines) || s=$?
same "exit status with ulimit -v" 1 $s
grep -q '^broken .*address space' lines && grep -q 'ulimit -v unlimited' lines || fail "the limit is not named: $(cat lines)"

# A clang of another version.
mkdir bin
printf '#!/bin/sh\necho "clang version 7.0.1"\n' >bin/$clang
chmod +x bin/$clang
s=0
PATH=$work/bin:$PATH "$ATOMSAN" doctor >lines || s=$?
same "exit status with another clang" 1 $s
grep -q '^broken .*7.0.1' lines || fail "the version is not named: $(cat lines)"

# Nowhere to work.
s=0
TMPDIR=$work/no-such-folder "$ATOMSAN" doctor >lines || s=$?
same "exit status without TMPDIR" 1 $s
same "what is left of it" "" "$(ls tmp)"
if "$ATOMSAN" doctor surplus 2>message; then fail "an argument is accepted"; fi
