/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The module as the front end made it, in a section of its own that linkers,
 * archivers and strip leave alone (.llvmbc does not survive ar).
 */
#include "pass/pass.h"

#include <llvm-c/BitWriter.h>
#include <stdlib.h>
#include <string.h>

void embed_bitcode(LLVMModuleRef module)
{
	LLVMContextRef context = LLVMGetModuleContext(module);
	struct atomsan_bitcode header;
	const char *wish = getenv("ATOMSAN_BITCODE");
	LLVMMemoryBufferRef bitcode;
	LLVMValueRef content, global;
	size_t length;
	char *bytes;

	if (wish && !strcmp(wish, "0"))
		return;
	bitcode = LLVMWriteBitcodeToMemoryBuffer(module);
	length = LLVMGetBufferSize(bitcode);
	memcpy(header.magic, ATOMSAN_BITCODE_MAGIC, sizeof header.magic);
	header.length = length;
	bytes = malloc(sizeof header + length);
	memcpy(bytes, &header, sizeof header);
	memcpy(bytes + sizeof header, LLVMGetBufferStart(bitcode), length);
	content = LLVMConstStringInContext2(context, bytes, sizeof header + length, true);
	free(bytes);
	LLVMDisposeMemoryBuffer(bitcode);
	global = LLVMAddGlobal(module, LLVMTypeOf(content), "atomsan.bitcode");
	LLVMSetInitializer(global, content);
	LLVMSetLinkage(global, LLVMPrivateLinkage);
	LLVMSetGlobalConstant(global, true);
	LLVMSetSection(global, "atomsan_bc");
	LLVMSetAlignment(global, 16);
	util_keep(module, "llvm.used", &global, 1);
}
