// What inputs hold that are sequences or optionals: who says it, and files of them.
#include "lib/Data/Holders.h"
#include "include/sprig/error.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

using namespace sprig;
using namespace sprig::data;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

using Dims = std::map<std::string, int64_t>;

std::string errorOf(const std::function<void()> &body) {
  try {
    body();
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

std::optional<Held> held(Holder holder, const Dims &dims, std::set<std::string> given = {}) {
  return heldBy(holder, "x", dims, [&](const std::string &name) { return given.count(name) > 0; });
}

TEST(Holders, AreSaidByDimensionsOrByWhatIsGiven) {
  EXPECT_EQ(held(Holder::tensor, {})->count, 1);
  EXPECT_EQ(held(Holder::sequence, {{"x.length", 3}})->count, 3);
  EXPECT_EQ(held(Holder::sequence, {{"x.length", 0}})->count, 0);
  EXPECT_EQ(held(Holder::sequence, {}, {"x.0", "x.1", "x.3"})->count, 2); // those in a row
  EXPECT_EQ(held(Holder::sequence, {{"x.length", 3}}, {"x.0"})->count, 3);
  EXPECT_FALSE(held(Holder::sequence, {{"x.present", 1}}));
  EXPECT_FALSE(held(Holder::sequence, {}, {"x"}));
  EXPECT_FALSE(held(Holder::optional, {}));
  EXPECT_TRUE(held(Holder::optional, {}, {"x"})->isPresent);
  EXPECT_TRUE(held(Holder::optional, {{"x.present", 1}})->isPresent);
  EXPECT_FALSE(held(Holder::optional, {{"x.present", 0}})->isPresent);
  EXPECT_FALSE(held(Holder::optionalSequence, {{"x.present", 0}})->isPresent);
  EXPECT_FALSE(held(Holder::optionalSequence, {{"x.present", 1}})); // but how long?
  EXPECT_EQ(held(Holder::optionalSequence, {{"x.length", 2}})->count, 2);
}

TEST(Holders, RefuseWhatMakesNoSense) {
  auto wrong = [](Holder holder, const Dims &dims, std::set<std::string> given = {}) {
    return errorOf([&] { held(holder, dims, given); });
  };
  EXPECT_THAT(wrong(Holder::sequence, {{"x.length", -2}}), HasSubstr("input 'x' is given -2 elements (x.length)"));
  EXPECT_THAT(wrong(Holder::sequence, {{"x.length", 100000000000}}),
              HasSubstr("input 'x' is given 100000000000 elements (x.length); programs take 65536 at most"));
  EXPECT_THAT(wrong(Holder::sequence, {{"x.length", 1}}, {"x.0", "x.1"}), HasSubstr("and 'x.1' as well"));
  EXPECT_THAT(wrong(Holder::optional, {{"x.present", 2}}), HasSubstr("is given 2 as x.present; expected 0 or 1"));
  EXPECT_THAT(wrong(Holder::optional, {{"x.present", 0}}, {"x"}), HasSubstr("is given as absent (x.present)"));
  EXPECT_THAT(wrong(Holder::optionalSequence, {{"x.present", 0}, {"x.length", 1}}), HasSubstr("as absent"));
}

TEST(Holders, HaveNoRanges) {
  auto isRange = [](const std::string &dim) { return dim == "x.length" || dim == "x.present"; };
  refuseRanges(Holder::tensor, "x", isRange);
  refuseRanges(Holder::sequence, "y", isRange);
  for (Holder holder : {Holder::sequence, Holder::optional})
    EXPECT_THAT(errorOf([&] { refuseRanges(holder, "x", isRange); }), HasSubstr("is given as a range"));
}

TEST(Holders, StandForTensors) {
  EXPECT_THAT(namesOf(Holder::sequence, "x", {true, 2}), ElementsAre("x.0", "x.1"));
  EXPECT_THAT(namesOf(Holder::optional, "x", {true, 1}), ElementsAre("x"));
  EXPECT_THAT(namesOf(Holder::optional, "x", {false, 0}), ElementsAre());
  EXPECT_EQ(describe(Holder::optionalSequence, "f32"), "optional sequence of f32");
  Dims dims;
  bind(Holder::sequence, "x", {true, 2}, dims);
  bind(Holder::optional, "y", {false, 0}, dims);
  bind(Holder::tensor, "z", {}, dims);
  EXPECT_EQ(dims, (Dims{{"x.length", 2}, {"y.present", 0}}));
}

/// A message's field of bytes.
std::string field(int number, const std::string &data) {
  return std::string{char(number << 3 | 2), char(data.size())} + data;
}

TEST(Holders, AreReadFromFiles) {
  const std::string tensor = std::string("\x08\x02\x10\x06", 4) + field(9, std::string("\1\0\0\0\2\0\0\0", 8)); // 2xi32
  const std::string sequence = std::string("\x10\x01", 2) + field(3, tensor) + field(3, tensor);
  auto parse = [](const std::string &bytes, Holder holder) { return parseStored(bytes, holder, "file.pb"); };
  EXPECT_EQ(parse(sequence, Holder::sequence).arrays.size(), 2u);
  EXPECT_EQ(parse(sequence, Holder::sequence).arrays[1].integerAt(1), 2);
  EXPECT_TRUE(parse("", Holder::sequence).arrays.empty());
  EXPECT_FALSE(parse("", Holder::optional).isPresent);
  EXPECT_EQ(parse("\x10\x01" + field(3, tensor), Holder::optional).arrays.size(), 1u);
  EXPECT_EQ(parse("\x10\x03" + field(5, sequence), Holder::optionalSequence).arrays.size(), 2u);

  auto wrong = [&](const std::string &bytes, Holder holder) { return errorOf([&] { parse(bytes, holder); }); };
  EXPECT_THAT(wrong("\x1a\x7f", Holder::sequence),
              HasSubstr("file.pb: is no such message; expected an ONNX SequenceProto with tensors"));
  EXPECT_THAT(wrong(std::string("\x10\x03", 2), Holder::sequence),
              HasSubstr("a sequence of other things than tensors"));
  EXPECT_THAT(wrong(std::string("\x10\x01", 2), Holder::optional), HasSubstr("holds no tensor; expected an ONNX Opt"));
  EXPECT_THAT(wrong(std::string("\x10\x01", 2), Holder::optionalSequence), HasSubstr("holds no sequence"));
  EXPECT_THAT(wrong(field(3, tensor.substr(0, 8)), Holder::sequence), HasSubstr("file.pb"));
}

} // namespace
