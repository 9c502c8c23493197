// What MLIR text may ask of its parser, which follows nesting by recursion: looked at before it starts.
// For readers of text (ReadText.h) and sprig-opt.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace sprig {

/// Throws sprig::Error (badInput) that names the place where text nests brackets (regions, attributes, types) more than
/// 256 deep, where its aliases (`#name = ...`, `!name = ...`) put together do, or stand for more than 256 MB and 64
/// times the text, where an affine map or set has more than 4096 characters, where the number of a result (`%0#2`) is
/// above 65535, for which the parser makes room, or where an array has elements of type index, which ends it. Bytecode
/// is let through: its reader nests without recursion.
void checkNesting(llvm::StringRef text, llvm::StringRef name);

} // namespace sprig
