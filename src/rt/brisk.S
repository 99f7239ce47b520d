/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * See brisk.h. What access_granule() and write_access() of access.c do, less what
 * is never so in a plain recording. A compiler takes eight registers for it, which
 * a hook has to save; here are as many as it is free to use. Cells and segments are as in abi/hooks.h, and it is looked
 *
 *   - whether a frame was left that the trace was told of, a part: else that begins a segment;
 *   - whether the site is the executable's, and hooks may go this way at all. Its
 *     distance divided by 5, which a multiplication does, is its number where an event has it;
 *   - whether the cell is shared: then nothing is left of `sub` if one is added;
 *   - whether it was touched, and by nobody younger. A segment that has not begun is
 *     below every stamp, and begins here;
 *   - at its exclusive or with the segment: the upper bits are 0 if the cell is of this
 *     segment, and the lower ones, of which a segment has all, are then those that the cell
 *     lacks. So the new cell of a struct is the segment exclusive or the bits that it still lacks.
 *
 * A signal handler may come in between anywhere, as in access.c.
 */
#include "rt/brisk.h"

#define THREAD(offset) %fs:__atomsan_thread@tpoff + offset
#define SELF(offset) %fs:rt_self@tpoff + offset

	.hidden brisk_sites
	.hidden rt_self
	.hidden rt_recording
	.hidden rt_numbers
	.hidden rt_header
	.text

/*
 * What event_catch_up() of event.c does where a segment has not begun: tells of the frames that were entered
 * and left, as write_usual_frames(), and begins one. Returns it in rax, or 0, and then access.c goes on from
 * where this came to. Keeps all registers but rax, rdx and r11.
 */
	.type brisk_catch_up, @function
	.p2align 5
brisk_catch_up:
	.cfi_startproc
	cmpb $0, rt_recording(%rip)
	je 9f
	movq THREAD(BRISK_TOP), %rax
	movq THREAD(BRISK_LOW), %rdx
	movq SELF(BRISK_TOLD), %r11
	cmpq %rdx, %r11
	jne 2f
	cmpq %rax, %r11
	jne 2f
1:
	movl SELF(BRISK_SUBS_SO_FAR), %eax
	incl %eax
	cmpl $BRISK_SUBS, %eax
	jae 9f
	movl %eax, SELF(BRISK_SUBS_SO_FAR)
	shll $BRISK_SEGMENT_SHIFT, %eax
	movl SELF(BRISK_MARK), %edx
	shll $BRISK_THREAD_SHIFT, %edx
	leal BRISK_FRESH(%rax, %rdx), %eax
	movq SELF(BRISK_STAMP), %rdx
	shlq $BRISK_STAMP_SHIFT, %rdx
	orq %rdx, %rax
	movq %rax, THREAD(BRISK_SEGMENT)
	movq SELF(BRISK_NEXT), %rdx
	movq %rdx, SELF(BRISK_SEGMENT_START)
	ret
2:
	/* A handler that interrupts this does without its frames. */
	cmpl $0, SELF(BRISK_FLUSHING)
	jne 9f
	pushq %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	pushq %rcx
	.cfi_adjust_cfa_offset 8
	pushq %rsi
	.cfi_adjust_cfa_offset 8
	pushq %rdi
	.cfi_adjust_cfa_offset 8
	movl $1, SELF(BRISK_FLUSHING)
	movl $BRISK_ENTER, %ecx
	/* From rdx, the lower of the two, to rax; r11: frames that were left, 16 bytes each. */
	cmpq %r11, %rdx
	cmovaq %r11, %rdx
	subq %rdx, %r11
	je 5f
	cmpq $16, %r11
	jne 4f
	cmpq %rax, %rdx
	jae 4f
	movl $BRISK_SWITCH, %ecx
	jmp 5f
4:
	shrq $4, %r11
	cmpq $BRISK_IDS, %r11
	jae 7f
	leaq BRISK_EXIT(, %r11, 1 << BRISK_ID_SHIFT), %r11
	movl $8, %esi
	xaddq %rsi, SELF(BRISK_NEXT)
	testl $BRISK_WINDOW, %esi
	jne 7f
	movq %r11, (%rsi)
	movq %rdx, SELF(BRISK_TOLD)
5:
	cmpq %rax, %rdx
	jae 6f
	movq (%rdx), %rsi
	subq rt_numbers + BRISK_FUNCTIONS(%rip), %rsi
	shrq $5, %rsi
	cmpq rt_numbers + BRISK_FUNCTIONS + 8(%rip), %rsi
	jae 7f
	movq 8(%rdx), %rdi
	movq %rdi, %r11
	shrq $40, %r11
	andl $15, %r11d
	movq rt_header(%rip), %rbx
	movq BRISK_REGIONS(%rbx, %r11, 8), %rbx
	movq %rdi, %r11
	shrq $(64 - BRISK_ADDRESS_SHIFT), %r11
	cmpq %r11, %rbx
	jne 7f
	leaq (%rcx, %rsi, 1 << BRISK_ID_SHIFT), %rsi
	shlq $BRISK_ADDRESS_SHIFT, %rdi
	orq %rdi, %rsi
	movl $8, %edi
	xaddq %rdi, SELF(BRISK_NEXT)
	testl $BRISK_WINDOW, %edi
	jne 7f
	movq %rsi, (%rdi)
	addq $16, %rdx
	/* In this order: what is not yet written is above both. */
	movq %rdx, THREAD(BRISK_LOW)
	movq %rdx, SELF(BRISK_TOLD)
	movl $BRISK_ENTER, %ecx
	jmp 5b
6:
	movq %rax, THREAD(BRISK_LOW)
	movl $1, %eax
	jmp 8f
7:
	xorl %eax, %eax
8:
	movl $0, SELF(BRISK_FLUSHING)
	popq %rdi
	.cfi_adjust_cfa_offset -8
	popq %rsi
	.cfi_adjust_cfa_offset -8
	popq %rcx
	.cfi_adjust_cfa_offset -8
	popq %rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	testl %eax, %eax
	jne 1b
9:
	xorl %eax, %eax
	ret
	.cfi_endproc
	.size brisk_catch_up, . - brisk_catch_up

/*
 * Accesses inside one granule. rdi: the address; rsi: the site; rdx: what was in the cell; rcx: the
 * segment; r8: where the cell is; r9: the bits that it is to have. rax, rdx and r11, which gets
 * the event's id, are free (abi/hooks.h).
 */
.macro hook kind, size, reads
	.globl __atomsan_news_\kind\size
	.type __atomsan_news_\kind\size, @function
	.hidden access_\kind\size
	.hidden access_full
	.p2align 5
__atomsan_news_\kind\size:
	.cfi_startproc
	movq %rsi, %r11
	subq brisk_sites(%rip), %r11
	cmpq brisk_sites + 8(%rip), %r11
	jae access_\kind\size
	movq THREAD(BRISK_LOW), %rax
	cmpq SELF(BRISK_TOLD), %rax
	jb 8f
	/* Of 0 this is more than any segment. */
	leaq -1(%rdx), %rax
	cmpq %rcx, %rax
	jae 8f
	movq %rdx, %rax
	xorq %rcx, %rax
	cmpq $0xffff, %rax
	jbe 3f
	.if \reads
	/* As taken_over(). */
	movq SELF(BRISK_NEXT), %rax
	subq SELF(BRISK_SEGMENT_START), %rax
	cmpq $BRISK_SHORT, %rax
	jae 5f
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
	cmpl $0, SELF(BRISK_LOCKS)
	jg 1b
	testl $BRISK_WRITTEN, %edx
	jne 1b
	movl %edx, %eax
	xorl %ecx, %eax
	testl $BRISK_THREAD, %eax
	je 1b
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
8:
	cmpq $BRISK_FRESH, %rcx
	jne access_\kind\size
	call brisk_catch_up
	testq %rax, %rax
	je access_\kind\size
	/* It is the caller's register, to be kept. */
	pushq %rcx
	.cfi_adjust_cfa_offset 8
	movq %rax, %rcx
	movq (%r8), %rdx
	call __atomsan_news_\kind\size
	popq %rcx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size __atomsan_news_\kind\size, . - __atomsan_news_\kind\size
.endm

/*
 * Structs that are copied, of up to eight granules that they lie like. All cells are
 * looked at before the first is taken over, from the last to the first. rdi: the address; rsi: the length; rdx: the
 * site, whose place is then in r11, and which cell it is; rcx: the segment; r8: where the cells are.
 */
.macro struct_hook kind, kinds, reads
	.globl __atomsan_\kind\()_struct
	.type __atomsan_\kind\()_struct, @function
	.hidden access_\kind\()_range
	.hidden access_full_range
	.p2align 5
__atomsan_\kind\()_struct:
	.cfi_startproc
	testb $7, %dil
	jne access_\kind\()_range
	movq %rdx, %r11
	subq brisk_sites(%rip), %r11
	cmpq brisk_sites + 8(%rip), %r11
	jae access_\kind\()_range
	movq THREAD(BRISK_LOW), %rax
	cmpq SELF(BRISK_TOLD), %rax
	jb 7f
	leaq -8(%rsi), %rdx
1:
	movq (%r8, %rdx), %rax
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
	subq $8, %rdx
	jae 1b
	leaq -8(%rsi), %rdx
3:
	movq (%r8, %rdx), %rax
	xorq %rcx, %rax
	cmpq $0xffff, %rax
	jbe 4f
	movl $0xffff, %eax
4:
	andl $(0xffff ^ 0xff * \kinds), %eax
	xorq %rcx, %rax
	movq %rax, (%r8, %rdx)
	subq $8, %rdx
	jae 3b
	movl $8, %eax
	xaddq %rax, SELF(BRISK_NEXT)
	testl $BRISK_WINDOW, %eax
	jne 8f
	imull $BRISK_BY_5, %r11d, %r11d
	movq %rdi, %rdx
	shlq $BRISK_ADDRESS_SHIFT, %rdx
	leaq BRISK_ACCESS(%rdx, %r11), %rdx
	movq %rdx, (%rax)
	ret
	.if \reads
5:
	xorl %ecx, %eax
	testl $BRISK_WRITTEN, %eax
	jne 2b
	cmpl $0, SELF(BRISK_LOCKS)
	jg 2b
	movq SELF(BRISK_NEXT), %rax
	subq SELF(BRISK_SEGMENT_START), %rax
	cmpq $BRISK_SHORT, %rax
	movl (%r8, %rdx), %eax
	jb 2b
	.endif
7:
	movq %r11, %rdx
	addq brisk_sites(%rip), %rdx
	cmpq $BRISK_FRESH, %rcx
	jne access_\kind\()_range
	pushq %rcx
	.cfi_adjust_cfa_offset 8
	pushq %rdx
	.cfi_adjust_cfa_offset 8
	call brisk_catch_up
	popq %rdx
	.cfi_adjust_cfa_offset -8
	testq %rax, %rax
	je 9f
	movq %rax, %rcx
	call __atomsan_\kind\()_struct
	popq %rcx
	.cfi_adjust_cfa_offset -8
	ret
9:
	.cfi_adjust_cfa_offset 8
	popq %rcx
	.cfi_adjust_cfa_offset -8
	jmp access_\kind\()_range
8:
	movq %r11, %rdx
	addq brisk_sites(%rip), %rdx
	jmp access_full_range
	.cfi_endproc
	.size __atomsan_\kind\()_struct, . - __atomsan_\kind\()_struct
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
	struct_hook read, 0x001, 1
	struct_hook write, 0x100, 0

	.section .note.GNU-stack, "", @progbits
