# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs and statements about them, for run.py.

In each program a thread does something in two critical sections, `torn` in most of them, and another one comes in
between. A case is: name, source, whether torn is reported without a word from the user, and statements with what becomes of
it. What the first statement says, the source says in its macros.
"""
PREAMBLE = """#include "stage.h"

#define UNLOCKED_BETWEEN STAGE(0); STAGE(3)
#define BETWEEN(action) STAGE(1); action; STAGE(2)

static pthread_mutex_t m __attribute__((unused)) = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t n __attribute__((unused)) = PTHREAD_MUTEX_INITIALIZER;

#define WITH(lock, action) do { pthread_mutex_lock(&lock); action; pthread_mutex_unlock(&lock); } while (0)
#define LOCKED(action) WITH(m, action)
"""
THREADS = """
int main(void)
{
	TOGETHER(one, other);
	return 0;
}
"""

# A function on an object, and somebody else's in between.
OBJECT = """
struct pair { int x, y; };
static struct pair pair;

/*+ %s */ __attribute__((noinline)) void torn(struct pair *p)
{
	LOCKED(p->x++; p->y++);
	%s
	UNLOCKED_BETWEEN;
	LOCKED(p->x++; p->y++);
}
/*+ %s */ __attribute__((noinline)) void other_function(struct pair *p) { LOCKED(p->x++; p->y++); }
static void *one(void *a) { torn(&pair); return a; }
static void *other(void *a) { BETWEEN(other_function(&pair)); return a; }
""" + THREADS

UNIT = """
struct pair { int x; };
static struct pair pair;

static /*+ ATOMSAN_UNIT */ void *torn(void *a)
{
	LOCKED(pair.x++);
	UNLOCKED_BETWEEN;
	LOCKED(pair.x++);
	return a;
}
static void *other(void *a) { BETWEEN(LOCKED(pair.x++)); return a; }
#define one torn
""" + THREADS

BRACKETS = UNIT.replace("/*+ ATOMSAN_UNIT */", "").replace("LOCKED(pair.x++);\n\tUNLOCKED", "ATOMSAN_UNIT_BEGIN();\n\tLOCKED(pair.x++);\n\tUNLOCKED").replace(
    "LOCKED(pair.x++);\n\treturn", "LOCKED(pair.x++);\n\tATOMSAN_UNIT_END();\n\treturn")

UNITFOR = """
struct a { int x; };
struct b { int x; };
static struct a a;
static struct b b;

__attribute__((noinline)) void touch(struct b *p) { LOCKED(p->x++); }
__attribute__((noinline)) void torn(struct a *mine, struct b *p /*+ ATOMSAN_UNITFOR */)
{
	touch(p);
	UNLOCKED_BETWEEN;
	touch(p);
	LOCKED(mine->x++);
}
static void *one(void *u) { torn(&a, &b); return u; }
static void *other(void *u) { BETWEEN(touch(&b)); return u; }
""" + THREADS

WAIT = OBJECT % ("", "pause_here();", "")
WAIT = WAIT.replace("static struct pair pair;", "static struct pair pair;\nstatic int pauses;\n"
                    "/*+ ATOMSAN_WAIT */ __attribute__((noinline)) void pause_here(void) { WITH(n, pauses++); }")

# Two members of a struct, looked at as one by who comes in between, or never.
MEMBERS = """
struct pair { int x %s; int y %s; };
static struct pair pair;

__attribute__((noinline)) void torn(struct pair *p)
{
	LOCKED(p->x++);
	UNLOCKED_BETWEEN;
	LOCKED(p->y++);
}
__attribute__((noinline)) void look(struct pair *p) { %s }
static void *one(void *a) { torn(&pair); return a; }
static void *other(void *a) { BETWEEN(look(&pair)); return a; }
""" + THREADS
TIED = "LOCKED(use(p->x + p->y));"
UNTIED = "LOCKED(p->x++); LOCKED(p->y++);"

# Variables of a file.
VARIABLES = """
static int x %s, y %s;

__attribute__((noinline)) void torn(void)
{
	WITH(m, x++);
	UNLOCKED_BETWEEN;
	WITH(%s, y++);
}
__attribute__((noinline)) void look(void) { WITH(m, x++); WITH(%s, y++); }
static void *one(void *a) { torn(); return a; }
static void *other(void *a) { BETWEEN(look()); return a; }
""" + THREADS

# What a pointer member leads to.
POINTER = """
struct node { int value; };
struct list { int count; struct node *node %s; };
static struct node node;
static struct list lists[2] = {{0, &node}, {0, &node}};

__attribute__((noinline)) void both(struct list *l) { LOCKED(l->count++; l->node->value++); }
__attribute__((noinline)) void torn(struct list *l)
{
	LOCKED(l->count++);
	UNLOCKED_BETWEEN;
	LOCKED(l->node->value++);
}
static void *one(void *a) { torn(&lists[1]); return a; }
static void *other(void *a) { BETWEEN(both(&lists[1])); return a; }

int main(void)
{
	%s
	TOGETHER(one, other);
	return 0;
}
"""

# Two objects, which have nothing to do with each other unless the user says so.
OBJECTS = """
%s
static /*+ %s */ struct a { int x; } a;
static /*+ %s */ struct b { int x; } b;

__attribute__((noinline)) void look(void) { WITH(m, a.x++); WITH(n, b.x++); }
__attribute__((noinline)) void torn(void)
{
	WITH(m, a.x++);
	UNLOCKED_BETWEEN;
	WITH(n, b.x++);
}
static void *one(void *u) { torn(); return u; }
static void *other(void *u) { BETWEEN(look()); return u; }
""" + THREADS
MERGED_TYPES = OBJECTS % ("", "", "")
MERGED_TYPES = MERGED_TYPES.replace("struct a {", 'struct /*+ ATOMSAN_MERGE("both") */ a {').replace(
    "struct b {", 'struct /*+ ATOMSAN_MERGE("both") */ b {')

# Accesses that do not count.
IGNORED = """
struct /*+ %s */ pair { int x /*+ %s */; };
/*+ %s */ static struct pair pair;

/*+ %s */ __attribute__((noinline)) void add(struct pair *p) { p->x++; }
__attribute__((noinline)) void torn(struct pair *p)
{
	LOCKED(add(p));
	UNLOCKED_BETWEEN;
	LOCKED(add(p));
}
static void *one(void *a) { torn(&pair); return a; }
static void *other(void *a) { BETWEEN(LOCKED(add(&pair))); return a; }
""" + THREADS

SET = 'ATOMSAN_ATOMIC_SET("%s")'


def tag(text):
    return f"/*+ {text} */"


CASES = [
    ("unit", UNIT, False, [("unit function torn", True), ("unit function other", False)]),
    ("brackets", BRACKETS, True, []),
    ("notunit", OBJECT % ("ATOMSAN_NOT_UNIT", "", ""), True,
     [("notunit function torn", False), ("notunit function t*", False), ("notunit function other_function", True),
      # A name says more than a pattern, wherever it stands.
      ("unit function torn\nnotunit function *", True), ("notunit function torn\nunit function *", False)]),
    ("unitfor", UNITFOR, False, [("unitfor function torn b", True), ("unitfor function torn a", False)]),
    ("wait", WAIT, True, [("wait function pause_here", False), ("wait function other_function", True)]),
    ("set-apart", MEMBERS % (tag(SET % "a"), tag(SET % "b"), TIED), True,
     [("set a pair.x\nset b pair.y", False), ("set a pair.x pair.y", True)]),
    ("set-together", MEMBERS % (tag(SET % "a"), tag(SET % "a"), UNTIED), False,
     [("set a pair.x pair.y", True), ("set a pair.x\nset b pair.y", False)]),
    ("variables-apart", VARIABLES % (tag(SET % "a"), tag(SET % "b"), "m", "m"), True,
     [("set a variable x\nset b variable y", False), ("set a variable x y", True)]),
    ("variables-together", VARIABLES % (tag(SET % "a"), tag(SET % "a"), "n", "n"), False,
     [("set a variable x y", True), ("set a variable x\nset b variable y", False)]),
    ("merge-variables", VARIABLES % (tag('ATOMSAN_MERGE("a")'), tag('ATOMSAN_MERGE("a")'), "n", "n"), False,
     [("merge a variable x y", True), ("merge a variable x\nmerge b variable y", False)]),
    ("notowned", POINTER % (tag("ATOMSAN_NOT_OWNED"), ""), True, [("notowned list.node", False), ("owned list.node", True)]),
    ("owned", POINTER % (tag("ATOMSAN_OWNED"), "both(&lists[0]); both(&lists[1]);"), False,
     [("owned list.node", True), ("notowned list.node", False)]),
    ("merge-types", MERGED_TYPES, False, [("merge both type a b", True), ("merge one type a\nmerge two type b", False)]),
    ("merge-types-elsewhere", OBJECTS % ("", "", "") + '/*+ ATOMSAN_TYPE_MERGE(struct a, "w"); ATOMSAN_TYPE_MERGE(struct b, "w"); */\n',
     False, [("merge w type a b", True)]),
    ("merge-objects", OBJECTS % ("", 'ATOMSAN_MERGE("w")', 'ATOMSAN_MERGE("w")'), False,
     [("merge w variable a b", True), ("merge w variable a", False)]),
    ("ignore-type", IGNORED % ("ATOMSAN_IGNORE", "", "", ""), True, [("ignore type pair", False), ("ignore type pai", True)]),
    ("ignore-member", IGNORED % ("", "ATOMSAN_IGNORE", "", ""), True,
     [("ignore member pair.x", False), ("ignore member pair.y", True)]),
    ("ignore-variable", IGNORED % ("", "", "ATOMSAN_IGNORE", ""), True,
     [("ignore variable pair", False), ("ignore variable elsewhere.c:pair", True)]),
    ("ignore-function", IGNORED % ("", "", "", "ATOMSAN_IGNORE"), True,
     [("ignore function add", False), ("ignore function ad?", False), ("ignore function ad", True)]),
    ("ignore-file", IGNORED % ("", "", "", ""), True, [("ignore file *ignore-file.c", False), ("ignore file other.c", True)]),
]

# What cannot be meant, and parts of the sentence about it.
BAD = [
    ("unit torn", ":1: expected 'unit function GLOB'"),
    ("\nfrobnicate", ":2: there is no statement 'frobnicate'"),
    ("unit function torn\n\nnotunit function torn", ":3: ", ":1"),
    ("set a pair.x\nset b pair.x", ":2: ", ":1"),
    ("unit function thorn", ":1: ", "did you mean 'torn'"),
    ("set a pairz_.x", ":1: ", "did you mean 'pair"),
    ('set "a pair.x', ":1: "),
    ("merge a type pair\nignore type pair", ":2: 'pair' is ignored here, but is merged at ", ":1"),
    ("ignore function torn\nunit function torn", ":2: 'torn' is a unit here, but is ignored at ", ":1"),
    ("unit function \x1b[31m", ":1: the program has no function '\\x1b[31m'"),
    ("set a pair.xylophone", ":1: the program has no member 'pair.xylophone'"),
    ("owned pair.q7_", ":1: the program has no member 'pair.q7_'"),
    ("set a variable sxth", ":1: the program has no variable 'sxth'"),
    ("merge a type elephant", ":1: the program has no struct 'elephant'"),
    ("lock function elephant", ":1: the program has no function 'elephant'"),
]

# A program with what is declared, and has no effect: statements about it are right, and say nothing.
UNUSED = """
struct other { int z; };
struct pair { int x, spare; struct other *next; };
static struct pair pair;
static inline void nothing(void) { __asm__ volatile(""); }

__attribute__((noinline)) void torn(struct pair *p) { nothing(); LOCKED(p->x++); UNLOCKED_BETWEEN; LOCKED(p->x++); }
static void *one(void *a) { torn(&pair); return a; }
static void *other(void *a) { BETWEEN(LOCKED(pair.x++)); return a; }
""" + THREADS

# What is said then by check, predict and run, and whether lint says it, which sees code before it is optimised.
UNSURE = [
    ("set a pair.spare", "accesses a member 'pair.spare'", True),
    ("owned pair.next", "accesses a member 'pair.next'", True),
    ("merge a type other", "accesses a struct 'other'", True),
    ("unit function nothing", "runs a function 'nothing'", False),
]

# Macros that contradict each other.
LIST = """
struct node { int x %s; struct node *next %s; };
static struct node list;

__attribute__((noinline)) %s void torn(struct node *p) { LOCKED(p->x++; if (p->next) p->next->x++); }
static void *one(void *a) { torn(&list); return a; }
#define other one
""" + THREADS
MACROS_BAD = [
    ("owned-not-owned", LIST % ("", "ATOMSAN_OWNED ATOMSAN_NOT_OWNED", ""), "owned-not-owned.c:", "'node.next' is not owned here"),
    ("two-sets", LIST % ('ATOMSAN_ATOMIC_SET("a") ATOMSAN_ATOMIC_SET("b")', "", ""), "two-sets.c:", "'node.x' belongs to 'b' here"),
    ("unit-ignored", LIST % ("", "", "ATOMSAN_UNIT ATOMSAN_IGNORE"), "unit-ignored.c:", "'torn' is ignored here, but is a unit"),
    ("merged-ignored", LIST % ("", "", "") + 'ATOMSAN_TYPE_MERGE(struct node, "a");\nATOMSAN_TYPE_IGNORE(struct node);\n',
     "merged-ignored.c:", "'node' is ignored here, but is merged"),
    # In C++ a member's annotations are one on the other.
    ("owned-not-owned-cxx.cc", LIST % ("", "ATOMSAN_OWNED ATOMSAN_NOT_OWNED", ""), "owned-not-owned-cxx.cc:", "'node.next' is"),
    ("contradiction", "void torn(void);\nATOMSAN_UNIT void torn(void);\n" + VARIABLES.replace(
        "__attribute__((noinline)) void torn", "ATOMSAN_NOT_UNIT __attribute__((noinline)) void torn") % ("", "", "m", "m"),
     "contradiction.c:", "torn"),
]

# Macros where they mean nothing: said when compiling, with the place.
MACROS_LOST = [
    ("owned-number.c", LIST % ("ATOMSAN_OWNED", "", ""), "owned-number.c:", "this annotation is for pointers"),
    ("owned-number.cc", LIST % ("ATOMSAN_OWNED", "", ""), "owned-number.cc:", "this annotation is for pointers"),
    ("owned-function.c", LIST % ("", "", "ATOMSAN_OWNED"), "owned-function.c:", "this annotation is not for functions"),
    ("set-function.c", LIST % ("", "", 'ATOMSAN_ATOMIC_SET("a")'), "set-function.c:", "this annotation is not for functions"),
    ("no-name.c", LIST % ('ATOMSAN_ATOMIC_SET("")', "", ""), "no-name.c:", "a set needs a name"),
    ("two-lines.c", LIST % ('ATOMSAN_ATOMIC_SET("a\\nb")', "", ""), "two-lines.c:", "a set needs a name"),
]
