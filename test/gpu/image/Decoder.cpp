#include "test/gpu/image/Decoder.h"
#include <algorithm>

using namespace sprig::gpu;
using namespace sprig;

void Decoder::fail(const std::string &what) const {
  throw ptx::PtxError(file + ":" + std::to_string(instruction.line) + ": '" + instruction.text() + "': " + what);
}

bool Decoder::take(const std::string &modifier) {
  auto found = std::find(left.begin(), left.end(), modifier);
  if (found == left.end()) return false;
  left.erase(found);
  return true;
}

int Decoder::takeOneOf(std::initializer_list<const char *> modifiers) {
  int index = 0;
  for (const char *modifier : modifiers) {
    if (take(modifier)) return index;
    ++index;
  }
  return -1;
}

bool Decoder::nextIsType() const {
  ptx::Type type;
  return std::any_of(left.begin(), left.end(), [&](const std::string &name) { return ptx::parseType(name, type); });
}

ptx::Type Decoder::type() {
  ptx::Type type;
  auto found =
      std::find_if(left.begin(), left.end(), [&](const std::string &name) { return ptx::parseType(name, type); });
  if (found == left.end()) fail("it has no type that is known here");
  left.erase(found);
  return type;
}

std::optional<Rounding> Decoder::rounding() {
  switch (takeOneOf({"rn", "rz", "rm", "rp", "rna"})) {
  case 0: return Rounding::Nearest;
  case 1: return Rounding::Zero;
  case 2: return Rounding::Down;
  case 3: return Rounding::Up;
  case 4: return Rounding::NearestAway;
  default: return std::nullopt;
  }
}

void Decoder::operands(size_t least, size_t most) const {
  if (size() >= least && size() <= most) return;
  std::string wanted = std::to_string(least) + (least == most ? "" : " to " + std::to_string(most));
  fail("it has " + std::to_string(size()) + " operands, expected " + wanted);
}

void Decoder::finish() const {
  if (!left.empty()) fail("'." + left.front() + "' is not known here");
}

uint64_t Decoder::constant(size_t operand) const {
  if (operand >= size() || instruction.operands[operand].form != ptx::Operand::Form::Integer)
    fail("operand " + std::to_string(operand + 1) + " is no constant");
  return instruction.operands[operand].value;
}
