// Reads PTX text: the language that LLVM's NVPTX back-end and nvcc write. What it does not know it refuses by name.
#ifndef SPRIG_TEST_GPU_PTX_PARSER_H
#define SPRIG_TEST_GPU_PTX_PARSER_H

#include "test/gpu/ptx/Lexer.h"
#include "test/gpu/ptx/Module.h"

namespace sprig::ptx {

// Throws PtxError. `file` is only a name, for messages.
Module parse(std::string_view text, const std::string &file);

} // namespace sprig::ptx
#endif
