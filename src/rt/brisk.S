/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * See brisk.h. What access_granule() and write_access() of access.c do, less what
 * is never so in a plain recording. A compiler takes eight registers for it, which
 * a hook has to save. Cells and segments are as in abi/hooks.h, and it is looked
 *
 *   - whether a frame was left that the trace was told of, a part: else that begins a segment;
 *   - whether the site is the executable's, and hooks may go this way at all. Its
 *     distance divided by 5, which a multiplication does, is its number where an event has it;
 *   - whether the cell is shared: then nothing is left of `sub` if one is added;
 *   - whether it was touched, and by nobody younger. A segment that has not begun is
 *     below every stamp;
 *   - at its exclusive or with the segment: the upper bits are 0 if the cell is of this
 *     segment, and the lower ones, of which a segment has all, are then those that the cell
 *     lacks. So the new cell is the segment exclusive or the bits that it still lacks.
 *
 * A signal handler may come in between anywhere, as in access.c.
 */
#include "rt/brisk.h"

#define THREAD(offset) %fs:__atomsan_thread@tpoff + offset
#define SELF(offset) %fs:rt_self@tpoff + offset

	.hidden brisk_sites
	.hidden rt_self
	.text

.macro save register
	pushq %\register
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset \register, 0
.endm

.macro restore register
	popq %\register
	.cfi_adjust_cfa_offset -8
	.cfi_restore \register
.endm

.macro restore_range
	restore r10
	restore r9
	restore r8
	restore rcx
	restore rax
.endm

/*
 * Accesses inside one granule. rdi: the address; rsi: the site; rdx: what was in the cell; rcx: the
 * segment; r8: where the cell is; r9: the bits that it is to have. rax, rdx and r11, which gets
 * the event's id, are free (abi/hooks.h).
 */
.macro hook kind, size, reads
	.globl __atomsan_\kind\size
	.type __atomsan_\kind\size, @function
	.hidden access_\kind\size
	.hidden access_full
	.p2align 5
__atomsan_\kind\size:
	.cfi_startproc
	movq %rsi, %r11
	subq brisk_sites(%rip), %r11
	cmpq brisk_sites + 8(%rip), %r11
	jae access_\kind\size
	movq THREAD(BRISK_LOW), %rax
	cmpq SELF(BRISK_TOLD), %rax
	jb access_\kind\size
	/* Of 0 this is more than any segment. */
	leaq -1(%rdx), %rax
	cmpq %rcx, %rax
	jae access_\kind\size
	movq %rdx, %rax
	xorq %rcx, %rax
	cmpq $0xffff, %rax
	jbe 3f
	.if \reads
	/* As taken_over(). */
	testl $BRISK_THREAD, %eax
	jne 5f
1:
	.endif
	leal BRISK_ONE_SUB(%rdx), %eax
	testl $BRISK_SUB, %eax
	.if \reads
	je 6f
	.else
	je access_\kind\size
	.endif
	movq %rcx, %rdx
	movw %r9w, %dx
2:
	movq %rdx, (%r8)
4:
	imull $BRISK_BY_5, %r11d, %r11d
	movl $8, %eax
	xaddq %rax, SELF(BRISK_NEXT)
	testl $BRISK_WINDOW, %eax
	jne access_full
	movq %rdi, %rdx
	shlq $BRISK_ADDRESS_SHIFT, %rdx
	leaq BRISK_ACCESS(%rdx, %r11), %rdx
	movq %rdx, (%rax)
	ret
3:
	orq %r9, %rdx
	jmp 2b
	.if \reads
5:
	testl $BRISK_WRITTEN, %edx
	jne 1b
	movq SELF(BRISK_NEXT), %rax
	subq SELF(BRISK_SEGMENT_START), %rax
	cmpq $BRISK_SHORT, %rax
	jb 1b
	cmpl $0, SELF(BRISK_LOCKS)
	jg 1b
	jmp access_\kind\size
6:
	/* As access_shared(). */
	movl SELF(BRISK_SLOT), %eax
	btl %eax, %edx
	jnc access_\kind\size
	movq THREAD(BRISK_MASK), %rax
	andq %rdi, %rax
	addq THREAD(BRISK_READER), %rax
	movq (%rax), %rdx
	xorq %rcx, %rdx
	cmpq $0xffff, %rdx
	ja 7f
	xorq %rcx, %rdx
	orq %r9, %rdx
	movq %rdx, (%rax)
	jmp 4b
7:
	movq %rcx, %rdx
	movw %r9w, %dx
	movq %rdx, (%rax)
	jmp 4b
	.endif
	.cfi_endproc
	.size __atomsan_\kind\size, . - __atomsan_\kind\size
.endm

/*
 * Structs that are copied, of up to eight granules that they lie like. All cells are
 * looked at before the first is taken over. rdx: the site; r11: where the cells are; r9: where
 * they end; r10: the event's id.
 */
.macro range_hook kind, kinds, reads
	.globl __atomsan_\kind\()_range
	.type __atomsan_\kind\()_range, @function
	.hidden access_\kind\()_range
	.hidden access_full_range
	.p2align 5
__atomsan_\kind\()_range:
	.cfi_startproc
	movl %edi, %r11d
	orl %esi, %r11d
	testl $7, %r11d
	jne access_\kind\()_range
	cmpq $64, %rsi
	ja access_\kind\()_range
	movq %rdx, %r11
	subq brisk_sites(%rip), %r11
	cmpq brisk_sites + 8(%rip), %r11
	jae access_\kind\()_range
	testb $BRISK_SITE_RANGE, BRISK_SITE_FLAGS(%rdx)
	jne access_\kind\()_range
	save rax
	save rcx
	save r8
	save r9
	save r10
	movq THREAD(BRISK_LOW), %rax
	cmpq SELF(BRISK_TOLD), %rax
	jb 7f
	imull $BRISK_BY_5, %r11d, %r10d
	movq THREAD(BRISK_MASK), %r11
	andq %rdi, %r11
	addq THREAD(BRISK_BASE), %r11
	movq THREAD(BRISK_SEGMENT), %rcx
	leaq (%r11, %rsi), %r9
	movq %r11, %r8
1:
	movq (%r8), %rax
	cmpq %rcx, %rax
	ja 7f
	testq %rax, %rax
	je 7f
	.if \reads
	/* As taken_over(). */
	xorl %ecx, %eax
	testl $BRISK_THREAD, %eax
	jne 5f
	xorl %ecx, %eax
	.endif
2:
	addl $BRISK_ONE_SUB, %eax
	testl $BRISK_SUB, %eax
	je 7f
	addq $8, %r8
	cmpq %r9, %r8
	jb 1b
3:
	movq (%r11), %rax
	xorq %rcx, %rax
	cmpq $0xffff, %rax
	jbe 4f
	movl $0xffff, %eax
4:
	andl $(0xffff ^ 0xff * \kinds), %eax
	xorq %rcx, %rax
	movq %rax, (%r11)
	addq $8, %r11
	cmpq %r9, %r11
	jb 3b
	/* One word. */
	movl $8, %eax
	xaddq %rax, SELF(BRISK_NEXT)
	testl $BRISK_WINDOW, %eax
	jne 8f
	movq %rdi, %rcx
	shlq $BRISK_ADDRESS_SHIFT, %rcx
	leaq BRISK_ACCESS(%rcx, %r10), %rcx
	movq %rcx, (%rax)
	.cfi_remember_state
	restore_range
	ret
	.cfi_restore_state
	.if \reads
5:
	xorl %ecx, %eax
	testl $BRISK_WRITTEN, %eax
	jne 2b
	cmpl $0, SELF(BRISK_LOCKS)
	jg 2b
	/* r9 has another use for a moment. */
	movq SELF(BRISK_NEXT), %r9
	subq SELF(BRISK_SEGMENT_START), %r9
	cmpq $BRISK_SHORT, %r9
	leaq (%r11, %rsi), %r9
	jb 2b
	.endif
7:
	.cfi_remember_state
	restore_range
	jmp access_\kind\()_range
	.cfi_restore_state
8:
	restore_range
	jmp access_full_range
	.cfi_endproc
	.size __atomsan_\kind\()_range, . - __atomsan_\kind\()_range
.endm

.macro hooks kind, reads
	hook \kind, 1, \reads
	hook \kind, 2, \reads
	hook \kind, 4, \reads
	hook \kind, 8, \reads
.endm

	hooks read, 1
	hooks write, 0
	hooks update, 0
	range_hook read, 0x001, 1
	range_hook write, 0x100, 0

	.section .note.GNU-stack, "", @progbits
