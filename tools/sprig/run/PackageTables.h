// Tables of a package's metadata that nothing reads to run it: what dispatches touch of their buffers, and which
// integers inputs may hold. For predictions and random inputs; the runtime does not decode them.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sprig::cli {

/// See Touched in program.fbs.
struct TouchedOperand {
  uint32_t operand = 0;
  uint64_t bytes = 0, accesses = 0, accessedBytes = 0, spread = 0;

  uint64_t total() const { return bytes + accessedBytes; }
};

/// Asked of a package that the runtime has loaded, hence verified.
class PackageTables {
public:
  /// Copies what it needs of a package's bytes.
  explicit PackageTables(std::span<const uint8_t> package);
  static PackageTables ofFile(const std::string &path);

  /// Those operands of a dispatch that it does not touch whole, one byte after the other; of other commands none.
  std::vector<TouchedOperand> touched(uint32_t entry, uint32_t lane, uint32_t command) const;
  /// Of an entry's input; empty where any integer will do.
  std::vector<int64_t> indexRanges(uint32_t entry, uint32_t input) const;

private:
  PackageTables() = default;

  std::vector<uint64_t> metadata; ///< aligned as FlatBuffers wants it; empty: of bytes that are no package
};

} // namespace sprig::cli
