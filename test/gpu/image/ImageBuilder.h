// Makes emulation images: PTX text to a shared object whose one symbol is described in Image.h.
#ifndef SPRIG_TEST_GPU_IMAGE_IMAGEBUILDER_H
#define SPRIG_TEST_GPU_IMAGE_IMAGEBUILDER_H

#include "test/gpu/ptx/Module.h"
#include "llvm/IR/Module.h"
#include <memory>
#include <string>

namespace sprig::gpu {

// Which versions of each kernel an image has. One alone takes half the time to make.
enum class Versions { Both, Checked };

// The module's kernels, and the tables that describe them. Throws ptx::PtxError.
std::unique_ptr<llvm::Module> buildImage(const ptx::Module &source, llvm::LLVMContext &context,
                                         Versions versions = Versions::Both);

// Optimises, compiles and links. Throws std::runtime_error where a file cannot be written or the linker fails.
void writeImage(llvm::Module &module, const std::string &path);

// All of it. `name` stands for the text in messages.
void makeImage(const std::string &text, const std::string &name, const std::string &path,
               Versions versions = Versions::Both);

} // namespace sprig::gpu
#endif
