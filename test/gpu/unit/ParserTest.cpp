// What the parser and the translator say about texts that they do not take.
#include "test/gpu/image/ImageBuilder.h"
#include "test/gpu/ptx/Parser.h"
#include <gtest/gtest.h>
#include "llvm/IR/LLVMContext.h"

using namespace sprig;

static std::string kernel(const std::string &body) {
  return ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .pred %p<2>;\n.reg "
         ".b32 %r<4>;\n.reg .b64 %rd<4>;\n" +
         body + "\nret;\n}\n";
}
// What is said, or nothing where the text is taken.
static std::string complaint(const std::string &text) {
  try {
    llvm::LLVMContext context;
    gpu::buildImage(ptx::parse(text, "k.ptx"), context);
    return "";
  } catch (const ptx::PtxError &error) {
    return error.what();
  }
}

TEST(PtxParser, ReadsWhatCompilersWrite) {
  ptx::Module module =
      ptx::parse(".version 8.0\n.target sm_90a, debug\n.address_size 64\n"
                 ".file 1 \"a.cu\"\n.extern .shared .align 16 .b8 pool[];\n.shared .align 4 .f32 tile[2][3];\n"
                 ".global .align 8 .u64 where[2] = {generic(a), a+4};\n.const .f32 a[3] = {1.5, 0f40000000, -2};\n"
                 ".visible .entry k(.param .u64 .ptr .global .align 16 p, .param .align 8 .b8 q[24])\n.maxntid 128, "
                 "2\n.minnctapersm 2\n"
                 "{ .reg .b32 %r<3>, x; .loc 1 2 3, function_name $x, inlined_at 1 2 3\n{ .reg .b32 x; mov.b32 x, 1; } "
                 "mov.b32 x, -0x10; L: bra.uni L; }\n"
                 ".section .debug_info { .b8 1 { } }",
                 "a.ptx");
  EXPECT_EQ(module.target, "sm_90a");
  ASSERT_EQ(module.variables.size(), 4u);
  EXPECT_TRUE(module.variables[0].isDynamic);
  EXPECT_EQ(module.variables[1].size, 24u);
  EXPECT_EQ(module.variables[2].pointers.size(), 2u);
  EXPECT_EQ(module.variables[3].bytes[2], 0xc0);
  EXPECT_EQ(module.variables[3].bytes[11], 0xc0);
  ASSERT_EQ(module.functions.size(), 1u);
  const ptx::Function &function = module.functions[0];
  EXPECT_EQ(function.maxThreads[0], 128u);
  EXPECT_EQ(function.maxThreads[1], 2u);
  EXPECT_EQ(function.registers.size(), 5u);
  ASSERT_EQ(function.body.size(), 4u);
  EXPECT_EQ(function.body[0].instruction.operands[0].index, 4u); // the inner x
  EXPECT_EQ(function.body[1].instruction.operands[1].value, uint64_t(-16));
  EXPECT_EQ(function.body[1].instruction.line, 13u);
}

TEST(PtxParser, NamesLineAndWhatWasExpected) {
  EXPECT_EQ(complaint(".version 8.0\n"), "k.ptx:2: expected a .target, the text has none");
  EXPECT_EQ(complaint(kernel("mov.u32 %r1 7;")), "k.ptx:9: expected ';' behind 'mov.u32', got '7'");
  EXPECT_EQ(complaint(kernel("mov.u32 %r9, 7")), "k.ptx:10: expected ';' behind 'mov.u32', got 'ret'");
  EXPECT_EQ(complaint(kernel("ld.global.u32 %r1, [nowhere];")),
            "k.ptx:9: there is no register, label or variable 'nowhere'");
  EXPECT_EQ(complaint(kernel("\nbra nowhere;")), "k.ptx:10: there is no register, label or variable 'nowhere'");
  EXPECT_EQ(complaint(kernel("@%r1 bra x; x:")), "k.ptx:9: '%r1' is no predicate register");
  EXPECT_EQ(complaint(kernel(".reg .b32 %r1, %r1;")), "k.ptx:9: there are two registers '%r1'");
  EXPECT_EQ(complaint(kernel("/* open")), "k.ptx:9: a comment does not end");
  EXPECT_EQ(complaint(".target sm_80\n.visible .entry k()\n.explicitcluster\n{ }"),
            "k.ptx:3: the directive '.explicitcluster' of 'k' is not known here");
}

TEST(PtxTranslation, RefusesByName) {
  EXPECT_EQ(complaint(kernel("")), "");
  EXPECT_EQ(complaint(kernel("wgmma.fence.sync.aligned;")),
            "k.ptx:9: 'wgmma.fence.sync.aligned': the instruction is not known here");
  EXPECT_EQ(complaint(kernel("add.sparkling.u32 %r1, %r1, 1;")),
            "k.ptx:9: 'add.sparkling.u32': '.sparkling' is not known here");
  EXPECT_EQ(complaint(kernel("add.u64 %rd1, %r1, 1;")), "k.ptx:9: 'add.u64': register '%r1' has 32 bits, expected 64");
  EXPECT_EQ(complaint(kernel("add.rn.f32 %r1, %r1, %r1; st.global.b16 [%rd1], %r1;")),
            "k.ptx:9: 'st.global.b16': a part of register '%r1', which has a float: ptxas converts it instead");
  EXPECT_EQ(complaint(kernel("add.rn.f32 %r1, %r1, %r1; mov.b32 %r2, %r1; st.global.b16 [%rd1], %r2;")), "");
  EXPECT_EQ(complaint(kernel("add.u32 %r1, %r1;")), "k.ptx:9: 'add.u32': it has 2 operands, expected 3");
  EXPECT_EQ(complaint(kernel("mov.u32 %r1, %clusterid.x;")),
            "k.ptx:9: 'mov.u32': the register '%clusterid.x' is not known here");
  EXPECT_EQ(complaint(kernel("setp.lo.s32 %p1, %r1, %r2;")), "k.ptx:9: 'setp.lo.s32': '.lo' does not compare s32");
  EXPECT_EQ(complaint(kernel("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%rd1}, {%rd1}, {%rd1}, {%rd1};")),
            "k.ptx:9: 'mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64': this kind of product is not known here");
}
