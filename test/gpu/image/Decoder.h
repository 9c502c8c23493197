// An instruction as its translation reads it: every modifier must be taken by somebody, or the instruction is refused
// by name.
#ifndef SPRIG_TEST_GPU_IMAGE_DECODER_H
#define SPRIG_TEST_GPU_IMAGE_DECODER_H

#include "test/gpu/image/Codes.h"
#include "test/gpu/ptx/Lexer.h"
#include "test/gpu/ptx/Module.h"
#include <initializer_list>
#include <optional>

namespace sprig::gpu {

class Decoder {
public:
  Decoder(const ptx::Instruction &instruction, const std::string &file)
      : instruction(instruction), file(file), left(instruction.modifiers) {}

  // Takes a modifier; false where it is not there.
  bool take(const std::string &modifier);
  // Takes one of these: its place in the list, or -1.
  int takeOneOf(std::initializer_list<const char *> modifiers);
  bool nextIsType() const;
  // Takes the next modifier that is a type.
  ptx::Type type();
  std::optional<Rounding> rounding();
  // The operands, when their number is one of what the instruction may have.
  void operands(size_t least, size_t most) const;
  const ptx::Operand &operator[](size_t i) const { return instruction.operands[i]; }
  size_t size() const { return instruction.operands.size(); }
  // Everything must have been taken.
  void finish() const;
  [[noreturn]] void fail(const std::string &what) const;
  uint64_t constant(size_t operand) const;

  const ptx::Instruction &instruction;

private:
  const std::string &file;
  std::vector<std::string> left;
};

} // namespace sprig::gpu
#endif
