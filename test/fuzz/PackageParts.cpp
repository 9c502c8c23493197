#include "test/fuzz/PackageParts.h"
#include "runtime/load/Decode.h"
#include <algorithm>

namespace core = sprig::rt::core;
namespace format = sprig::rt::format;
namespace test = sprig::rt::test;

bool sprig::fuzz::readParts(std::span<const uint8_t> file, PackageParts &parts) {
  format::ContainerView view;
  if (format::readContainer(file, view).failed || view.sections.empty()) return false;
  // Decoding wants its bytes aligned.
  std::vector<uint64_t> aligned((view.sections[0].bytes.size() + 7) / 8);
  auto *metadata = reinterpret_cast<uint8_t *>(aligned.data());
  std::copy(view.sections[0].bytes.begin(), view.sections[0].bytes.end(), metadata);
  if (!core::decodeProgram({metadata, view.sections[0].bytes.size()}, parts.program).isOk()) return false;
  for (const format::Section &section : view.sections) {
    test::Bytes bytes(section.bytes.begin(), section.bytes.end());
    if (section.kind == format::SectionKind::Constants) parts.constants = std::move(bytes);
    if (section.kind == format::SectionKind::Image && parts.image.empty()) parts.image = std::move(bytes);
  }
  for (size_t i = 0; i < parts.program.images.size(); ++i) parts.program.images[i].section = 0;
  return true;
}

test::Bytes sprig::fuzz::encode(const PackageParts &parts) {
  test::TestPackage package;
  package.program = parts.program;
  package.constants = parts.constants;
  package.image = parts.image;
  return package.encode();
}
