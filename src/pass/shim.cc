// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registration, the one thing that LLVM offers in C++ alone.
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Plugins/PassPlugin.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

extern "C" {
void pass_early(LLVMModuleRef module);
void pass_late(LLVMModuleRef module);
}

namespace
{
template <void (*run_on)(LLVMModuleRef)> struct Pass : llvm::PassInfoMixin<Pass<run_on>> {
	llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &)
	{
		run_on(llvm::wrap(&module));
		return llvm::PreservedAnalyses::none();
	}
	static bool isRequired()
	{
		return true;
	}
};
} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK llvm::PassPluginLibraryInfo llvmGetPassPluginInfo()
{
	return {LLVM_PLUGIN_API_VERSION, "atomsan", "1", [](llvm::PassBuilder &builder) {
			builder.registerPipelineStartEPCallback(
				[](llvm::ModulePassManager &passes, llvm::OptimizationLevel) {
					passes.addPass(Pass<pass_early>());
				});
			builder.registerOptimizerLastEPCallback([](llvm::ModulePassManager &passes,
								   llvm::OptimizationLevel,
								   llvm::ThinOrFullLTOPhase) {
				// A block in front of each loop, for checks that are done there.
				passes.addPass(
					llvm::createModuleToFunctionPassAdaptor(llvm::LoopSimplifyPass()));
				passes.addPass(Pass<pass_late>());
				passes.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
			});
		}};
}
