// What a package tells, what an embedder can give, the null device, instruction sets.
#include "runtime/device/cpu/CpuFeatures.h"
#include "runtime/device/cpu/Calls.h"
#include "runtime/device/cpu/CodeImage.h"
#include "runtime/test/TestPackage.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace sprig::rt::test {
namespace {

TEST(Package, TellsWhatIsInside) {
  TestPackage made;
  uint32_t constant = made.addConstant({1, 2});
  EntryBuilder entry("main");
  uint32_t x = entry.input("x", {2}), y = entry.output("y", {2});
  entry.dispatch(0, Add, {x, entry.constant(constant, 8), y}, 2, 2);
  entry.entry.lanes[0].commands[0].flops = 2;
  entry.entry.lanes[0].commands[0].bytes = 24;
  entry.entry.lanes[0].commands[0].name = "add_1";
  made.program.entries.push_back(entry.entry);
  Package package = made.load();

  sprig_rt_package_info info = package.info();
  EXPECT_STREQ(info.name, "test");
  EXPECT_STREQ(info.producer, "test");
  EXPECT_EQ(info.format_major, 1u);
  EXPECT_EQ(info.entry_count, 1u);
  EXPECT_EQ(info.kernel_count, 9u);
  EXPECT_EQ(info.section_count, 3u);
  EXPECT_EQ(info.file_bytes, made.encode().size());
  EXPECT_STREQ(info.isa, "x86-64-v2");

  sprig_rt_entry_info main = package.entry(0);
  EXPECT_STREQ(main.name, "main");
  EXPECT_EQ(main.command_count, 1u);
  EXPECT_EQ(main.flops, 2u);
  EXPECT_EQ(main.bytes, 24u);
  EXPECT_EQ(package.inputs(0)[0].text(), "2xui32");
  EXPECT_EQ(package.outputs(0)[0].name, "y");

  sprig_rt_command_info command;
  check(sprig_rt_package_command(package.raw(), 0, 0, 0, &command));
  EXPECT_STREQ(command.name, "add_1");
  EXPECT_EQ(command.kind, SPRIG_RT_DISPATCH);
  EXPECT_EQ(command.buffer_count, 3u);
  EXPECT_EQ(command.buffers[1], 2u);
  sprig_rt_buffer_info buffer;
  check(sprig_rt_package_buffer(package.raw(), 0, command.buffers[1], &buffer));
  EXPECT_STREQ(buffer.kind, "constant");
  EXPECT_EQ(buffer.size, 8u);
  sprig_rt_kernel_info kernel;
  check(sprig_rt_package_kernel(package.raw(), command.kernel, &kernel));
  EXPECT_STREQ(kernel.name, "add");
  EXPECT_EQ(kernel.code_bytes, 1u);
  sprig_rt_section_info section;
  check(sprig_rt_package_section(package.raw(), 1, &section));
  EXPECT_STREQ(section.kind, "constants");
  EXPECT_EQ(section.offset % 4096, 0u);
  EXPECT_EQ(section.size, 8u);
  sprig_rt_image_info image;
  check(sprig_rt_package_image(package.raw(), 0, &image));
  EXPECT_STREQ(image.isa, "x86-64-v2");
  EXPECT_EQ(image.loaded, 1);
  sprig_rt_constant_info constantInfo;
  check(sprig_rt_package_constant(package.raw(), 0, &constantInfo));
  EXPECT_EQ(constantInfo.bytes, 8u);
  EXPECT_EQ(constantInfo.splat, 0);
  const char *key = nullptr, *value = nullptr, *kind = nullptr;
  check(sprig_rt_package_fact(package.raw(), 0, &key, &value));
  EXPECT_STREQ(key, "target");
  EXPECT_STREQ(value, "test");
  check(sprig_rt_package_device(package.raw(), 0, &kind));
  EXPECT_STREQ(kind, "cpu");
  uint32_t count = 0;
  check(sprig_rt_package_lane(package.raw(), 0, 0, &count));
  EXPECT_EQ(count, 1u);

  EXPECT_EQ(errorOf([&] { check(sprig_rt_package_command(package.raw(), 0, 0, 1, &command)); }),
            "expected a command below 1, got 1");
  EXPECT_EQ(errorOf([&] { package.entry(3); }), "expected an entry below 1, got 3");
  EXPECT_EQ(errorOf([&] { check(sprig_rt_package_section(nullptr, 0, &section)); }), "expected a package, got null");
}

TEST(Package, UsesTheEmbeddersAllocatorForAllThatIsLarge) {
  struct Counted {
    std::atomic<int64_t> live{0}, most{0};
  } counted;
  sprig_rt_allocator allocator = {&counted,
                                  [](void *user, size_t size, size_t alignment) {
                                    auto &counts = *static_cast<Counted *>(user);
                                    counts.most = std::max(counts.most.load(), counts.live += int64_t(size));
                                    return std::aligned_alloc(alignment, size);
                                  },
                                  [](void *user, void *memory, size_t size) {
                                    static_cast<Counted *>(user)->live -= int64_t(size);
                                    std::free(memory);
                                  }};
  LoadOptions options;
  options.allocator = &allocator;
  {
    TestPackage made = addPackage(16);
    made.program.constants.push_back({"splat", 1 << 20, 0, {1, 0, 0, 0}});
    uint32_t splat = uint32_t(made.program.constants.size()) - 1;
    made.program.entries[0].buffers.push_back({core::BufferKind::Constant, splat, 0, 1 << 20, "splat"});
    made.program.entries[0].arenaSize = 1 << 16;
    Context context(made.load(options));
    Words a(32), sum(16);
    context.invoke({TensorView(a.data() + 1, {16}), a.view({16})}, {sum.view()});
    EXPECT_GE(counted.most.load(), (1 << 20) + (1 << 16) + 64);
  }
  EXPECT_EQ(counted.live.load(), 0);
  allocator.allocate = [](void *, size_t, size_t) -> void * { return nullptr; };
  sprig_rt_code code = SPRIG_RT_OK;
  EXPECT_NE(errorOf([&] { Context context(addPackage(16).load(options)); }, &code), "");
  EXPECT_EQ(code, SPRIG_RT_OUT_OF_MEMORY);
}

TEST(Package, TellsALogWhatItLoads) {
  std::string text;
  LoadOptions options;
  options.log = [](void *user, int32_t, const char *message) { *static_cast<std::string *>(user) += message; };
  options.logUser = &text;
  addPackage(16).load(options);
  EXPECT_EQ(text, "test: 1 entries, runs on x86-64-v2");
}

TEST(Package, OptionsOfAnOlderCallerAreTaken) {
  Bytes file = addPackage(4).encode();
  sprig_rt_package *package = nullptr;
  sprig_rt_load_options options = {};
  options.device = "abacus"; // after the size that the caller states
  options.size = sizeof(size_t) + sizeof(const char *);
  check(sprig_rt_package_load_memory(file.data(), file.size(), nullptr, nullptr, nullptr, &options, &package));
  sprig_rt_package_release(package);
  options.size = sizeof options;
  EXPECT_EQ(errorOf([&] {
              check(sprig_rt_package_load_memory(file.data(), file.size(), nullptr, nullptr, "p", &options, &package));
            }),
            "p: devices 'abacus': expected a kind of device (cpu, cuda, null), found 'abacus'");
}

TEST(Package, LargeConstantsWorkCopiedAndMapped) {
  constexpr uint32_t count = 3 << 19; // 6 MB
  TestPackage made;
  std::vector<uint32_t> values(count);
  for (uint32_t i = 0; i < count; ++i) values[i] = i * 7;
  uint32_t constant = made.addConstant(values);
  EntryBuilder entry("main");
  uint32_t x = entry.input("x", {count}), y = entry.output("y", {count});
  entry.dispatch(0, Add, {x, entry.constant(constant, uint64_t(count) * 4), y}, count, count);
  made.program.entries.push_back(entry.entry);
  std::string path = testing::TempDir() + "sprig-large-" + std::to_string(getpid()) + ".sprig";
  Bytes file = made.encode();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char *>(file.data()), std::streamsize(file.size()));
  for (bool map : {true, false}) {
    LoadOptions options;
    options.mapConstants = map;
    Package package = Package::load(path, options);
    Context context(package);
    Words in(count, 5), out(count);
    context.invoke({in.view()}, {out.view()});
    for (uint32_t i = 0; i < count; i += 1001) ASSERT_EQ(out[i], i * 7 + 5);
    sprig_rt_section_info section;
    check(sprig_rt_package_section(package.raw(), 1, &section));
    EXPECT_EQ(section.size, uint64_t(count) * 4);
    EXPECT_EQ(package.info().file_bytes, file.size());
  }
  std::remove(path.c_str());
}

TEST(NullDevice, KeepsTimeAndExecutesNothing) {
  // Two lanes of 1 ms of flops each side by side, then one of 2 ms after both.
  TestPackage made;
  made.program.images.clear(); // needs no code
  EntryBuilder entry("main");
  uint32_t x = entry.input("x", {1}), y = entry.output("y", {1}), huge = entry.arena(uint64_t(1) << 45);
  uint32_t done = entry.event();
  entry.dispatch(0, Add, {x, x, huge}, 1);
  entry.dispatch(1, Add, {x, x, y}, 1);
  entry.record(1, done);
  entry.wait(0, done);
  entry.dispatch(0, Add, {x, x, y}, 1);
  for (core::Lane &lane : entry.entry.lanes) lane.commands[0].flops = 100'000'000;
  entry.entry.lanes[0].commands[2].flops = 200'000'000;
  made.program.entries.push_back(entry.entry);
  LoadOptions options;
  options.device = "null";
  Package package = made.load(options);
  EXPECT_EQ(package.isa(), "null");
  Context context(package);
  Words in(1, 3), out(1, 8);
  context.invoke({in.view()}, {out.view()});
  EXPECT_EQ(out[0], 8u);
  EXPECT_NEAR(context.lastRun().simulated_seconds, 3e-3, 1e-5);
  EXPECT_STREQ(context.lastRun().isa, "null");
}

core::Program imagesFor(std::vector<std::pair<std::string, std::vector<std::string>>> list) {
  core::Program program;
  for (auto &[isa, features] : list) {
    core::Image image = {};
    image.isa = isa;
    image.features = features;
    program.images.push_back(image);
  }
  return program;
}

TEST(Isa, TakesTheBestThatTheProcessorHas) {
  core::Program program =
      imagesFor({{"x86-64-v2", {}}, {"x86-64-v3", {}}, {"x86-64-v4", {}}, {"x86-64-v4", {"avx512bf16"}}});
  core::CpuFeatures cpu;
  uint32_t index = 9;
  auto choose = [&](int level, std::vector<std::string_view> features, std::string_view limit) {
    cpu.level = level;
    cpu.features = std::move(features);
    return chooseImage(program, cpu, limit, index).isOk() ? int(index) : -1;
  };
  EXPECT_EQ(choose(2, {}, ""), 0);
  EXPECT_EQ(choose(3, {}, ""), 1);
  EXPECT_EQ(choose(4, {}, ""), 2);
  EXPECT_EQ(choose(4, {"avx512bf16"}, ""), 3);
  EXPECT_EQ(choose(4, {"avx512bf16"}, "x86-64-v4"), 2);
  EXPECT_EQ(choose(4, {"avx512bf16"}, "x86-64-v3"), 1);
  EXPECT_EQ(choose(3, {}, "x86-64-v4"), 1);
  EXPECT_EQ(choose(0, {}, ""), -1);
  EXPECT_EQ(choose(4, {}, "pentium"), -1);
}

TEST(Isa, AMatrixUnitIsBetterThanDotProducts) {
  core::Program program =
      imagesFor({{"x86-64-v4", {"avx512vnni"}}, {"x86-64-v4", {"avx512vnni", "amx-tile", "amx-int8"}}});
  core::CpuFeatures cpu;
  cpu.level = 4;
  uint32_t index = 9;
  cpu.features = {"avx512vnni"};
  EXPECT_TRUE(chooseImage(program, cpu, "", index).isOk());
  EXPECT_EQ(index, 0u);
  cpu.features = {"amx-int8", "amx-tile", "avx512vnni"};
  EXPECT_TRUE(chooseImage(program, cpu, "", index).isOk());
  EXPECT_EQ(index, 1u);
}

TEST(Isa, SaysWhatIsMissing) {
  core::CpuFeatures cpu;
  cpu.level = 3;
  uint32_t index = 0;
  core::Status status = chooseImage(imagesFor({{"x86-64-v4", {}}, {"x86-64-v3", {"avxvnni"}}}), cpu, "", index);
  EXPECT_EQ(status.code(), SPRIG_RT_UNSUPPORTED);
  EXPECT_EQ(status.message(),
            "the package has code for x86-64-v4, x86-64-v3 with avxvnni; this processor has x86-64-v3");
  status = chooseImage(imagesFor({{"x86-64-v3", {}}}), cpu, "x86-64-v2", index);
  EXPECT_EQ(status.message(), "the package has code for x86-64-v3; no better than x86-64-v2 may be used, and this "
                              "processor has x86-64-v3");
}

TEST(Isa, AnEnvironmentVariableForcesALesserOne) {
  TestPackage made = addPackage(4);
  made.program.images.push_back(made.program.images[0]);
  made.program.images[1].isa = "x86-64-v3";
  if (core::cpuFeatures().level >= 3) EXPECT_EQ(made.load().isa(), "x86-64-v3");
  setenv("SPRIG_CPU", "x86-64-v2", 1);
  EXPECT_EQ(made.load().isa(), "x86-64-v2");
  LoadOptions options;
  options.cpu = "x86-64-v1";
  EXPECT_EQ(errorOf([&] { made.load(options); }),
            "test: expected x86-64-v2, x86-64-v3 or x86-64-v4 as instruction set, found 'x86-64-v1'");
  unsetenv("SPRIG_CPU");
}

TEST(Isa, DetectionAgreesWithTheCompilers) {
  __builtin_cpu_init();
  const core::CpuFeatures &cpu = core::cpuFeatures();
  EXPECT_EQ(cpu.level >= 2, bool(__builtin_cpu_supports("x86-64-v2")));
  EXPECT_EQ(cpu.level >= 3, bool(__builtin_cpu_supports("x86-64-v3")));
  EXPECT_EQ(cpu.level >= 4, bool(__builtin_cpu_supports("x86-64-v4")));
  EXPECT_EQ(cpu.has("avx512vnni"), bool(__builtin_cpu_supports("avx512vnni")));
  EXPECT_EQ(cpu.has("vaes"), bool(__builtin_cpu_supports("vaes")));
  EXPECT_EQ(cpu.has("gfni"), bool(__builtin_cpu_supports("gfni")));
}

TEST(Calls, AreFoundByName) {
  EXPECT_EQ(core::findRuntimeCall("memcpy"), reinterpret_cast<void *>(&memcpy));
  EXPECT_EQ(core::findRuntimeCall("printf"), nullptr);
  auto roundeven = reinterpret_cast<double (*)(double)>(core::findRuntimeCall("roundeven"));
  ASSERT_NE(roundeven, nullptr);
  EXPECT_EQ(roundeven(2.5), 2.0);
  EXPECT_EQ(roundeven(-0.5), -0.0);
  EXPECT_EQ(roundeven(3.5), 4.0);
}

TEST(Machine, IsDescribed) {
  sprig_rt_device_info info;
  check(sprig_rt_device(0, &info));
  EXPECT_STREQ(info.kind, "cpu");
  EXPECT_GE(info.threads, 1);
  EXPECT_GE(info.cpus, info.threads);
  EXPECT_GT(info.memory, uint64_t(1) << 20);
  check(sprig_rt_device(1, &info));
  EXPECT_STREQ(info.kind, "null");
  EXPECT_EQ(errorOf([&] { check(sprig_rt_device(2, &info)); }), "expected a device below 2, got 2");
}

} // namespace
} // namespace sprig::rt::test
