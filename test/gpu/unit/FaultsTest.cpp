// Broken kernels: each fault is found, by name, line and thread.
#include "test/gpu/unit/Kernels.h"
#include <gtest/gtest.h>

using namespace sprig::gpu;

// A kernel of 64 threads over `.param .u64 out`; %r0 is the thread, %rd0 the array, %rd1 this thread's element.
static std::string faultyKernel(const std::string &body) {
  return ".version 8.0\n.target sm_80\n.address_size 64\n.shared .align 4 .b8 tile[256];\n"
         ".visible .entry k(.param .u64 out)\n{\n.reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .f32 "
         "%f<4>;\n"
         "ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 4; add.s64 %rd1, %rd0, %rd1; shl.b32 "
         "%r1, %r0, 2; "
         "mov.u32 %r2, tile; add.u32 %r2, %r2, %r1;\n" + // %r2: this thread's word of the tile
         body +
         "\nret;\n}\n";
}
constexpr unsigned firstLine = 9; // of the body

static LaunchReport run(const std::string &body, Dim3 grid = {1}, Dim3 block = {64}, bool isChecked = true) {
  Kernels kernels(faultyKernel(body));
  std::vector<uint32_t> out(64);
  LaunchOptions options = checkedWith(out);
  options.checked = isChecked;
  return kernels.run("k", grid, block, options, out.data());
}

struct Expected {
  Fault fault;
  unsigned line, otherLine;
};
static void expectOne(const LaunchReport &report, Expected expected, const std::string &text = "") {
  ASSERT_EQ(report.complaints.size(), 1u) << report.text();
  const Complaint &complaint = report.complaints[0];
  EXPECT_EQ(complaint.fault, expected.fault) << report.text();
  EXPECT_EQ(complaint.line, firstLine + expected.line) << report.text();
  if (expected.otherLine != ~0u) EXPECT_EQ(complaint.otherLine, firstLine + expected.otherLine) << report.text();
  EXPECT_NE(complaint.text.find(text), std::string::npos) << report.text();
}

TEST(Faults, RacesInSharedMemory) {
  std::string write = "st.shared.u32 [%r2], %r0;\n", read = "ld.shared.u32 %r3, [tile];\n";
  expectOne(run(write + read), {Fault::Race, 1, 0},
            "reads 4 bytes of shared memory at 0x0, which thread (0, 0, 0) writes at line 9");
  EXPECT_EQ(run(write + "bar.sync 0;\n" + read).text(), "");
  // A barrier of each warp does not order the two warps.
  expectOne(run(write + "bar.warp.sync -1;\n" + read), {Fault::Race, 2, 0});
  // A read before a write.
  expectOne(
      run(write + "bar.sync 0;\n" + read + "setp.eq.u32 %p1, %r0, 0;\n@%p1 st.shared.u32 [tile], %r0;\n", {1}, {2}),
      {Fault::Race, 4, 2});
  EXPECT_EQ(run(write + "bar.sync 0;\n" + read + "bar.sync 0;\n" + write).text(), "");
  // Bytes of one word are different places.
  std::string bytes = "mov.u32 %r4, tile; add.u32 %r4, %r4, %r0;\nst.shared.u8 [%r4], %r0;\n";
  EXPECT_EQ(run(bytes).text(), "");
  expectOne(run(bytes + "bar.sync 0;\nst.shared.u8 [tile], %r0;\n", {1}, {2}), {Fault::Race, 3, 3});
  // Threads of a warp are not ordered by being one, nor by a shuffle.
  expectOne(run(write + "shfl.sync.idx.b32 %r5, %r0, 0, 31, -1;\n" + read, {1}, {32}), {Fault::Race, 2, 0});
}

TEST(Faults, RacesInGlobalMemory) {
  std::string write = "st.global.u32 [%rd1], %r0;\n", read = "ld.global.u32 %r3, [%rd0];\n";
  expectOne(run(write + read), {Fault::Race, 1, 0}, "of global memory");
  EXPECT_EQ(run(write + "bar.sync 0;\n" + read).text(), "");
  // Two blocks write the same.
  expectOne(run(write, {2}), {Fault::Race, 0, 0}, "of block (0, 0, 0)");
  EXPECT_EQ(run("red.global.add.u32 [%rd0], 1;\n", {2}).text(), "");
  expectOne(run("red.global.add.u32 [%rd0], 1;\nld.global.u32 %r3, [%rd0];\n", {2}), {Fault::Race, 0, 1});
  EXPECT_EQ(run("red.global.add.u32 [%rd0], 1;\nld.relaxed.gpu.global.u32 %r3, [%rd0];\n", {2}).text(), "");
}

// Block 0 writes a value, then a flag; block 1 reads the flag, then the value.
TEST(Faults, RacesThatReleaseAndAcquireWouldOrder) {
  auto handOver = [](const std::string &release, const std::string &acquire) {
    return "mov.u32 %r3, %ctaid.x; setp.ne.u32 %p1, %r3, 0;\n@%p1 bra READ;\nst.global.u32 [%rd0], 7;\n" + release +
           "\nret;\nREAD:\n" + acquire + "\nld.global.u32 %r5, [%rd0];\n";
  };
  std::string fence = "fence.acq_rel.gpu; ";
  auto complaints = [&](const std::string &release, const std::string &acquire) {
    return run(handOver(release, acquire), {2}, {1}).complaints.size();
  };
  EXPECT_EQ(complaints("st.release.gpu.global.u32 [%rd0+4], 1;", "ld.acquire.gpu.global.u32 %r4, [%rd0+4];"), 0u);
  EXPECT_EQ(complaints("atom.release.gpu.global.add.u32 %r4, [%rd0+4], 1;",
                       "atom.acquire.gpu.global.add.u32 %r4, [%rd0+4], 0;"),
            0u);
  EXPECT_EQ(complaints(fence + "red.global.add.u32 [%rd0+4], 1;", "atom.global.add.u32 %r4, [%rd0+4], 0; " + fence),
            0u);
  EXPECT_EQ(
      complaints(fence + "st.relaxed.gpu.global.u32 [%rd0+4], 1;", "ld.relaxed.gpu.global.u32 %r4, [%rd0+4]; " + fence),
      0u);
  EXPECT_EQ(complaints("red.global.add.u32 [%rd0+4], 1;", "atom.global.add.u32 %r4, [%rd0+4], 0; " + fence), 1u);
  EXPECT_EQ(complaints(fence + "red.global.add.u32 [%rd0+4], 1;", "atom.global.add.u32 %r4, [%rd0+4], 0; "), 1u);
  EXPECT_EQ(
      complaints("st.relaxed.gpu.global.u32 [%rd0+4], 1; " + fence, fence + "ld.relaxed.gpu.global.u32 %r4, [%rd0+4];"),
      1u);
}

TEST(Faults, UninitialisedSharedMemory) {
  expectOne(run("ld.shared.u32 %r3, [%r2];\n"), {Fault::UninitialisedShared, 0, ~0u});
}

TEST(Faults, AccessesOutOfBounds) {
  expectOne(run("ld.shared.u32 %r3, [tile+256];\n"), {Fault::OutOfBounds, 0, ~0u},
            "of shared memory at 0x100, the block has 256");
  expectOne(run("st.shared.u32 [%r2+4], %r0;\n"), {Fault::OutOfBounds, 0, ~0u}, "thread (63, 0, 0)");
  expectOne(run("st.global.u32 [%rd1+4], %r0;\n"), {Fault::OutOfBounds, 0, ~0u}, "where no allocation is");
  expectOne(run("st.u32 [%rd1+4], %r0;\n"), {Fault::OutOfBounds, 0, ~0u});
  expectOne(run(".local .align 4 .b8 own[8];\nst.local.u32 [own+8], %r0;\n"), {Fault::OutOfBounds, 1, ~0u},
            "local memory");
}

TEST(Faults, MisalignedAccesses) {
  expectOne(run("st.shared.u32 [tile+2], %r0;\n"), {Fault::Misaligned, 0, ~0u});
  expectOne(run("ld.global.v2.u32 {%r3, %r4}, [%rd0+4];\n"), {Fault::Misaligned, 0, ~0u}, "reads 8 bytes");
}

TEST(Faults, Deadlocks) {
  std::string half = "setp.lt.u32 %p1, %r0, 32;\n";
  // The others wait at another barrier.
  LaunchReport report = run(half + "@%p1 bra A;\nbar.sync 1;\nbra B;\nA:\nbar.sync 0;\nB:", {1}, {64}, false);
  expectOne(
      report, {Fault::Deadlock, 5, 2},
      "32 threads wait at line 14 (barrier 0), the first is thread (0, 0, 0), 32 threads wait at line 11 (barrier 1)");
  EXPECT_FALSE(report.completed);
  // Those who have ended are not waited for.
  EXPECT_EQ(run(half + "@%p1 ret;\nbar.sync 0;\n").text(), "");
  // But with a count.
  expectOne(run(half + "@%p1 ret;\nbar.sync 0, 64;\n"), {Fault::Deadlock, 2, ~0u}, "32 have ended");
  // A lane of the mask waits elsewhere.
  expectOne(run("setp.eq.u32 %p1, %r0, 3;\n@%p1 bra A;\nbar.warp.sync 0xf;\nbra B;\nA:\nbar.sync 0;\nB:", {1}, {4}),
            {Fault::Deadlock, 5, 2});
}

TEST(Faults, ThreadsThatPoll) {
  // Thread 0 waits for what thread 63 writes: it gets its turn, where the block's threads have stacks of their own.
  std::string wait = "setp.eq.u32 %p1, %r0, 63;\n@%p1 st.relaxed.gpu.global.u32 [%rd0], "
                     "5;\nL:\nld.relaxed.gpu.global.u32 %r3, [%rd0];\n"
                     "setp.ne.u32 %p2, %r3, 5;\n@%p2 bra L;\n";
  EXPECT_EQ(run(wait + "bar.sync 0;\n").text(), "");
  for (bool isChecked : {false, true})
    expectOne(
        run("L:\nld.volatile.global.u32 %r3, [%rd0];\nsetp.ne.u32 %p2, %r3, 5;\n@%p2 bra L;\n", {1}, {32}, isChecked),
        {Fault::Deadlock, 1, ~0u}, "waits still");
  expectOne(run("L:\natom.global.cas.b32 %r3, [%rd0], 1, 2;\nsetp.ne.u32 %p2, %r3, 1;\n@%p2 bra L;\n", {1}, {1}, false),
            {Fault::Deadlock, 1, ~0u});
}

TEST(Faults, Divergence) {
  std::string one = "setp.eq.u32 %p1, %r0, 3;\n@%p1 bra A;\n";
  expectOne(run(one + "shfl.sync.idx.b32 %r5, %r0, 0, 31, 15;\nbra B;\nA:\nshfl.sync.idx.b32 %r5, %r0, 1, 31, 15;\nB:",
                {1}, {4}),
            {Fault::Divergence, 5, 2});
  expectOne(run("shfl.sync.idx.b32 %r5, %r0, 0, 31, 7;\n", {1}, {4}), {Fault::Divergence, 0, ~0u},
            "whose mask does not name it");
  expectOne(run("shfl.sync.idx.b32 %r5, %r0, 20, 31, -1;\n", {1}, {4}), {Fault::Divergence, 0, ~0u},
            "reads from lane 20, which takes no part");
  expectOne(run(one + "bar.sync 0;\nbra B;\nA:\nbar.sync 0;\nB:", {1}, {4}), {Fault::Divergence, 5, 2},
            "though it is an aligned one");
  EXPECT_EQ(run(one + "barrier.sync 0;\nbra B;\nA:\nbarrier.sync 0;\nB:", {1}, {4}).text(), "");
  expectOne(run("bar.sync 0, 33;\n"), {Fault::Divergence, 0, ~0u}, "no multiple of a warp");
  expectOne(run("bar.sync 16;\n"), {Fault::Divergence, 0, ~0u}, "there are 16");
  std::string product = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f0, %f1, %f2, %f3}, {%r3, %r3, %r3, "
                        "%r3}, {%r3, %r3}, {%f0, %f1, %f2, %f3};\n";
  EXPECT_EQ(run(product).text(), "");
  expectOne(run(product, {1}, {40}), {Fault::Divergence, 0, ~0u}, "a warp that is not whole");
}

TEST(Faults, AsynchronousCopies) {
  // Each thread copies its word of the array to the tile.
  std::string copy = "cp.async.ca.shared.global [%r2], [%rd1], 4;\n", commit = "cp.async.commit_group;\n",
              read = "ld.shared.u32 %r3, [%r2];\n";
  EXPECT_EQ(run(copy + commit + "cp.async.wait_group 0;\n" + read).text(), "");
  EXPECT_EQ(run(copy + "cp.async.wait_all;\n" + read).text(), "");
  expectOne(run(copy + "cp.async.wait_group 0;\n"), {Fault::UnfinishedCopy, 0, ~0u}); // never committed
  LaunchReport early = run(copy + commit + read + "cp.async.wait_group 0;\n");
  ASSERT_GE(early.complaints.size(), 1u);
  EXPECT_EQ(early.complaints[0].fault, Fault::Race);
  EXPECT_EQ(early.complaints[0].line, firstLine + 2);
  EXPECT_NE(early.text().find("an asynchronous copy of thread (0, 0, 0) at line 9 is on its way"), std::string::npos)
      << early.text();
  // A neighbour's copy is ordered by a barrier behind the wait, not by one in front of it.
  std::string neighbour = "ld.shared.u32 %r3, [tile];\n";
  EXPECT_EQ(run(copy + "cp.async.wait_all;\nbar.sync 0;\n" + neighbour).text(), "");
  EXPECT_NE(run(copy + "bar.sync 0;\ncp.async.wait_all;\n" + neighbour).text(), "");
  // A copy may not begin before everybody has read what it overwrites.
  std::string first = "st.shared.u32 [%r2], %r0;\nbar.sync 0;\n";
  EXPECT_EQ(run(first + neighbour + "bar.sync 0;\n" + copy + "cp.async.wait_all;\n").text(), "");
  EXPECT_NE(run(first + neighbour + copy + "bar.sync 0;\ncp.async.wait_all;\n").text(), "");
}

TEST(Faults, TrapsAndDivisionsByZero) {
  LaunchReport report = run("setp.eq.u32 %p1, %r0, 5;\n@%p1 trap;\n", {1}, {64}, false);
  expectOne(report, {Fault::Trap, 1, ~0u}, "thread (5, 0, 0) traps");
  EXPECT_FALSE(report.completed);
  expectOne(run("div.u32 %r3, %r1, %r0;\n"), {Fault::DivisionByZero, 0, ~0u}, "thread (0, 0, 0)");
  EXPECT_TRUE(run("rem.s32 %r3, %r1, 0;\n", {1}, {64}, false).completed);
}

TEST(Faults, LaunchesThatTheKernelForbids) {
  std::string text = faultyKernel("");
  text.insert(text.find("\n{") + 1, ".reqntid 32, 2\n");
  Kernels kernels(text);
  std::vector<uint32_t> out(64);
  EXPECT_EQ(kernels.run("k", {1}, {64}, {}, out.data()).text(),
            "bad launch of kernel 'k': a block of 64 x 1 x 1 threads, the kernel requires 32 x 2 x 1\n");
  EXPECT_EQ(kernels.run("k", {1}, {32, 2}, {}, out.data()).text(), "");
  EXPECT_NE(kernels.runShared("k", {1}, {32, 2}, 240 << 10, {}, out.data()).text(), "");
}

// Functions may end the thread; the others go on.
TEST(Faults, NoneWhereThreadsExitInFunctions) {
  std::string text =
      ".version 8.0\n.target sm_80\n.address_size 64\n.func f(.param .b32 x)\n{\n.reg .b32 %r<2>; .reg .pred %p;\n"
      "ld.param.u32 %r0, [x]; setp.lt.u32 %p, %r0, 3;\n@%p exit;\nret;\n}\n" +
      faultyKernel("").substr(43);
  size_t at = text.rfind("\nret;");
  text.insert(at, "{ .param .b32 p; st.param.b32 [p], %r0; call.uni f, (p); }\nst.global.u32 [%rd1], 9;");
  Kernels kernels(text);
  std::vector<uint32_t> out(64);
  LaunchReport report = kernels.run("k", {1}, {64}, checkedWith(out), out.data());
  EXPECT_EQ(report.text(), "");
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(out[i], i < 3 ? 0u : 9u);
}
