#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""odd.py ATOMSAN: programs that are legal and odd. Each is written as LLVM's text, so that it is exactly what it is meant
to be: loops with two entries, computed jumps, code that is never reached, functions without end, ten thousand
functions in a row and in a circle, a function that nobody has, text of an LLVM that is long gone. In each there is the
same fault, and it must be found in spite of the rest.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

# A thread that reads in one critical region and writes in the next; main does the same.
FAULT = """
@lock = global [40 x i8] zeroinitializer
@value = global i64 0
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
define i64 @get() {
  call i32 @pthread_mutex_lock(ptr @lock)
  %v = load i64, ptr @value
  call i32 @pthread_mutex_unlock(ptr @lock)
  ret i64 %v
}
define void @put(i64 %v) {
  call i32 @pthread_mutex_lock(ptr @lock)
  store i64 %v, ptr @value
  call i32 @pthread_mutex_unlock(ptr @lock)
  ret void
}
define void @fault() {
  %v = call i64 @get()
  %w = add i64 %v, 1
  call void @put(i64 %w)
  ret void
}
define ptr @work(ptr %x) {
  call void @odd(i32 3)
  call void @fault()
  ret ptr %x
}
define i32 @main() {
  %t = alloca i64
  call i32 @pthread_create(ptr %t, ptr null, ptr @work, ptr null)
  call void @fault()
  %h = load i64, ptr %t
  call i32 @pthread_join(i64 %h, ptr null)
  ret i32 0
}
"""

# A loop that is entered at two places.
TWO_ENTRIES = """
define void @odd(i32 %n) {
  %c = icmp sgt i32 %n, 1
  br i1 %c, label %a, label %b
a:
  %x = phi i32 [ %n, %0 ], [ %y, %b ]
  call i32 @pthread_mutex_lock(ptr @lock)
  call i32 @pthread_mutex_unlock(ptr @lock)
  %d = icmp eq i32 %x, 0
  br i1 %d, label %end, label %b
b:
  %z = phi i32 [ 5, %0 ], [ %x, %a ]
  %y = sub i32 %z, 1
  %e = icmp eq i32 %y, 0
  br i1 %e, label %end, label %a
end:
  ret void
}
"""

# goto *table[n], a block that nobody jumps to, and one that only it jumps to.
COMPUTED = """
@table = internal constant [2 x ptr] [ptr blockaddress(@odd, %one), ptr blockaddress(@odd, %two)]
define void @odd(i32 %n) {
entry:
  %i = and i32 %n, 1
  %p = getelementptr [2 x ptr], ptr @table, i32 0, i32 %i
  %t = load ptr, ptr %p
  indirectbr ptr %t, [label %one, label %two]
one:
  call i32 @pthread_mutex_lock(ptr @lock)
  indirectbr ptr %t, [label %one, label %two]
two:
  call i32 @pthread_mutex_unlock(ptr @lock)
  ret void
never:
  store i64 7, ptr @value
  br label %neither
neither:
  ret void
}
"""

# It never returns if it is called at all, and holds the lock for ever.
ENDLESS = """
define void @spin() {
  call i32 @pthread_mutex_lock(ptr @lock)
  br label %again
again:
  br label %again
}
define void @odd(i32 %n) {
  %c = icmp eq i32 %n, 1000
  br i1 %c, label %yes, label %no
yes:
  call void @spin()
  unreachable
no:
  switch i32 %n, label %end [ i32 1, label %end
                              i32 2, label %end ]
end:
  ret void
}
"""

MISSING = "declare void @odd(i32)\n"
# With types of pointers, which LLVM gave up years ago.
OLD = "define void @odd(i32 %n) {\n  %p = alloca i32\n  store i32 %n, i32* %p\n  ret void\n}\n"
FUNCTIONS = 10000


def row(circle):
    """Each calls the next; the last one calls the first, or nobody."""
    parts = ["define void @odd(i32 %n) {\n  call void @f0(i32 %n)\n  ret void\n}"]
    for i in range(FUNCTIONS):
        last = i == FUNCTIONS - 1
        to = "" if last and not circle else f"  call void @f{0 if last else i + 1}(i32 %n)\n"
        parts.append(f"define internal void @f{i}(i32 %n) {{\n{to}  ret void\n}}")
    return "\n".join(parts)


def lint(atomsan, file):
    return subprocess.run([atomsan, "lint", "--json", "--no-store", str(file)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False, timeout=120)


def main():
    atomsan, wrong = sys.argv[1], []
    readable = {"two entries": TWO_ENTRIES, "computed jumps": COMPUTED, "endless": ENDLESS, "missing": MISSING, "old": OLD,
                "a row": row(False), "a circle": row(True)}
    with tempfile.TemporaryDirectory() as name:
        file = pathlib.Path(name) / "odd.ll"
        for what, text in readable.items():
            file.write_text(FAULT + text)
            done = lint(atomsan, file)
            if done.returncode != 66:
                wrong.append(f"{what}: status {done.returncode}: {done.stderr[:300]}")
                continue
            found = [f["units"][0]["function"] for f in json.loads(done.stdout)["findings"]]
            if found != ["fault"]:
                wrong.append(f"{what}: found {found}")
    sys.exit("\n".join(wrong) if wrong else 0)


main()
