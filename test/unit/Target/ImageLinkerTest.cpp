// The image linker on objects assembled here: layout, imports, relocations, and what it refuses.
#include "lib/Target/CPU/CodeGen/ImageLinker.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <sys/mman.h>

using namespace sprig;
using namespace sprig::cpu;

// An object of LLVM IR text, position-independent as kernels are.
static std::string assemble(const std::string &ir) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  auto module = llvm::parseAssemblyString(ir, problem, context);
  EXPECT_TRUE(module) << problem.getMessage().str();
  llvm::Triple triple("x86_64-unknown-linux-gnu");
  std::string why;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, why);
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, "x86-64-v2", "", llvm::TargetOptions(), llvm::Reloc::PIC_, llvm::CodeModel::Small));
  module->setTargetTriple(triple);
  module->setDataLayout(machine->createDataLayout());
  llvm::SmallVector<char> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::legacy::PassManager passes;
  EXPECT_FALSE(machine->addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::ObjectFile));
  passes.run(*module);
  return {bytes.begin(), bytes.end()};
}

static llvm::Expected<LinkedImage> linkAll(const std::vector<std::string> &objects, std::vector<std::string> exports) {
  std::vector<llvm::MemoryBufferRef> buffers;
  for (const std::string &object : objects) buffers.emplace_back(object, "object");
  return linkImage(buffers, exports);
}

static std::string messageOf(llvm::Expected<LinkedImage> image) {
  return image ? "linked" : llvm::toString(image.takeError());
}

// The image in memory, at an address that it was not told; slots filled as the loader does it.
class Mapped {
public:
  explicit Mapped(const LinkedImage &image) : size(image.bytes.size()) {
    memory = static_cast<uint8_t *>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    std::memcpy(memory, image.bytes.data(), size);
    for (const auto &import : image.imports) {
      auto *function = static_cast<double (*)(double)>(std::exp);
      EXPECT_EQ(import.call, "exp");
      std::memcpy(memory + import.slot, &function, sizeof function);
    }
    mprotect(memory, image.codeSize, PROT_READ | PROT_EXEC);
  }
  ~Mapped() { munmap(memory, size); }
  template <typename F> F *at(uint64_t offset) { return reinterpret_cast<F *>(memory + offset); }

private:
  uint8_t *memory;
  size_t size;
};

TEST(ImageLinker, ConstantsAndInternalCallsArePositionIndependent) {
  std::string object =
      assemble("define internal double @inner(double %x) noinline { %r = fmul double %x, 3.25 ret double %r }\n"
               "define double @outer(double %x) { %y = call double @inner(double %x) %r = fadd double %y, 0.5 ret "
               "double %r }\n");
  auto image = linkAll({object}, {"outer"});
  ASSERT_TRUE(bool(image)) << llvm::toString(image.takeError());
  EXPECT_TRUE(image->imports.empty());
  EXPECT_EQ(image->codeSize % kImagePage, 0u);
  ASSERT_EQ(image->symbols.size(), 1u);
  EXPECT_GT(image->symbols[0].size, 0u);
  // The inner function too, by the name of the outer one.
  ASSERT_EQ(image->functions.size(), 2u);
  for (const auto &function : image->functions) {
    EXPECT_EQ(function.name, "outer");
    EXPECT_GT(function.size, 0u);
    EXPECT_LE(function.offset + function.size, image->codeSize);
  }
  EXPECT_NE(image->functions[0].offset, image->functions[1].offset);
  Mapped mapped(*image);
  EXPECT_EQ(mapped.at<double(double)>(image->symbols[0].offset)(2.0), 7.0);
}

TEST(ImageLinker, RuntimeCallsGoThroughSlots) {
  std::string object =
      assemble("declare double @exp(double)\n"
               "define double @twice(double %x) { %a = call double @exp(double %x) %b = call double @exp(double %x)\n"
               "%r = fadd double %a, %b ret double %r }\n");
  auto image = linkAll({object}, {"twice"});
  ASSERT_TRUE(bool(image)) << llvm::toString(image.takeError());
  ASSERT_EQ(image->imports.size(), 1u); // once, however often it is called
  EXPECT_EQ(image->imports[0].call, "exp");
  EXPECT_GE(image->imports[0].slot, image->codeSize);
  EXPECT_LE(image->imports[0].slot + 8, image->bytes.size());
  Mapped mapped(*image);
  EXPECT_EQ(mapped.at<double(double)>(image->symbols[0].offset)(1.5), 2 * std::exp(1.5));
}

TEST(ImageLinker, ObjectsCallOneAnother) {
  std::string callee = assemble("define double @half(double %x) { %r = fmul double %x, 0.5 ret double %r }\n");
  std::string caller = assemble("declare double @half(double)\n"
                                "define double @quarter(double %x) { %y = call double @half(double %x) %r = call "
                                "double @half(double %y) ret double %r }\n");
  auto image = linkAll({caller, callee}, {"quarter", "half"});
  ASSERT_TRUE(bool(image)) << llvm::toString(image.takeError());
  EXPECT_TRUE(image->imports.empty());
  ASSERT_EQ(image->functions.size(), 2u);
  EXPECT_EQ(image->functions[0].name, "quarter");
  EXPECT_EQ(image->functions[1].name, "half");
  Mapped mapped(*image);
  EXPECT_EQ(mapped.at<double(double)>(image->symbols[0].offset)(10.0), 2.5);
  EXPECT_EQ(mapped.at<double(double)>(image->symbols[1].offset)(10.0), 5.0);
}

TEST(ImageLinker, NamesAnUndefinedSymbol) {
  std::string object =
      assemble("declare i32 @system(ptr)\ndefine i32 @bad(ptr %c) { %r = call i32 @system(ptr %c) ret i32 %r }\n");
  EXPECT_EQ(messageOf(linkAll({object}, {"bad"})),
            "kernel code needs the symbol 'system', which is no runtime call (RuntimeCalls.def)");
}

TEST(ImageLinker, RefusesWritableData) {
  std::string object = assemble("@counter = global i32 7\ndefine ptr @bad() { ret ptr @counter }\n");
  EXPECT_NE(messageOf(linkAll({object}, {"bad"})).find("is writable"), std::string::npos);
}

TEST(ImageLinker, NamesAMissingOrDoubleKernel) {
  std::string object = assemble("define double @half(double %x) { ret double %x }\n");
  EXPECT_EQ(messageOf(linkAll({object}, {"whole"})), "kernel 'whole' is in no object");
  EXPECT_EQ(messageOf(linkAll({object, object}, {"half"})), "kernel symbol 'half' is defined twice");
}

TEST(ImageLinker, RefusesWhatIsNoObject) {
  EXPECT_NE(messageOf(linkAll({"no object at all"}, {})), "linked");
  std::string object = assemble("define double @half(double %x) { ret double %x }\n");
  EXPECT_NE(messageOf(linkAll({object.substr(0, 40)}, {"half"})), "linked");
}
