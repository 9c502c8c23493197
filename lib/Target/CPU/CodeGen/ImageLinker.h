// From relocatable objects to one position-independent image: the last step of code generation.
// For the package writer; the loader maps the image anywhere, fills the import slots and calls the kernels. The image
// has PC-relative references only, no writable data but the slots, and reaches the runtime only through
// RuntimeCalls.def.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace sprig {

/// Where the executable part of an image ends: a page, so that the slots behind it can have other protection.
inline constexpr uint64_t kImagePage = 4096;

struct LinkedImage {
  struct Symbol {
    std::string name;
    uint64_t offset = 0, size = 0;
  };
  struct Import {
    std::string call;  // a row of RuntimeCalls.def
    uint64_t slot = 0; // offset of 8 bytes that the loader fills with the function's address
  };
  std::vector<uint8_t> bytes;
  uint64_t codeSize = 0;       // leading bytes that are read and executed, never written
  std::vector<Symbol> symbols; // in the order asked for
  std::vector<Import> imports; // sorted by name
  // All functions, those that symbols call too, in the order of the objects; each named by its object's first global
  // function. For profilers and debuggers.
  std::vector<Symbol> functions;
};

/// Links ELF objects for x86-64. `exports` are the symbols to report; an undefined symbol that is no runtime call, a
/// writable section, or a relocation that needs an absolute address is an error that names it.
llvm::Expected<LinkedImage> linkImage(llvm::ArrayRef<llvm::MemoryBufferRef> objects,
                                      llvm::ArrayRef<std::string> exports);

/// Whether compiled code may call this function of the runtime.
bool isRuntimeCall(llvm::StringRef symbol);

} // namespace sprig
