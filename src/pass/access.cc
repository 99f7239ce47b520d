// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What LLVM's C API has no function for; the plugin and src/lower share it.
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/Support/Signals.h"

#include <cstdlib>

extern "C" {
unsigned shim_subprogram_flags(LLVMMetadataRef subprogram)
{
	return llvm::cast<llvm::DISubprogram>(llvm::unwrap(subprogram))->getFlags();
}

LLVMMetadataRef shim_operand(LLVMMetadataRef node, unsigned n)
{
	return llvm::wrap(llvm::cast<llvm::MDNode>(llvm::unwrap(node))->getOperand(n).get());
}

LLVMValueRef shim_address(LLVMDbgRecordRef assign)
{
	return llvm::wrap(llvm::cast<llvm::DbgVariableRecord>(llvm::unwrap(assign))->getAddress());
}

void shim_phis_from(LLVMBasicBlockRef block, LLVMBasicBlockRef from, LLVMBasicBlockRef instead)
{
	llvm::unwrap(block)->replacePhiUsesWith(llvm::unwrap(from), llvm::unwrap(instead));
}

// Files that are being written are known to LLVM alone, which removes them when a signal ends it.
[[noreturn]] void shim_leave(void)
{
	llvm::sys::RunInterruptHandlers();
	exit(1);
}
}
