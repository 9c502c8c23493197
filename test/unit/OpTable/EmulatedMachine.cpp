#include "test/unit/OpTable/EmulatedMachine.h"
#include "test/unit/OpTable/Machine.h"
#include "runtime/format/Container.h"
#include "runtime/format/program_generated.h"
#include <atomic>
#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <stdexcept>

namespace sprig::optable {

namespace format = rt::format;

std::vector<std::string> instructionSets(bool, bool) { return {kEmulatedSet}; }
std::vector<std::string> limits() { return {""}; }
// How tiles are spread over threads does not depend on the instructions, each of which costs a signal here.
std::vector<int> threadCounts() { return hasInstructions() ? std::vector{1, 2} : std::vector{2}; }

// Where instructions are emulated, without the words that the processor has to have them.
std::vector<uint8_t> runnable(std::vector<uint8_t> package) {
  if (hasInstructions()) return package;
  format::ContainerView view;
  if (format::ContainerError error = format::readContainer(package, view); error.failed)
    throw std::runtime_error(error.message);
  std::vector<uint8_t> metadata(view.sections.at(0).bytes.begin(), view.sections.at(0).bytes.end());
  for (const auto *image : *rt::fb::GetPackage(metadata.data())->images()) {
    const auto *features = image->features();
    if (!features || features->size() == 0) continue; // nothing to multiply
    const uint32_t none = 0;                          // the number in front of a vector's elements
    std::memcpy(metadata.data() + (features->Data() - metadata.data()) - sizeof none, &none, sizeof none);
  }
  std::vector<format::SectionBytes> sections = {{format::SectionKind::Metadata, metadata}};
  for (size_t i = 1; i < view.sections.size(); ++i) sections.push_back({view.sections[i].kind, view.sections[i].bytes});
  return format::writeContainer(sections);
}

namespace {

std::atomic<long> emulated = 0;

void onInvalidInstruction(int signal, siginfo_t *, void *context) {
  auto &frame = *static_cast<ucontext_t *>(context);
  greg_t *registers = frame.uc_mcontext.gregs;
  // The signal costs far more than the instruction, so those that follow at once are emulated with it.
  long count = 0;
  for (;; ++count) {
    auto instruction = VexInstruction::decode(reinterpret_cast<const uint8_t *>(registers[REG_RIP]), registers);
    if (!instruction || !emulate(*instruction, frame)) break;
    registers[REG_RIP] += instruction->length;
  }
  emulated.fetch_add(count, std::memory_order_relaxed);
  if (count == 0) std::signal(signal, SIG_DFL); // and again
}

struct Emulation : testing::Environment {
  void SetUp() override {
    if (hasInstructions()) return;
    if (!mayEmulate()) GTEST_SKIP() << "this processor lacks more of " << kEmulatedSet << " than is emulated";
    struct sigaction action = {};
    action.sa_sigaction = onInvalidInstruction;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGILL, &action, nullptr);
  }
  void TearDown() override {
    if (!hasInstructions() && mayEmulate())
      EXPECT_GT(emulated.load(), 0) << "no row has run an instruction of " << kEmulatedSet;
  }
};
[[maybe_unused]] const auto *const environment = testing::AddGlobalTestEnvironment(new Emulation);

} // namespace

} // namespace sprig::optable
