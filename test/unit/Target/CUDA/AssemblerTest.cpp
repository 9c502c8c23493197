// Finding a toolkit, what its tools report, and what they say of PTX that is wrong. Where there is no toolkit, scripts
// stand in for ptxas.
#include "lib/Target/CUDA/CodeGen/Assembler.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <filesystem>
#include <fstream>

using namespace sprig;
using namespace sprig::cuda;
using testing::HasSubstr;
using testing::StartsWith;
namespace fs = std::filesystem;

namespace {
constexpr const char *kText = R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry kernel_double(.param .u64 a)
{
  .reg .b64 %rd<3>;
  .reg .f32 %f<3>;
  .shared .align 16 .b8 shared[128];
  ld.param.u64 %rd1, [a];
  cvta.to.global.u64 %rd2, %rd1;
  ld.global.f32 %f1, [%rd2];
  add.rn.f32 %f2, %f1, %f1;
  st.global.f32 [%rd2], %f2;
  ret;
}
)";

constexpr const char *kReport = R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'kernel_a' for 'sm_90'
ptxas info    : Function properties for kernel_a
    48 bytes stack frame, 44 bytes spill stores, 40 bytes spill loads
ptxas info    : Used 128 registers, used 1 barriers, 48 bytes cumulative stack size, 16384 bytes smem, 400 bytes cmem[0]
ptxas info    : Compile time = 20.132 ms
ptxas info    : Compiling entry function 'kernel_b' for 'sm_90'
ptxas info    : Function properties for kernel_b
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers, 380 bytes cmem[0]
)";

CudaArch hopper() { return llvm::cantFail(cudaArchByName("sm_90")); }

// A folder with the shape of a toolkit, whose ptxas is a script.
class AssemblerTest : public testing::Test {
protected:
  void SetUp() override {
    folder = fs::path(testing::TempDir()) / ("toolkit-" + std::to_string(::getpid()));
    fs::create_directories(folder / "bin");
  }
  void TearDown() override { fs::remove_all(folder); }

  void writePtxas(const std::string &rest) {
    std::ofstream(folder / "bin/ptxas")
        << "#!/bin/sh\n[ \"$1\" = --version ] && { echo 'tools, release 99.1, V99.1.7'; exit 0; }\n"
        << rest << "\n";
    fs::permissions(folder / "bin/ptxas", fs::perms::owner_all);
  }
  ToolkitPlaces places() const {
    ToolkitPlaces result;
    result.home = folder.string();
    return result;
  }
  std::string errorOf(const std::string &script) {
    writePtxas(script);
    std::string looked;
    auto assembler = findAssembler(places(), looked);
    if (!assembler) return llvm::toString(assembler.takeError());
    auto cubin = (*assembler)->assemble(kText, hopper(), 2);
    return cubin ? "" : llvm::toString(cubin.takeError());
  }

  fs::path folder;
};
} // namespace

TEST(ParseUsage, ReadsWhatBothToolsPrint) {
  auto kernels = parseUsage(kReport);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0], (KernelUsage{"kernel_a", 128, 16384, 48, 44, 40}));
  EXPECT_EQ(kernels[1], (KernelUsage{"kernel_b", 8, 0, 0, 0, 0}));
  EXPECT_TRUE(parseUsage("").empty());
  EXPECT_TRUE(parseUsage("Used 8 registers").empty());
}

TEST_F(AssemblerTest, ThereIsNoneWhereHomeIsEmptyOrHoldsNone) {
  std::string looked;
  ToolkitPlaces none;
  none.home = "";
  none.path = "/usr/bin:/usr/local/cuda/bin";
  auto assembler = findAssembler(none, looked);
  ASSERT_TRUE(bool(assembler));
  EXPECT_EQ(*assembler, nullptr);
  EXPECT_EQ(looked, "CUDA_HOME is empty");
  assembler = findAssembler(places(), looked);
  ASSERT_TRUE(bool(assembler));
  EXPECT_EQ(*assembler, nullptr);
  EXPECT_EQ(looked, "CUDA_HOME=" + folder.string() + " has neither bin/ptxas nor lib64/libnvJitLink.so");
}

TEST_F(AssemblerTest, ThePathComesBeforeTheStandardFolder) {
  writePtxas("");
  ToolkitPlaces given;
  given.path = "/nowhere:" + (folder / "bin").string();
  std::string looked;
  auto assembler = findAssembler(given, looked);
  ASSERT_TRUE(bool(assembler));
  ASSERT_NE(*assembler, nullptr);
  EXPECT_EQ((*assembler)->name(), "ptxas 99.1.7");
}

TEST_F(AssemblerTest, RunsPtxasInAFolderOfItsOwn) {
  // The folder is new, so names in the cubin are always the same; it has the text, and what the script leaves is taken.
  EXPECT_EQ(errorOf("echo \"$@\" > kernels.cubin; ls >> kernels.cubin; cat kernels.ptx >> kernels.cubin"), "");
  std::string looked;
  auto assembler = findAssembler(places(), looked);
  ASSERT_TRUE(bool(assembler));
  auto cubin = (*assembler)->assemble(kText, hopper(), 3);
  ASSERT_TRUE(bool(cubin));
  EXPECT_EQ(cubin->bytes, std::string("-v -arch=sm_90 -O3 -fmad=false kernels.ptx -o kernels.cubin\n"
                                      "kernels.cubin\nkernels.ptx\n") +
                              kText);
}

TEST_F(AssemblerTest, NamesWhatPtxasSays) {
  std::string tool = (folder / "bin/ptxas").string();
  EXPECT_EQ(errorOf("echo 'ptxas kernels.ptx, line 4; error   : Unknown symbol' >&2; echo more; exit 255"),
            tool + " was ended by an error, exit code 255: ptxas kernels.ptx, line 4; error   : Unknown symbol");
  EXPECT_EQ(errorOf("exit 1"), tool + " was ended by an error, exit code 1: it said nothing");
  EXPECT_EQ(errorOf("kill -11 $$"), tool + " was ended by signal 11: it said nothing");
  EXPECT_EQ(errorOf("exit 0"), tool + " made no cubin: No such file or directory");
}

TEST_F(AssemblerTest, RefusesAToolWithoutAVersion) {
  std::ofstream(folder / "bin/ptxas") << "#!/bin/sh\nexit 1\n";
  fs::permissions(folder / "bin/ptxas", fs::perms::owner_all);
  std::string looked;
  auto assembler = findAssembler(places(), looked);
  ASSERT_FALSE(bool(assembler));
  EXPECT_EQ(llvm::toString(assembler.takeError()),
            (folder / "bin/ptxas").string() + " --version does not say which version it is");
}

TEST_F(AssemblerTest, EndsAToolThatTakesTooLong) {
  writePtxas("exec sleep 60");
  ToolkitPlaces given = places();
  given.limit = std::chrono::seconds(1);
  std::string looked;
  auto assembler = findAssembler(given, looked);
  ASSERT_TRUE(bool(assembler)) << llvm::toString(assembler.takeError());
  auto cubin = (*assembler)->assemble(kText, hopper(), 2);
  ASSERT_FALSE(bool(cubin));
  EXPECT_THAT(llvm::toString(cubin.takeError()), HasSubstr("took longer than 1 s and was ended"));
}

// What the toolkit of this machine makes, by both of its ways.
TEST(Toolkit, BothWaysGiveACubinAndTheSameFigures) {
  fs::path root = "/usr/local/cuda";
  std::string looked;
  auto ptxas = findAssembler({}, looked);
  ASSERT_TRUE(bool(ptxas)) << llvm::toString(ptxas.takeError());
  auto library = openNvJitLink((root / "lib64/libnvJitLink.so").string());
  if (!*ptxas || !library) GTEST_SKIP() << "no CUDA toolkit here: " << looked;
  for (const Assembler *assembler : {ptxas->get(), library.get()}) {
    SCOPED_TRACE(assembler->name());
    auto cubin = assembler->assemble(kText, hopper(), 2);
    ASSERT_TRUE(bool(cubin)) << llvm::toString(cubin.takeError());
    EXPECT_THAT(cubin->bytes, StartsWith("\x7f"
                                         "ELF"));
    ASSERT_EQ(cubin->kernels.size(), 1u);
    EXPECT_EQ(cubin->kernels[0].function, "kernel_double");
    EXPECT_EQ(cubin->kernels[0].sharedBytes, 128);
    EXPECT_GT(cubin->kernels[0].registers, 0);
    auto again = assembler->assemble(kText, hopper(), 2);
    ASSERT_TRUE(bool(again));
    EXPECT_EQ(cubin->bytes, again->bytes);
    auto wrong = assembler->assemble("no PTX", hopper(), 2);
    EXPECT_FALSE(bool(wrong));
    llvm::consumeError(wrong.takeError());
  }
}

// A toolkit to run programs with has no compiler, and of the library the file that they load.
TEST_F(AssemblerTest, TheLibraryIsFoundByItsVersion) {
  fs::path library = fs::path("/usr/local/cuda") / "lib64/libnvJitLink.so.13";
  if (!fs::exists(library)) GTEST_SKIP() << "no " << library << " here";
  fs::create_directories(folder / "lib64");
  fs::create_symlink(library, folder / "lib64/libnvJitLink.so.13");
  std::string looked;
  auto assembler = findAssembler(places(), looked);
  ASSERT_TRUE(bool(assembler));
  ASSERT_NE(*assembler, nullptr) << looked;
  EXPECT_THAT((*assembler)->name(), StartsWith("nvJitLink 13."));
}
