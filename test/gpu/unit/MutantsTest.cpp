// Faults that a mutation test plants in kernels.
#include "test/gpu/mutation/Mutants.h"
#include "test/gpu/ptx/Parser.h"
#include "test/gpu/unit/Kernels.h"
#include <gtest/gtest.h>
#include <set>

using namespace sprig;
using namespace sprig::gpu;

namespace {

std::vector<std::string> faultsOf(const std::string &instruction) {
  std::vector<std::string> faults;
  for (const Mutant &mutant : mutantsOf("{\n\t" + instruction + ";\n}\n")) {
    EXPECT_EQ(mutant.line, 2u);
    EXPECT_EQ(mutant.text, mutant.is.empty() ? "{\n\n}\n" : "{\n\t" + mutant.is + ";\n}\n");
    faults.push_back(mutant.is);
  }
  return faults;
}

using Faults = std::vector<std::string>;

TEST(Mutants, OfEachKindOfInstruction) {
  EXPECT_EQ(faultsOf("bar.sync \t0"), Faults{""});
  EXPECT_EQ(faultsOf("@%p1 bra \t$L__BB0_2"), Faults{"@!%p1 bra $L__BB0_2"});
  EXPECT_EQ(faultsOf("@!%p1 bra \t$L__BB0_2"), Faults{"@%p1 bra $L__BB0_2"});
  EXPECT_EQ(faultsOf("setp.lt.u64 \t%p1, %rd1, 32"),
            (Faults{"setp.le.u64 %p1, %rd1, 32", "setp.lt.u64 %p1, %rd1, 33"}));
  EXPECT_EQ(faultsOf("mul.rn.f32 \t%f1, %f2, %f3"), Faults{"add.rn.f32 %f1, %f2, %f3"});
  EXPECT_EQ(faultsOf("sub.rn.f32 \t%f1, %f2, %f3"), (Faults{"add.rn.f32 %f1, %f2, %f3", "sub.rn.f32 %f1, %f3, %f2"}));
  EXPECT_EQ(faultsOf("shl.b64 \t%rd1, %rd2, 2"), (Faults{"shr.u64 %rd1, %rd2, 2", "shl.b64 %rd1, %rd2, 3"}));
  EXPECT_EQ(faultsOf("selp.f32 \t%f1, %f2, %f3, %p1"), Faults{"selp.f32 %f1, %f3, %f2, %p1"});
  EXPECT_EQ(faultsOf("st.global.v2.b32 \t[%rd1+8], {%r1, %r2}"),
            (Faults{"", "st.global.v2.b32 [%rd1+12], {%r1, %r2}"}));
  EXPECT_EQ(faultsOf("ld.global.b64 \t%rd2, [%rd1]"), Faults{"ld.global.b64 %rd2, [%rd1+8]"});
  EXPECT_EQ(faultsOf("shfl.sync.bfly.b32 \t%r1, %r2, 16, 31, -1"), Faults{"shfl.sync.bfly.b32 %r1, %r2, 8, 31, -1"});
  EXPECT_EQ(faultsOf("ld.param.b64 \t%rd1, [kernel_param_0]"), Faults{});
  EXPECT_EQ(faultsOf("fma.rn.f32 \t%f1, %f2, %f3, %f4"), Faults{});
}

TEST(Mutants, AreNamedWithoutNumbersOfRegisters) {
  EXPECT_EQ(mutantsOf("\tadd.s64 \t%rd12, %rd1, -4;\n").front().name(), "add.s64 %rd, %rd, -4 -> sub.s64 %rd, %rd, -4");
  EXPECT_EQ(mutantsOf("\tbar.sync \t0;\n").front().name(), "bar.sync 0 -> (nothing)");
}

// Of a text by LLVM's back-end: every mutant is PTX, and another than the others.
TEST(Mutants, StayPrograms) {
  std::string text = oracleText("rows.ptx");
  std::vector<Mutant> mutants = mutantsOf(text);
  EXPECT_GT(mutants.size(), 50u);
  std::set<std::string> different{text};
  for (const Mutant &mutant : mutants) {
    EXPECT_NO_THROW(ptx::parse(mutant.text, "mutant")) << mutant.name();
    EXPECT_TRUE(different.insert(mutant.text).second) << mutant.line << ": " << mutant.name();
  }
}

} // namespace
