#include "lib/Data/Samples.h"
#include "lib/Data/ArrayFile.h"
#include "lib/Data/File.h"
#include "sprig/error.h"
#include <cmath>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace sprig;
using namespace sprig::data;
namespace fs = std::filesystem;

namespace {

template <typename T>
Array array(DType type, std::vector<int64_t> shape, std::vector<T> values, std::string name = "") {
  Array result{std::move(name), type, std::move(shape), {}};
  result.bytes.resize(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(result.bytes.data(), values.data(), result.bytes.size());
  return result;
}

template <typename Run> std::string refusal(Run run) {
  try {
    run();
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::badInput) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "accepted";
  return "";
}

template <typename T>
std::vector<T> gathered(const Samples &samples, std::vector<int64_t> indices, const Intake &intake) {
  std::vector<T> out(indices.size() * size_t(samples.sampleElements()));
  gather(samples, indices, intake, out.data());
  return out;
}

class SampleFiles : public ::testing::Test {
protected:
  fs::path folder = fs::temp_directory_path() / ("sprig-samples-test-" + std::to_string(::getpid()));
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }
  std::string path(const std::string &name) { return (folder / name).string(); }
};

const Array kTable = array<float>(DType::f32, {3, 2}, {1, 2, 3, 4, 5, 6}, "x");
const Array kLabels = array<int64_t>(DType::i64, {3}, {0, 2, 1}, "y");

} // namespace

TEST_F(SampleFiles, MembersOfAFile) {
  Array both[] = {kTable, kLabels};
  for (const char *name : {"d.npz", "d.safetensors"}) {
    std::string file = path(name);
    writeArrays(file, both);
    EXPECT_EQ(Samples::open(file + ":y").shape(), kLabels.shape);
    EXPECT_EQ(Samples::open(file + ":y").name(), file + ":y");
    EXPECT_EQ(refusal([&] { Samples::open(file + ":z"); }), file + ": has no array 'z', only: x, y");
    EXPECT_EQ(refusal([&] { Samples::open(file); }),
              file + ": holds 2 arrays, expected one\nnote: name it, as in " + file + ":x; there are: x, y");
    writeArrays(file, {&kTable, 1});
    EXPECT_EQ(Samples::open(file).shape(), kTable.shape);
  }
  std::string odd = path("with:colon.npy");
  writeArrays(odd, {&kTable, 1});
  EXPECT_EQ(Samples::open(odd).count(), 3);
  refusal([&] { Samples::open(path("missing.npy")); });
}

TEST_F(SampleFiles, MappedAndReadAreTheSame) {
  writeArrays(path("x.npy"), {&kTable, 1});
  Intake intake{DType::f32, {2}, false};
  Samples read = Samples::open(path("x.npy")), mapped = Samples::open(path("x.npy"), 1);
  EXPECT_EQ(gathered<float>(read, {2, 0, 2}, intake), (std::vector<float>{5, 6, 1, 2, 5, 6}));
  EXPECT_EQ(gathered<float>(mapped, {2, 0, 2}, intake), gathered<float>(read, {2, 0, 2}, intake));
  // A mapping outlives the file's name.
  fs::remove(path("x.npy"));
  EXPECT_EQ(gathered<float>(mapped, {1}, intake), (std::vector<float>{3, 4}));
  std::vector<char> shorter = formatNpy(kTable);
  shorter.resize(130);
  writeFile(path("short.npy"), shorter);
  EXPECT_NE(refusal([&] { Samples::open(path("short.npy"), 1); }).find("takes 24 bytes, the file has 2"),
            std::string::npos);
  // What is no .npy file is read whatever its size.
  writeArrays(path("x.safetensors"), {&kTable, 1});
  EXPECT_EQ(Samples::open(path("x.safetensors"), 1).count(), 3);
}

TEST_F(SampleFiles, EveryFormatByContent) {
  writeFile(path("images"), std::string("\0\0\x08\x02\0\0\0\2\0\0\0\3abcdef", 18));
  Samples images = Samples::open(path("images"));
  EXPECT_EQ(describe(images.dtype(), images.shape()), "2x3xu8");
  writeFile(path("table"), std::string("a b\n1 2\n3 4\n"));
  Samples table = Samples::open(path("table"));
  EXPECT_EQ(describe(table.dtype(), table.shape()), "2x2xi64");
}

TEST(Samples, BytesBecomeFloatsByDivision) {
  Samples images = Samples::from(array<uint8_t>(DType::u8, {2, 1, 2}, {0, 51, 255, 1}), "images");
  EXPECT_EQ(gathered<float>(images, {0, 1}, {DType::f32, {2}, true}),
            (std::vector<float>{0, 51 / 255.f, 1, 1 / 255.f}));
  EXPECT_EQ(gathered<double>(images, {1}, {DType::f64, {2}, true}), (std::vector<double>{1, 1 / 255.}));
  EXPECT_EQ(gathered<uint16_t>(images, {1}, {DType::f16, {2}, true}),
            (std::vector<uint16_t>{0x3c00, toHalf(1 / 255.)}));
  EXPECT_EQ(gathered<float>(images, {1}, {DType::f32, {2}, false}), (std::vector<float>{255, 1})); // targets
  EXPECT_EQ(gathered<int64_t>(images, {1, 0}, {DType::i64, {2}, true}), (std::vector<int64_t>{255, 1, 0, 51}));
}

TEST(Samples, TypesConvert) {
  Samples doubles = Samples::from(array<double>(DType::f64, {2}, {0.1, 1e300}), "d");
  EXPECT_EQ(gathered<float>(doubles, {0, 1}, {DType::f32, {}}), (std::vector<float>{0.1f, HUGE_VALF}));
  Samples halves = Samples::from(array<uint16_t>(DType::f16, {1}, {0x3e00}), "h");
  EXPECT_EQ(gathered<float>(halves, {0}, {DType::f32, {}}), std::vector<float>{1.5});
  Samples integers = Samples::from(array<int32_t>(DType::i32, {2}, {-1, 70000}), "i");
  EXPECT_EQ(gathered<int64_t>(integers, {1, 0}, {DType::i64, {}}), (std::vector<int64_t>{70000, -1}));
  EXPECT_EQ(gathered<float>(integers, {0, 1}, {DType::f32, {}}), (std::vector<float>{-1, 70000}));
  EXPECT_EQ(refusal([&] { gathered<int16_t>(integers, {0, 1}, {DType::i16, {}}); }),
            "i: sample 1 (from 0) holds a i32 beyond the type that the model takes");
  Samples flags = Samples::from(array<uint8_t>(DType::i1, {2}, {1, 0}), "b");
  EXPECT_EQ(gathered<float>(flags, {0, 1}, {DType::f32, {}}), (std::vector<float>{1, 0}));
}

TEST(Samples, ShapesThatFit) {
  auto samples = [](std::vector<int64_t> shape) {
    int64_t count = 1;
    for (int64_t dim : shape) count *= dim;
    return Samples::from(array<float>(DType::f32, shape, std::vector<float>(size_t(count))), "s.npy");
  };
  checkFits(samples({5, 2, 3}), {DType::f32, {2, 3}}, "input 'x'");
  checkFits(samples({5, 2, 3}), {DType::f32, {1, 2, 3}}, "input 'x'"); // grey images without a channel
  checkFits(samples({5, 6}), {DType::f32, {1, 2, 3}}, "input 'x'");    // a table's rows
  checkFits(samples({5, 2, 3}), {DType::f32, {6}}, "input 'x'");       // images for a flat network
  checkFits(samples({5}), {DType::f32, {1}}, "target");
  EXPECT_EQ(refusal([&] { checkFits(samples({5, 3, 2}), {DType::f32, {2, 3}}, "input 'x'"); }),
            "s.npy: a sample is 3x2xf32, input 'x' takes 2x3xf32");
  EXPECT_EQ(refusal([&] { checkFits(samples({5, 7}), {DType::f32, {6}}, "input 'x'"); }),
            "s.npy: a sample is 7xf32, input 'x' takes 6xf32");
  EXPECT_EQ(refusal([&] { checkFits(samples({5}), {DType::i64, {}}, "the target"); }),
            "s.npy: is f32, the target takes integers (i64)");
  EXPECT_EQ(refusal([&] { samples({}); }), "s.npy: holds a single number, expected samples along a first dimension");
}

TEST(Samples, CountsMustAgree) {
  Samples x = Samples::from(kTable, "x.npy"), y = Samples::from(array<int64_t>(DType::i64, {2}, {0, 1}), "y.npy"),
          none = Samples::from(array<float>(DType::f32, {0, 2}, {}), "none.npy");
  checkCounts(x, x);
  EXPECT_EQ(refusal([&] { checkCounts(x, y); }), "y.npy: holds 2 samples, x.npy holds 3");
  EXPECT_EQ(refusal([&] { checkCounts(none, none); }), "none.npy: holds no samples (0x2xf32)");
}

TEST(Samples, ClassesMustBeThere) {
  Samples y = Samples::from(array<int32_t>(DType::i32, {2, 2}, {0, 2, 1, -100}), "y.npy");
  EXPECT_EQ(refusal([&] { checkClasses(y, 2); }), "y.npy: sample 0 (from 0) has class 2, the network has 2 (0 to 1)");
  EXPECT_EQ(refusal([&] { checkClasses(y, 3); }),
            "y.npy: sample 1 (from 0) has class -100, the network has 3 (0 to 2)");
  int64_t ignore = -100;
  checkClasses(y, 3, &ignore);
  Samples large = Samples::from(array<uint64_t>(DType::u64, {1}, {~uint64_t(0)}), "y.npy");
  EXPECT_EQ(refusal([&] { checkClasses(large, 3); }),
            "y.npy: sample 0 (from 0) has class 18446744073709551615, the network has 3 (0 to 2)");
  EXPECT_EQ(refusal([&] { checkClasses(Samples::from(kTable, "t"), 3); }), "t: is f32, expected integer classes");
}
