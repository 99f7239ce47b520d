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

.macro restore_access size
	.if \size < 8
	restore r8
	.endif
	restore rdx
	restore rcx
	restore rax
.endm

.macro restore_range
	restore r10
	restore r9
	restore r8
	restore rcx
	restore rax
.endm

/* One word; to 8 if the window is full. */
.macro write_event id
	movl $8, %eax
	xaddq %rax, SELF(BRISK_NEXT)
	testl $BRISK_WINDOW, %eax
	jne 8f
	movq %rdi, %rcx
	shlq $BRISK_ADDRESS_SHIFT, %rcx
	leaq BRISK_ACCESS(%rcx, %\id), %rcx
	movq %rcx, (%rax)
.endm

.macro leave_to where, size
	.cfi_remember_state
	restore_access \size
	jmp \where
	.cfi_restore_state
.endm

/* rdi: the address; rsi: the site; rdx: where the cell is; rax: what is in it; rcx: the segment; r11: the event's
 * id; r8, where less than a granule is accessed: which bits a cell of it alone would lack. */
.macro hook kind, size, kinds, reads
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
	save rax
	save rcx
	save rdx
	.if \size < 8
	save r8
	movl %edi, %ecx
	andl $(8 - \size), %ecx
	movl $(((1 << \size) - 1) * \kinds), %r8d
	shll %cl, %r8d
	xorl $0xffff, %r8d
	.endif
	movq THREAD(BRISK_LOW), %rax
	cmpq SELF(BRISK_TOLD), %rax
	jb 7f
	imull $BRISK_BY_5, %r11d, %r11d
	movq THREAD(BRISK_MASK), %rdx
	andq %rdi, %rdx
	addq THREAD(BRISK_BASE), %rdx
	movq (%rdx), %rax
	leal BRISK_ONE_SUB(%rax), %ecx
	testl $BRISK_SUB, %ecx
	je 7f
	movq THREAD(BRISK_SEGMENT), %rcx
	cmpq %rcx, %rax
	ja 7f
	testq %rax, %rax
	je 7f
	xorq %rcx, %rax
	cmpq $0xffff, %rax
	jbe 3f
	.if \reads
	/* As taken_over(). */
	testl $BRISK_THREAD, %eax
	jne 5f
	.endif
1:
	.if \size < 8
	movl %r8d, %eax
	.else
	movl $(0xffff ^ 0xff * \kinds), %eax
	.endif
2:
	xorq %rax, %rcx
	movq %rcx, (%rdx)
	write_event r11
	.cfi_remember_state
	restore_access \size
	ret
	.cfi_restore_state
3:
	.if \size < 8
	andl %r8d, %eax
	.else
	andl $(0xffff ^ 0xff * \kinds), %eax
	.endif
	jmp 2b
	.if \reads
5:
	notl %eax
	testl $BRISK_WRITTEN, %eax
	jne 1b
	movq SELF(BRISK_NEXT), %rax
	subq SELF(BRISK_SEGMENT_START), %rax
	cmpq $BRISK_SHORT, %rax
	jb 1b
	cmpl $0, SELF(BRISK_LOCKS)
	jg 1b
	.endif
7:
	leave_to access_\kind\size, \size
8:
	leave_to access_full, \size
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
	write_event r10
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

.macro hooks kind, kinds, reads
	hook \kind, 1, \kinds, \reads
	hook \kind, 2, \kinds, \reads
	hook \kind, 4, \kinds, \reads
	hook \kind, 8, \kinds, \reads
.endm

	hooks read, 0x001, 1
	hooks write, 0x100, 0
	hooks update, 0x101, 0
	range_hook read, 0x001, 1
	range_hook write, 0x100, 0

	.section .note.GNU-stack, "", @progbits
