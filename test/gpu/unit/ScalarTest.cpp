// Single instructions that compilers write rarely, against the PTX manual's words in C++.
#include "test/gpu/unit/Kernels.h"
#include <bit>
#include <functional>
#include <gtest/gtest.h>
#include <random>

using namespace sprig::gpu;

using U = uint32_t;
using W = uint64_t;
struct Row {
  const char *ptx; // %r1, %r2, %r3 and %rd1, %rd2, %rd3 are the operands, %rd0 the result
  std::function<W(W, W, W)> expected;
};

// bfe and bfi, bit by bit as the manual writes them.
static W field(W a, U position, U length, unsigned width, bool isSigned) {
  U top = width - 1, last = std::min(position + length - 1, top);
  bool sign = isSigned && length && (a >> last & 1);
  W result = 0;
  for (U i = 0; i <= top; ++i) {
    bool bit = i < length && position + i <= top ? a >> (position + i) & 1 : sign;
    result |= W(bit) << i;
  }
  return result;
}
static W inserted(W a, W b, U position, U length, unsigned width) {
  for (U i = 0; i < length && position + i < width; ++i)
    b = (b & ~(W(1) << (position + i))) | (a >> i & 1) << (position + i);
  return b;
}
static W sext(U x) { return W(int64_t(int32_t(x))); }
static W highest(W x) { return x ? W(63 - std::countl_zero(x)) : 0xffffffff; }

// 32-bit results are stored with zeros above.
#define R32(text) text " cvt.u64.u32 %rd0, %r0;"
static const Row table[] = {
    {R32("bfe.u32 %r0, %r1, %r2, %r3;"), [](W a, W b, W c) { return field(U(a), b & 255, c & 255, 32, false); }},
    {R32("bfe.s32 %r0, %r1, %r2, %r3;"), [](W a, W b, W c) { return field(U(a), b & 255, c & 255, 32, true); }},
    {"bfe.s64 %rd0, %rd1, %r2, %r3;", [](W a, W b, W c) { return field(a, b & 255, c & 255, 64, true); }},
    {R32("bfi.b32 %r0, %r1, %r2, %r3, 5;"), [](W a, W b, W c) { return inserted(U(a), U(b), c & 255, 5, 32); }},
    {"bfi.b64 %rd0, %rd1, %rd2, %r3, 40;", [](W a, W b, W c) { return inserted(a, b, c & 255, 40, 64); }},
    {R32("lop3.b32 %r0, %r1, %r2, %r3, 0xca;"), [](W a, W b, W c) { return U((a & b) | (~a & c)); }},
    {R32("shf.l.clamp.b32 %r0, %r1, %r2, %r3;"),
     [](W a, W b, W c) { return U((W(U(b)) << 32 | U(a)) << std::min<U>(U(c), 32) >> 32); }},
    {R32("shf.r.clamp.b32 %r0, %r1, %r2, %r3;"),
     [](W a, W b, W c) { return U((W(U(b)) << 32 | U(a)) >> std::min<U>(U(c), 32)); }},
    {R32("shf.r.wrap.b32 %r0, %r1, %r2, %r3;"), [](W a, W b, W c) { return U((W(U(b)) << 32 | U(a)) >> (c & 31)); }},
    {R32("shl.b32 %r0, %r1, %r3;"), [](W a, W, W c) { return U(c) > 31 ? 0 : U(a) << c; }},
    {R32("shr.u32 %r0, %r1, %r3;"), [](W a, W, W c) { return U(c) > 31 ? 0 : U(a) >> c; }},
    {R32("shr.s32 %r0, %r1, %r3;"), [](W a, W, W c) { return U(int32_t(a) >> std::min<U>(U(c), 31)); }},
    {"shr.s64 %rd0, %rd1, %r3;", [](W a, W, W c) { return W(int64_t(a) >> std::min<U>(U(c), 63)); }},
    {R32("sad.s32 %r0, %r1, %r2, %r3;"),
     [](W a, W b, W c) { return U(std::abs(int64_t(int32_t(a)) - int32_t(b))) + U(c); }},
    {R32("mul24.lo.u32 %r0, %r1, %r2;"), [](W a, W b, W) { return U((a & 0xffffff) * (b & 0xffffff)); }},
    {R32("mul24.hi.u32 %r0, %r1, %r2;"), [](W a, W b, W) { return U((a & 0xffffff) * (b & 0xffffff) >> 16); }},
    {"mul.hi.s64 %rd0, %rd1, %rd2;", [](W a, W b, W) { return W(__int128(int64_t(a)) * int64_t(b) >> 64); }},
    {"mul.hi.u64 %rd0, %rd1, %rd2;", [](W a, W b, W) { return W((unsigned __int128)(a)*b >> 64); }},
    {"mad.wide.s32 %rd0, %r1, %r2, %rd3;", [](W a, W b, W c) { return sext(U(a)) * sext(U(b)) + c; }},
    {R32("mad.hi.u32 %r0, %r1, %r2, %r3;"), [](W a, W b, W c) { return U((W(U(a)) * U(b) >> 32) + c); }},
    // 64-bit sums of halves with carries.
    {"{ .reg .b32 l, h, x, y; add.cc.u32 l, %r1, %r2; mov.b64 {x, h}, %rd1; mov.b64 {x, y}, %rd2; addc.u32 h, h, y; "
     "mov.b64 %rd0, {l, h}; }",
     [](W a, W b, W) { return a + b; }},
    {"{ .reg .b32 l, h, x, y; sub.cc.u32 l, %r1, %r2; mov.b64 {x, h}, %rd1; mov.b64 {x, y}, %rd2; subc.u32 h, h, y; "
     "mov.b64 %rd0, {l, h}; }",
     [](W a, W b, W) { return a - b; }},
    {R32("add.sat.s32 %r0, %r1, %r2;"),
     [](W a, W b, W) {
       return U(std::min<int64_t>(std::max<int64_t>(int64_t(int32_t(a)) + int32_t(b), INT32_MIN), INT32_MAX));
     }},
    {R32("bfind.u32 %r0, %r1;"), [](W a, W, W) { return highest(U(a)); }},
    {R32("bfind.s32 %r0, %r1;"), [](W a, W, W) { return highest(int32_t(a) < 0 ? ~U(a) : U(a)); }},
    {R32("clz.b64 %r0, %rd1;"), [](W a, W, W) { return W(std::countl_zero(a)); }},
    {R32("popc.b64 %r0, %rd1;"), [](W a, W, W) { return W(std::popcount(a)); }},
    {R32("cnot.b32 %r0, %r1;"), [](W a, W, W) { return W(U(a) == 0); }},
    {R32("slct.u32.s32 %r0, %r1, %r2, %r3;"), [](W a, W b, W c) { return int32_t(c) >= 0 ? U(a) : U(b); }},
    {R32("set.lt.u32.s32 %r0, %r1, %r2;"), [](W a, W b, W) { return int32_t(a) < int32_t(b) ? 0xffffffffu : 0u; }},
    {R32("set.ge.and.u32.u32 %r0, %r1, %r2, !%p0;"), [](W a, W b, W) { return U(a) >= U(b) ? 0xffffffffu : 0u; }},
    {R32("setp.gt.or.s32 %p1|%p2, %r1, %r2, %p0; selp.b32 %r0, 5, 6, %p2;"),
     [](W a, W b, W) { return int32_t(a) > int32_t(b) ? 6u : 5u; }},
    {"cvt.sat.s8.s64 %rd0, %rd1;",
     [](W a, W, W) { return W(std::min<int64_t>(std::max<int64_t>(int64_t(a), -128), 127)); }},
    {"cvt.sat.u16.s64 %rd0, %rd1;",
     [](W a, W, W) { return W(std::min<int64_t>(std::max<int64_t>(int64_t(a), 0), 65535)); }},
    {"cvt.s64.s16 %rd0, %rd1;", [](W a, W, W) { return W(int64_t(int16_t(a))); }},
    {R32("dp4a.u32.s32 %r0, %r1, %r2, %r3;"),
     [](W a, W b, W c) {
       for (int i = 0; i < 4; ++i) c += W(int64_t(uint8_t(a >> (8 * i))) * int8_t(b >> (8 * i)));
       return U(c);
     }},
    {R32("min.s16x2 %r0, %r1, %r2;"),
     [](W a, W b, W) {
       return U(uint16_t(std::min(int16_t(a), int16_t(b)))) | U(uint16_t(std::min(int16_t(a >> 16), int16_t(b >> 16))))
                                                                  << 16;
     }},
    {R32("mov.u32 %r0, %lanemask_lt;"), [](W, W, W) { return 0; }},
    {R32("testp.subnormal.f32 %p1, %f0; selp.u32 %r0, 1, 0, %p1;"),
     [](W a, W, W) { return (a & 0x7f800000) == 0 && (a & 0x7fffff) != 0; }},
    {R32("setp.equ.f32 %p1, %f0, %f1; selp.u32 %r0, 1, 0, %p1;"),
     [](W a, W b, W) {
       float x = std::bit_cast<float>(U(a)), y = std::bit_cast<float>(U(b));
       return !(x < y) && !(x > y);
     }},
};

TEST(Scalar, InstructionsDoWhatTheManualSays) {
  std::string text = ".version 8.0\n.target sm_90\n.address_size 64\n";
  size_t count = std::size(table);
  for (size_t i = 0; i < count; ++i)
    text += ".visible .entry k" + std::to_string(i) +
            "(.param .u64 x, .param .u64 y)\n{ .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<4>;\n"
            "ld.param.u64 %rd5, [x]; ld.param.u64 %rd6, [y]; ld.global.u64 %rd1, [%rd5]; ld.global.u64 %rd2, [%rd5+8]; "
            "ld.global.u64 %rd3, [%rd5+16];\n"
            "cvt.u32.u64 %r1, %rd1; cvt.u32.u64 %r2, %rd2; cvt.u32.u64 %r3, %rd3; mov.b32 %f0, %r1; mov.b32 %f1, %r2; "
            "setp.ne.u32 %p0, 0, 0;\n" +
            table[i].ptx + "\nst.global.u64 [%rd6], %rd0; ret; }\n";
  Kernels kernels(text);
  std::mt19937_64 random(1);
  const W special[] = {0,          1,          31,    32,         33,         64,         200,       0x7fffffff,
                       0x80000000, 0xffffffff, ~W(0), W(1) << 63, 0x7fc00000, 0x00400000, 0x12345678};
  for (int round = 0; round < 200; ++round) {
    W x[3], y = 0;
    for (W &v : x) v = random() % 2 ? special[random() % std::size(special)] : random() >> random() % 64;
    for (size_t i = 0; i < count; ++i) {
      LaunchReport report = kernels.run("k" + std::to_string(i), {1}, {1}, {}, &x[0], &y);
      ASSERT_TRUE(report.completed);
      ASSERT_EQ(y, table[i].expected(x[0], x[1], x[2]))
          << table[i].ptx << ": " << std::hex << x[0] << ", " << x[1] << ", " << x[2];
    }
  }
}

// A matrix goes to shared memory by stmatrix and comes back by ldmatrix, also where one of them transposes.
TEST(Scalar, StoresMatrices) {
  auto text = [](const std::string &store, const std::string &load) {
    return ".version 8.0\n.target sm_90\n.address_size 64\n.shared .align 16 .b8 tile[256];\n.visible .entry k(.param "
           ".u64 x)\n"
           "{ .reg .b32 %r<8>; .reg .b64 %rd<4>;\nld.param.u64 %rd0, [x]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, "
           "8; add.s64 %rd0, %rd0, %rd1;\n"
           "ld.global.v2.u32 {%r1, %r2}, [%rd0]; and.b32 %r0, %r0, 15; shl.b32 %r0, %r0, 4; mov.u32 %r3, tile; add.u32 "
           "%r3, %r3, %r0;\n"
           "stmatrix.sync.aligned.m8n8.x2" +
           store +
           ".shared.b16 [%r3], {%r1, %r2};\nbar.warp.sync -1;\n"
           "ldmatrix.sync.aligned.m8n8.x2" +
           load + ".shared.b16 {%r4, %r5}, [%r3];\nst.global.v2.u32 [%rd0], {%r4, %r5};\nret;\n}\n";
  };
  for (bool isTransposed : {false, true}) {
    std::vector<U> x(64), before;
    for (U i = 0; i < 64; ++i) x[i] = i | i << 20;
    before = x;
    // Once there and back the same way; once transposed on one side, which twice is the identity.
    for (int time = 0; time < 2; ++time) {
      Kernels kernels(text(isTransposed ? ".trans" : "", ""));
      EXPECT_EQ(kernels.run("k", {1}, {32}, checkedWith(x), x.data()).text(), "");
      EXPECT_EQ(x == before, !isTransposed || time == 1);
    }
  }
}
