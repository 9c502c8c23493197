// A package taken apart into what can be changed and put together again.
#pragma once
#include "runtime/test/TestPackage.h"

namespace sprig::fuzz {

struct PackageParts {
  rt::core::Program program; ///< images' sections count from the first image
  rt::test::Bytes constants, image;
};

/// False where container or metadata are not sound.
bool readParts(std::span<const uint8_t> file, PackageParts &parts);

/// The file, with one image section for each of the program's images, all of the same bytes.
rt::test::Bytes encode(const PackageParts &parts);

} // namespace sprig::fuzz
