// The file around a program: a 64-byte header, a section table, page-aligned sections. For the compiler, which writes
// it, and the loader, which reads it. The same sections always give the same bytes, and every byte of a file is either
// checksummed or checked to be zero, so that any damage is found. docs/package-format.md is the specification.
#ifndef SPRIG_RUNTIME_FORMAT_CONTAINER_H
#define SPRIG_RUNTIME_FORMAT_CONTAINER_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sprig::rt::format {

inline constexpr char kMagic[8] = {'S', 'P', 'R', 'I', 'G', 'P', 'K', 'G'};
inline constexpr uint16_t kMajor = 1;
inline constexpr uint16_t kMinor = 8;
inline constexpr size_t kSectionAlignment = 4096;
// Constants, and every buffer that a kernel gets, start at multiples of this.
inline constexpr size_t kBufferAlignment = 64;
inline constexpr uint32_t kMaxSections = 4096;

enum class SectionKind : uint32_t { Metadata = 1, Constants = 2, Image = 3 };

// The name of a section kind for messages and listings.
const char *sectionKindName(SectionKind kind);

// Little-endian, as the file has it.
struct FileHeader {
  char magic[8];
  uint16_t major;
  uint16_t minor;
  uint32_t sectionCount;
  uint64_t fileSize;
  uint64_t checksum; // XXH64 of the header with this field zero, then the table
  uint8_t reserved[32];
};
static_assert(sizeof(FileHeader) == 64);

struct SectionHeader {
  uint32_t kind;
  uint32_t reserved;
  uint64_t offset;
  uint64_t size;
  uint64_t checksum; // XXH64 of the section's bytes
};
static_assert(sizeof(SectionHeader) == 32);

struct SectionBytes {
  SectionKind kind;
  std::span<const uint8_t> bytes;
  // Behind those, each filled up with zeros to a multiple of kBufferAlignment: what lies here and there need not be
  // copied together first.
  std::span<const std::span<const uint8_t>> more = {};

  size_t size() const;
};

// Lays out the sections in the given order (metadata first) and returns the whole file.
std::vector<uint8_t> writeContainer(std::span<const SectionBytes> sections);

struct Section {
  SectionKind kind;
  uint64_t offset;
  uint64_t size;
  std::span<const uint8_t> bytes; // empty when the file was let go
};

struct ContainerView {
  uint16_t major = 0;
  uint16_t minor = 0;
  std::vector<Section> sections;
};

// What readContainer found; `newer` tells a file for a later reader from a damaged one.
struct ContainerError {
  bool failed = false;
  bool newer = false;
  std::string message;
};

// Checks every byte of `file` and fills `view` with spans into it. The file needs no particular alignment.
ContainerError readContainer(std::span<const uint8_t> file, ContainerView &view);

uint64_t checksum(std::span<const uint8_t> bytes);

} // namespace sprig::rt::format

#endif
