// Rows of products of bytes as code for x86-64-v3 with AVX-VNNI, which few processors have.
#include "test/unit/OpTable/AvxVnniEmulator.h"
#include "test/unit/OpTable/Machine.h"
#include "runtime/format/Container.h"
#include "runtime/format/program_generated.h"
#include <cstring>
#include <gtest/gtest.h>
#include <stdexcept>

namespace sprig::optable {

namespace format = rt::format;

std::vector<std::string> instructionSets() { return {"x86-64-v3-vnni"}; }
std::vector<std::string> limits() { return {""}; }

// Where the instruction is emulated, without the word that the processor has to have it.
std::vector<uint8_t> runnable(std::vector<uint8_t> package) {
  if (hasAvxVnni()) return package;
  format::ContainerView view;
  if (format::ContainerError error = format::readContainer(package, view); error.failed)
    throw std::runtime_error(error.message);
  std::vector<uint8_t> metadata(view.sections.at(0).bytes.begin(), view.sections.at(0).bytes.end());
  for (const auto *image : *rt::fb::GetPackage(metadata.data())->images()) {
    const auto *features = image->features();
    if (!features || features->size() == 0) continue; // nothing to multiply
    if (features->size() != 1 || features->Get(0)->str() != "avxvnni")
      throw std::runtime_error("expected an image that needs nothing but avxvnni");
    const uint32_t none = 0; // the number in front of a vector's elements
    std::memcpy(metadata.data() + (features->Data() - metadata.data()) - sizeof none, &none, sizeof none);
  }
  std::vector<format::SectionBytes> sections = {{format::SectionKind::Metadata, metadata}};
  for (size_t i = 1; i < view.sections.size(); ++i) sections.push_back({view.sections[i].kind, view.sections[i].bytes});
  return format::writeContainer(sections);
}

namespace {
struct Emulation : testing::Environment {
  void SetUp() override {
    if (!hasAvxVnni()) emulateAvxVnni();
  }
  void TearDown() override {
    if (!hasAvxVnni()) EXPECT_GT(emulatedInstructions(), 0) << "no row has run a dot product";
  }
};
[[maybe_unused]] const auto *const environment = testing::AddGlobalTestEnvironment(new Emulation);
} // namespace

} // namespace sprig::optable
