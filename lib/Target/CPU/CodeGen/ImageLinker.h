// From relocatable objects to one position-independent image: the last step of code generation.
// For the package writer; the loader maps the image anywhere, fills the import slots and calls the kernels. The image
// has PC-relative references only, no writable data but the slots, and reaches the runtime only through
// RuntimeCalls.def.
#pragma once
#include "lib/Target/Image.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace sprig::cpu {

/// Where the executable part of an image ends: a page, so that the slots after it can have other protection.
inline constexpr uint64_t kImagePage = 4096;

/// Links ELF objects for x86-64. `exports` are the symbols to report; an undefined symbol that is no runtime call, a
/// writable section, or a relocation that needs an absolute address is an error that names it.
llvm::Expected<LinkedImage> linkImage(llvm::ArrayRef<llvm::MemoryBufferRef> objects,
                                      llvm::ArrayRef<std::string> exports);

/// Whether compiled code may call this function of the runtime.
bool isRuntimeCall(llvm::StringRef symbol);

} // namespace sprig::cpu
