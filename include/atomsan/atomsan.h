/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a program can tell atomsan about itself. Everything here compiles to
 * nothing unless the program is built with `atomsan cc` or `atomsan c++`,
 * which define __ATOMSAN__, and changes no code but the brackets' even then. For
 * C and C++. Each says the same as a line of a spec file, atomsan-spec(5), and
 * spec files outweigh it.
 */
#ifndef ATOMSAN_ATOMSAN_H
#define ATOMSAN_ATOMSAN_H

#ifdef __ATOMSAN__

/* A member's annotation is in C a part of debug information; C++ has no such attribute,
 * but a note wherever the member is accessed. */
#define ATOMSAN_NOTE_(text) __attribute__((annotate("atomsan." text)))
#ifdef __cplusplus
#define ATOMSAN_TAG_(text) ATOMSAN_NOTE_(text)
#else
#define ATOMSAN_TAG_(text) __attribute__((btf_decl_tag("atomsan." text)))
#endif
#define ATOMSAN_JOIN2_(a, b) a##b
#define ATOMSAN_JOIN_(a, b) ATOMSAN_JOIN2_(a, b)
#define ATOMSAN_TYPE_(type, text) \
	static type *ATOMSAN_JOIN_(__atomsan_type_, __COUNTER__) __attribute__((used)) ATOMSAN_NOTE_(text)

#ifdef __cplusplus
extern "C" {
#endif
void __atomsan_unit_begin(void);
void __atomsan_unit_end(void);
#ifdef __cplusplus
}
#endif
#define ATOMSAN_BEGIN_() __atomsan_unit_begin()
#define ATOMSAN_END_() __atomsan_unit_end()

#else

#define ATOMSAN_NOTE_(text)
#define ATOMSAN_TAG_(text)
#define ATOMSAN_TYPE_(type, text) struct atomsan_nothing_
#define ATOMSAN_BEGIN_() ((void)0)
#define ATOMSAN_END_() ((void)0)

#endif

/* On a function: while it runs, it is a unit for every atomic set that it touches; or it is
 * none, whatever it looks like; or calling it is waiting, and open units are split there. */
#define ATOMSAN_UNIT ATOMSAN_NOTE_("unit")
#define ATOMSAN_NOT_UNIT ATOMSAN_NOTE_("notunit")
#define ATOMSAN_WAIT ATOMSAN_NOTE_("wait")

/* On a parameter that points or refers to a struct: while the function runs, it is a unit
 * for every instance of that struct that it touches. */
#define ATOMSAN_UNITFOR ATOMSAN_NOTE_("unitfor")

/* On members of a struct, or on variables: those of one name belong together. */
#define ATOMSAN_ATOMIC_SET(name) ATOMSAN_TAG_("set=" name)

/* On a member that is a pointer: what it leads to is a part of the object, or is none. */
#define ATOMSAN_OWNED ATOMSAN_TAG_("owned")
#define ATOMSAN_NOT_OWNED ATOMSAN_TAG_("notowned")

/* On variables, and in C on structs (`struct ATOMSAN_MERGE("books") account {`): all
 * instances and variables of one name are one atomic set. */
#define ATOMSAN_MERGE(name) ATOMSAN_TAG_("merge=" name)

/* On a function: its own accesses, entry and exit are not instrumented. On a variable or a
 * member, and in C on a struct: accesses to it are not instrumented. */
#ifdef __cplusplus
#define ATOMSAN_IGNORE ATOMSAN_NOTE_("ignore")
#else
#define ATOMSAN_IGNORE ATOMSAN_NOTE_("ignore") ATOMSAN_TAG_("ignore")
#endif

/* The same of a struct, class or union that is declared elsewhere, and the only way of C++,
 * which has no place for notes on types. With a semicolon, outside functions. */
#define ATOMSAN_TYPE_MERGE(type, name) ATOMSAN_TYPE_(type, "merge-type=" name)
#define ATOMSAN_TYPE_IGNORE(type) ATOMSAN_TYPE_(type, "ignore-type")

/* Brackets around code that must be atomic, whatever function it lies in. They
 * nest, and each thread must close what it opened. */
#define ATOMSAN_UNIT_BEGIN() ATOMSAN_BEGIN_()
#define ATOMSAN_UNIT_END() ATOMSAN_END_()

#endif
