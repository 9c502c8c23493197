#include "lib/Data/ArrayFile.h"
#include "lib/Data/File.h"
#include "test/unit/Loader/Support.h"
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <unistd.h>

using namespace sprig;
using namespace sprig::data;
namespace fs = std::filesystem;

namespace {

class Files : public ::testing::Test {
protected:
  Files() { fs::create_directories(folder); }
  ~Files() override { fs::remove_all(folder); }
  fs::path folder = fs::temp_directory_path() / ("sprig-loader-" + std::to_string(::getpid()));

  template <typename T>
  static Array array(data::DType type, std::vector<int64_t> shape, std::vector<T> values, std::string name = "") {
    Array result{std::move(name), type, std::move(shape), {}};
    auto *bytes = reinterpret_cast<const char *>(values.data());
    result.bytes.assign(bytes, bytes + values.size() * sizeof(T));
    return result;
  }
  static std::vector<float> upTo(int64_t count) {
    std::vector<float> result;
    for (int64_t i = 0; i < count; ++i) result.push_back(float(i));
    return result;
  }
  void write(const std::string &name, std::string_view bytes) {
    writeFile(folder / name, std::span(bytes.data(), bytes.size()));
  }
  void writeIdx(const std::string &name, std::vector<uint32_t> dims, std::string bytes) {
    std::string text = {0, 0, 8, char(dims.size())};
    for (uint32_t dim : dims)
      for (int shift = 24; shift >= 0; shift -= 8) text += char(dim >> shift);
    write(name, text + bytes);
  }
};

TEST_F(Files, NpyMappedAndRead) {
  writeArrays(folder / "x.npy", std::vector{array(data::DType::f32, {4, 5}, upTo(20))});
  for (Map map : {Map::always, Map::never, Map::automatic}) {
    Dataset set = npy(folder / "x.npy", map);
    EXPECT_EQ(set.size(), 4);
    EXPECT_EQ(numbersOf<float>(set.get(3).x()), (std::vector<float>{15, 16, 17, 18, 19}));
    Loader loader(set, {.batch = 3, .workers = 1});
    for (const Batch &batch : loader) EXPECT_EQ(batch.host(0).item<float>(), float(batch.number() * 15));
  }
  expectHas(refusal([&] { npy(folder / "none.npy"); }, ErrorKind::badInput), "none.npy");
}

// A file of 64 GiB, of which the disk holds one page: only what is asked for is read.
TEST_F(Files, LargerThanMemory) {
  constexpr int64_t kRows = int64_t(1) << 24, kColumns = 1024;
  Array none{"", data::DType::f32, {0, kColumns}, {}};
  std::vector<char> header = formatNpy(none);
  std::string text(header.begin(), header.end());
  std::string zero = "(0, 1024), }", rows = "(" + std::to_string(kRows) + ", 1024), }";
  size_t at = text.find(zero);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, rows.size(), rows); // over the blanks after it
  write("large.npy", text);
  std::error_code error;
  fs::resize_file(folder / "large.npy", text.size() + size_t(kRows * kColumns * 4), error);
  if (error) GTEST_SKIP() << "no sparse files here: " << error.message();
  std::fstream file(folder / "large.npy", std::ios::binary | std::ios::in | std::ios::out);
  float seven = 7;
  file.seekp(-4, std::ios::end);
  file.write(reinterpret_cast<const char *>(&seven), 4);
  file.close();
  Dataset set = npy(folder / "large.npy");
  EXPECT_EQ(set.size(), kRows);
  for (const Batch &batch : Loader(set.subset({0, kRows - 1}), {.batch = 2, .workers = 1})) {
    EXPECT_EQ(batch.host(0).item<float>(0), 0);
    EXPECT_EQ(batch.host(0).item<float>(2 * kColumns - 1), 7);
  }
}

TEST_F(Files, MembersOfArchives) {
  std::vector both = {array(data::DType::f32, {4, 2}, upTo(8), "x"),
                      array(data::DType::i64, {4}, std::vector<int64_t>{3, 2, 1, 0}, "y")};
  writeArrays(folder / "d.npz", both);
  writeArrays(folder / "d.safetensors", both);
  for (Map map : {Map::always, Map::never})
    for (const Dataset &set :
         {npz(folder / "d.npz", {"x", "y"}, map), safetensors(folder / "d.safetensors", {"x", "y"}, map)}) {
      EXPECT_EQ(set.size(), 4);
      EXPECT_EQ(set.get(2).x().item<float>(1), 5);
      EXPECT_EQ(set.get(2).y().item<int64_t>(), 1);
    }
  expectHas(refusal([&] { npz(folder / "d.npz"); }, ErrorKind::badInput), "holds 2 arrays, expected one");
  expectHas(refusal([&] { safetensors(folder / "d.safetensors", {"z"}); }, ErrorKind::badInput), "has no array 'z'");
  // Mapped members are not copied: a change of the file is seen.
  for (const char *name : {"d.npz", "d.safetensors"}) {
    Dataset set =
        name[2] == 'n' ? npz(folder / name, {"x"}, Map::always) : safetensors(folder / name, {"x"}, Map::always);
    std::vector<char> bytes = readFile(folder / name);
    float five = 5, other = 77;
    auto *five4 = reinterpret_cast<const char *>(&five);
    auto at = std::search(bytes.begin(), bytes.end(), five4, five4 + 4);
    ASSERT_NE(at, bytes.end());
    std::FILE *file = std::fopen((folder / name).c_str(), "r+b");
    std::fseek(file, at - bytes.begin(), SEEK_SET);
    std::fwrite(&other, 4, 1, file);
    std::fclose(file);
    EXPECT_EQ(set.get(2).x().item<float>(1), 77) << name;
  }
}

// Whatever is broken in an archive's directory: an error, or the sound array of the reader; never anything else.
TEST_F(Files, DamagedArchivesAreRefused) {
  auto put = [&](std::span<const char> bytes) {
    std::ofstream(folder / "changed", std::ios::binary).write(bytes.data(), std::streamsize(bytes.size()));
  };
  std::vector one = {array(data::DType::f32, {4, 2}, upTo(8), "x")};
  writeArrays(folder / "d.npz", one);
  writeArrays(folder / "d.safetensors", one);
  for (const char *name : {"d.npz", "d.safetensors"}) {
    std::vector<char> sound = readFile(folder / name);
    for (size_t at = 0; at < sound.size(); ++at)
      for (int change : {0x01, 0xff}) {
        std::vector<char> bytes = sound;
        bytes[at] = char(bytes[at] ^ change);
        put(bytes);
        try {
          Dataset set = npz(folder / "changed", {"x"}, Map::always);
          for (int64_t i = 0; i < set.size(); ++i) set.get(i);
        } catch (const Error &error) {
          EXPECT_TRUE(error.kind() == ErrorKind::badInput || error.kind() == ErrorKind::usage) << error.what();
        }
      }
    for (size_t keep = 0; keep < sound.size(); keep += 7) {
      put({sound.data(), keep});
      refusal([&] { npz(folder / "changed", {"x"}, Map::always); }, ErrorKind::badInput);
    }
  }
}

TEST_F(Files, TablesWithATarget) {
  write("t.csv", "a,b,class\n1.5,2,0\n3,4,1\n");
  Dataset set = csv(folder / "t.csv", {.target = -1});
  EXPECT_EQ(numbersOf<float>(set.get(1).x()), (std::vector<float>{3, 4}));
  EXPECT_EQ(set.get(1).y().item<int64_t>(), 1);
  EXPECT_EQ(csv(folder / "t.csv", {.target = 0}).get(0).y().item<float>(), 1.5f);
  EXPECT_EQ(csv(folder / "t.csv").get(0).x().numel(), 3);
  expectHas(refusal([&] { csv(folder / "t.csv", {.target = 3}); }, ErrorKind::badInput),
            "column 3 is to be the target, the table is 2x3xf32");
}

TEST_F(Files, MnistFromItsFiles) {
  std::string pixels(2 * 784, 0);
  pixels[784] = char(255);
  writeIdx("t10k-images-idx3-ubyte", {2, 28, 28}, pixels);
  expectHas(refusal([&] { mnist(folder, {.train = false}); }, ErrorKind::badInput), "t10k-labels-idx1-ubyte: is not");
  writeIdx("t10k-labels-idx1-ubyte", {2}, std::string{3, 9});
  Dataset set = mnist(folder, {.train = false});
  EXPECT_EQ(set.size(), 2);
  EXPECT_EQ(sprig::describe(set.get(1).x().type()), "1x28x28xf32");
  EXPECT_EQ(set.get(1).x().item<float>(), 1);
  EXPECT_EQ(set.get(1).y().item<int64_t>(), 9);
  Dataset large = mnist(folder, {.train = false, .size = 224});
  EXPECT_EQ(sprig::describe(large.get(1).x().type()), "1x224x224xf32");
  EXPECT_EQ(large.get(1).x().item<float>(), 1);
  writeIdx("t10k-labels-idx1-ubyte", {2}, std::string{3, 10});
  expectHas(refusal([&] { mnist(folder, {.train = false}); }, ErrorKind::badInput), "class 10");
  writeIdx("t10k-images-idx3-ubyte", {2, 7, 7}, std::string(98, 0));
  expectHas(refusal([&] { mnist(folder, {.train = false}); }, ErrorKind::badInput),
            "holds 2x7x7xu8, expected Nx28x28xu8");
}

TEST_F(Files, NamedFoldersOfMnistHaveItsFiles) {
  for (const fs::path &named : {folder / "nowhere", folder})
    for (bool train : {true, false})
      expectHas(refusal([&] { mnist(named, {.train = train}); }, ErrorKind::badInput),
                (named / (train ? "train-images-idx3-ubyte" : "t10k-images-idx3-ubyte")).string() + ": is not there");
}

TEST_F(Files, AStandInForMnistSaysSo) {
  ::testing::internal::CaptureStderr();
  fs::path before = fs::current_path();
  fs::current_path(folder);
  Dataset train = fashionMnist(), test = fashionMnist("", {.train = false});
  fs::current_path(before);
  std::string said = ::testing::internal::GetCapturedStderr();
  expectHas(said, "note: no fashion-mnist/train-images-idx3-ubyte");
  expectHas(said, "synthetic");
  EXPECT_EQ(train.size(), 60000);
  EXPECT_EQ(test.size(), 10000);
  EXPECT_EQ(sprig::describe(train.get(59999).x().type()), "1x28x28xf32");
  // The last batch of 256 has 96 samples, as that of the files.
  EXPECT_EQ(60000 % 256, 96);
  EXPECT_EQ(Loader(train, {.batch = 256}).size(), 235);
  // Ten classes, each nearer to its own mean picture than to the others'.
  std::vector<std::vector<double>> means(10, std::vector<double>(784));
  std::vector<int> counts(10);
  for (int64_t i = 0; i < 500; ++i) {
    Sample sample = train.get(i);
    auto c = size_t(sample.y().item<int64_t>());
    ++counts[c];
    for (size_t p = 0; p < 784; ++p) means[c][p] += sample.x().item<float>(int64_t(p));
  }
  for (size_t c = 0; c < 10; ++c) {
    ASSERT_GT(counts[c], 10);
    for (double &value : means[c]) value /= counts[c];
  }
  int right = 0;
  for (int64_t i = 0; i < 200; ++i) {
    Sample sample = test.get(i);
    auto x = sample.x().numbers<float>();
    double best = 1e30;
    size_t found = 0;
    for (size_t c = 0; c < 10; ++c) {
      double distance = 0;
      for (size_t p = 0; p < 784; ++p) distance += (x[p] - means[c][p]) * (x[p] - means[c][p]);
      if (distance < best) best = distance, found = c;
    }
    right += int64_t(found) == sample.y().item<int64_t>();
  }
  EXPECT_GT(right, 150);
}

TEST(Resize, KeepsFlatImagesAndMeans) {
  Field flat({sprig::DType::f32, {2, 5, 7}});
  std::fill_n(flat.edit<float>().data(), 70, 0.25f);
  for (auto [h, w] : {std::pair<int64_t, int64_t>{3, 4}, {11, 20}, {1, 1}, {5, 30}})
    for (float value : numbersOf<float>(resize(flat, h, w))) EXPECT_NEAR(value, 0.25f, 1e-6f);
  // Between the centres of pixels, and no further than them.
  Field two(std::vector<float>{0, 100}, {1, 1, 2});
  EXPECT_EQ(numbersOf<float>(resize(two, 1, 4)), (std::vector<float>{0, 25, 75, 100}));
  // Smaller: a triangle over the old pixels, 4 of them wide to each side.
  Field four(std::vector<float>{0, 0, 0, 80}, {1, 1, 4});
  EXPECT_EQ(resize(four, 1, 1).item<float>(), 80 * 0.625f / (0.625f * 2 + 0.875f * 2));
  Field bytes(std::vector<uint8_t>{0, 255}, {1, 1, 2});
  EXPECT_EQ(numbersOf<uint8_t>(resize(bytes, 1, 4)), (std::vector<uint8_t>{0, 64, 191, 255}));
  expectHas(refusal([&] { resize(flat, 0, 4); }), "resize to 0 x 4");
  expectHas(refusal([] { resize(Field(1.f), 4, 4); }), "channels x height x width");
}

} // namespace
