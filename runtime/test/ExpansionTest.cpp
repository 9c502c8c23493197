// Constants that are made of fewer bytes when a package is loaded: values, and what is refused before anything is read.
#include "runtime/format/Compression.h"
#include "runtime/format/ShortFilter.h"
#include "runtime/test/TestPackage.h"

#include <bit>
#include <cstring>
#include <gtest/gtest.h>

namespace sprig::rt::test {
namespace {

using format::Arrangement;
using format::Expansion;
using format::ExpansionForm;

// So many literals, then one match to the end.
std::vector<uint8_t> streamOf(const std::vector<uint8_t> &bytes, unsigned width, uint64_t literals,
                              uint64_t distance = 4) {
  format::RangeEncoder encoder;
  format::Symbols symbols(encoder, width);
  for (uint64_t place = 0; place < literals; ++place) {
    symbols.isMatch(place, false);
    symbols.literal(place, place ? bytes[place - 1] : 0, 0, false, bytes[place]);
  }
  if (literals < bytes.size()) {
    symbols.isMatch(literals, true);
    symbols.distance(literals, distance);
    symbols.length(true, bytes.size() - literals - format::kShortestMatch + 1);
  }
  return encoder.finish();
}

template <typename T> std::vector<uint8_t> bytesOf(const std::vector<T> &values) {
  auto *first = reinterpret_cast<const uint8_t *>(values.data());
  return {first, first + values.size() * sizeof(T)};
}

// y = x + the constant, of 16 words.
TestPackage packageOf(Expansion expansion, const std::vector<uint8_t> &from) {
  TestPackage package;
  uint32_t source = package.addConstantOf<uint8_t>(from);
  expansion.offset = package.program.constants[source].offset;
  expansion.size = from.size();
  package.program.constants[source] = {"made", 64, 1, {}, std::move(expansion)};
  EntryBuilder entry("main");
  uint32_t x = entry.input("x", {16}), y = entry.output("y", {16});
  entry.dispatch(0, Add, {x, entry.constant(source, 64), y}, 16, 16);
  package.program.entries.push_back(entry.entry);
  return package;
}

// What the constant's words are, by a run of the package.
std::vector<uint32_t> wordsOf(const TestPackage &package, const std::string &device = "") {
  LoadOptions options;
  options.device = device;
  Context context(package.load(options));
  Words x(16), y(16);
  context.invoke({x.view()}, {y.view()});
  return {y.data(), y.data() + 16};
}

Expansion compressed(uint8_t width, Arrangement arrangement = Arrangement::Plain) {
  Expansion expansion;
  expansion.width = width;
  expansion.arrangement = arrangement;
  return expansion;
}

TEST(Expansion, AStreamRepeatsWhatWasThere) {
  std::vector<uint32_t> words;
  for (uint32_t i = 0; i < 16; ++i) words.push_back(1000 * (i % 3) + 7);
  auto stream = streamOf(bytesOf(words), 4, 12, 12);
  EXPECT_EQ(wordsOf(packageOf(compressed(4), stream)), words);
  EXPECT_EQ(wordsOf(packageOf(compressed(4), stream), "null:0"), words) << "on a device with memory of its own";
}

TEST(Expansion, DifferencesAddUp) {
  std::vector<uint32_t> differences(16, 3), words;
  differences[0] = uint32_t(-5);
  for (uint32_t i = 0; i < 16; ++i) words.push_back(3 * i - 5);
  EXPECT_EQ(wordsOf(packageOf(compressed(4, Arrangement::Differences), streamOf(bytesOf(differences), 4, 8))), words);
}

TEST(Expansion, SignsComeBack) {
  std::vector<uint32_t> words;
  std::vector<uint8_t> apart;
  for (uint32_t i = 0; i < 16; ++i) words.push_back(i | (i % 3 == 0 ? uint32_t(1) << 31 : 0));
  for (uint32_t i = 0; i < 16; ++i) apart.insert(apart.end(), {uint8_t(i), 0, 0, 0});
  apart.insert(apart.end(), {0b01001001, 0b10010010}); // 0, 3, 6, 9, 12, 15
  EXPECT_EQ(wordsOf(packageOf(compressed(4, Arrangement::SignsApart), streamOf(apart, 4, apart.size()))), words);
}

TEST(Expansion, BytesAreScaledByChannel) {
  // Panels of two: [2][2][4], of which the first and the last dimension number eight channels.
  Expansion expansion;
  expansion.form = ExpansionForm::Scaled;
  expansion.dtype = SPRIG_RT_F32;
  expansion.shape = {2, 2, 4};
  expansion.strides = {4, 0, 1};
  std::vector<uint8_t> from;
  std::vector<float> scales;
  std::vector<int16_t> lowest;
  for (int i = 0; i < 16; ++i) from.push_back(uint8_t(17 * i));
  for (int i = 0; i < 8; ++i) scales.push_back(0.1f * float(i + 1)), lowest.push_back(int16_t(-16 * i));
  for (uint8_t byte : bytesOf(scales)) from.push_back(byte);
  for (uint8_t byte : bytesOf(lowest)) from.push_back(byte);
  std::vector<uint32_t> words;
  for (int i = 0; i < 16; ++i) {
    int channel = i / 8 * 4 + i % 4;
    words.push_back(std::bit_cast<uint32_t>(float(17 * i - 16 * channel) * scales[size_t(channel)]));
  }
  EXPECT_EQ(wordsOf(packageOf(expansion, from)), words);
}

TEST(Expansion, AFilterIsTransformed) {
  // F(2, 3) along the width: 1, 3 taps to 1, 4 frequencies; two channels, one output in panels of two.
  std::vector<float> taps = {1, 2, 3, -4, 5, 8};
  Expansion expansion;
  expansion.form = ExpansionForm::Filter;
  expansion.shape = {1, 2, 1, 3, 1, 4, 2};
  expansion.down = {1};
  expansion.across = {-1, 0, 0, 0.5, 0.5, 0.5, 0.5, -0.5, 0.5, 0, 0, 1};
  std::vector<float> expected = {-1, 0, 4, 0, 3, 0, 4.5f, 0, 1, 0, -0.5f, 0, 3, 0, 8, 0};
  std::vector<uint32_t> words;
  for (float value : expected) words.push_back(std::bit_cast<uint32_t>(value));
  EXPECT_EQ(wordsOf(packageOf(expansion, bytesOf(taps))), words);
}

std::string refusal(Expansion expansion, const std::vector<uint8_t> &from, uint64_t size = 64) {
  TestPackage package = packageOf(std::move(expansion), from);
  package.program.constants[0].size = size;
  package.program.entries[0].buffers[1].size = size;
  return errorOf([&] { package.load(); });
}

TEST(Expansion, NonsenseIsRefusedAtLoad) {
  std::vector<uint8_t> some(32, 1);
  EXPECT_EQ(refusal(compressed(4), some), "test: constant 'made': expected a stream of 64 bytes, found a damaged one");
  EXPECT_EQ(refusal(compressed(3), some),
            "test: constant 0 'made': its expansion compresses 64 bytes as elements of 3");
  EXPECT_EQ(refusal(compressed(4, Arrangement(9)), some),
            "test: constant 0 'made': its expansion has elements in arrangement 9, which this runtime does not know");
  Expansion unknown;
  unknown.form = ExpansionForm(7);
  EXPECT_EQ(refusal(unknown, some),
            "test: constant 0 'made': its expansion is made in form 7, which this runtime does not know");

  Expansion scaled;
  scaled.form = ExpansionForm::Scaled;
  scaled.dtype = SPRIG_RT_F32;
  scaled.shape = {16};
  scaled.strides = {0};
  EXPECT_EQ(refusal(scaled, some), "test: constant 0 'made': its expansion expected 22 bytes to scale, found 32");
  scaled.strides = {uint64_t(1) << 62};
  EXPECT_EQ(refusal(scaled, some), "test: constant 0 'made': its expansion has more channels than 16 elements");
  scaled.shape = {uint64_t(1) << 47, uint64_t(1) << 47};
  scaled.strides = {0, 0};
  EXPECT_EQ(refusal(scaled, some), "test: constant 0 'made': its expansion scales a tensor of other than 64 bytes");
  scaled.dtype = SPRIG_RT_I8;
  EXPECT_EQ(refusal(scaled, some), "test: constant 0 'made': its expansion scales to element type 7");

  Expansion filter;
  filter.form = ExpansionForm::Filter;
  filter.shape = {1, 2, 1, 4, 1, 4, 2};
  filter.down = {1};
  filter.across = {1, 2, 3};
  EXPECT_EQ(refusal(filter, some), "test: constant 0 'made': its expansion has matrices of 1 and 3 numbers");
  filter.shape = {1, 2, 1, 3, 1, 4, 2};
  EXPECT_EQ(refusal(filter, some), "test: constant 0 'made': its expansion expected 24 bytes of a filter, found 32");
  filter.shape = {1, 2, 1, 4, 1, 4, 0};
  EXPECT_EQ(refusal(filter, some), "test: constant 0 'made': its expansion has a filter with a side of 0");
  filter.shape = {1, 2};
  EXPECT_EQ(refusal(filter, some), "test: constant 0 'made': its expansion expected 7 sizes of a filter, found 2");

  TestPackage outside = packageOf(compressed(4), some);
  outside.program.constants[0].expansion->size = 1 << 20;
  EXPECT_EQ(errorOf([&] { outside.load(); }),
            "test: constant 0 'made': constants section: 1048576 bytes at offset 0 leave its 32 bytes");
  TestPackage both = packageOf(compressed(4), some);
  both.program.constants[0].splat = {1};
  EXPECT_EQ(errorOf([&] { both.load(); }),
            "test: constant 0 'made': expected an expansion or an element that repeats, found both");
}

TEST(Expansion, StreamsOfAnyBytesAreReadWithinTheirBounds) {
  uint32_t seed = 1;
  for (int round = 0; round < 2000; ++round) {
    std::vector<uint8_t> stream(size_t(seed % 64));
    for (uint8_t &byte : stream) byte = uint8_t((seed = seed * 1664525 + 1013904223) >> 24);
    seed = seed * 1664525 + 1013904223;
    std::vector<uint8_t> to(100);
    (void)format::decompress(stream, 1u << (round % 4), to); // the sanitizers see what it touches
  }
}

} // namespace
} // namespace sprig::rt::test
