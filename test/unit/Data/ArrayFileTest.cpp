#include "lib/Data/ArrayFile.h"
#include "lib/Data/File.h"
#include "sprig/error.h"
#include <chrono>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace sprig;
using namespace sprig::data;
namespace fs = std::filesystem;

namespace {

Array iota(const std::string &name, DType type, std::vector<int64_t> shape) {
  Array array{name, type, std::move(shape), {}};
  array.bytes.resize(size_t(*byteSize(type, array.shape)));
  for (size_t i = 0; i < array.bytes.size(); ++i) array.bytes[i] = type == DType::i1 ? char(i % 2) : char(i * 37);
  return array;
}

const DType kAll[] = {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::i32, DType::i16,
                      DType::i8,  DType::u64, DType::u32, DType::u16,  DType::u8,  DType::i1};

void expectEqual(const Array &got, const Array &want) {
  EXPECT_EQ(got.dtype, want.dtype);
  EXPECT_EQ(got.shape, want.shape);
  EXPECT_EQ(got.bytes, want.bytes) << want.name;
}

template <typename Parse> void expectRefused(Parse parse, std::vector<char> bytes, const std::string &mentions) {
  try {
    parse(std::span<const char>(bytes), "f");
    ADD_FAILURE() << "accepted, expected an error about " << mentions;
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::badInput);
    EXPECT_NE(std::string(error.what()).find(mentions), std::string::npos) << error.what();
  }
}

class ArrayFiles : public ::testing::Test {
protected:
  fs::path folder = fs::temp_directory_path() / ("sprig-data-test-" + std::to_string(::getpid()));
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }
};

} // namespace

TEST_F(ArrayFiles, EveryTypeAndShapeSurvivesEveryFormat) {
  for (DType type : kAll)
    for (std::vector<int64_t> shape : {std::vector<int64_t>{}, {1}, {0, 3}, {5}, {2, 3, 4}}) {
      Array array = iota("x", type, shape);
      for (const char *file : {"a.npy", "a.npz", "a.safetensors", "a.pb"}) {
        if (type == DType::bf16 && std::string(file).starts_with("a.np")) continue; // NumPy has no such type
        writeArrays(folder / file, {&array, 1});
        expectEqual(readArray(folder / file), array);
      }
    }
}

TEST_F(ArrayFiles, SeveralArraysByName) {
  Array arrays[] = {iota("w", DType::f32, {2, 2}), iota("b", DType::i64, {3})};
  for (const char *file : {"m.npz", "m.safetensors"}) {
    writeArrays(folder / file, arrays);
    expectEqual(readArray(folder / file, "w"), arrays[0]);
    expectEqual(readArray(folder / file, "b"), arrays[1]);
    EXPECT_THROW(readArray(folder / file, "q"), Error);
  }
}

TEST(Npy, ColumnMajorAndBigEndian) {
  // np.asfortranarray([[1, 2, 3], [4, 5, 6]], '>i2')
  std::string header = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n";
  std::string text = std::string("\x93NUMPY\x01\x00", 8) + char(header.size()) + '\0' + header;
  for (int value : {1, 4, 2, 5, 3, 6}) text += {'\0', char(value)};
  Array array = parseNpy(std::vector<char>(text.begin(), text.end()), "f");
  ASSERT_EQ(array.elements(), 6);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(array.integerAt(i), i + 1);
}

TEST(Npy, RefusesWhatIsNotSound) {
  Array array = iota("x", DType::f32, {4});
  std::vector<char> good = formatNpy(array);
  expectRefused(parseNpy, {}, "magic");
  expectRefused(parseNpy, {good.begin(), good.begin() + 9}, "magic");
  expectRefused(parseNpy, {good.begin(), good.begin() + 40}, "ends past the file");
  expectRefused(parseNpy, {good.begin(), good.end() - 1}, "takes 16 bytes, the file has 15");
  auto with = [&](const std::string &header) {
    std::string text = std::string("\x93NUMPY\x01\x00", 8) + char(header.size()) + '\0' + header;
    return std::vector<char>(text.begin(), text.end());
  };
  expectRefused(parseNpy, with("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}"),
                "too large");
  expectRefused(parseNpy, with("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}"),
                "too many");
  expectRefused(parseNpy, with("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}"), "'|O' is not supported");
  expectRefused(parseNpy, with("{'descr': '<f4', 'shape': (1,)}"), "lacks");
  expectRefused(parseNpy, with("garbage"), "expected '{'");
}

TEST(Safetensors, RefusesWhatIsNotSound) {
  Array array = iota("w", DType::f32, {4});
  std::vector<char> good = formatSafetensors({&array, 1});
  expectRefused(parseSafetensors, {1, 2, 3}, "the header's length alone takes 8");
  expectRefused(parseSafetensors, {good.begin(), good.begin() + 20}, "ends past the file");
  expectRefused(parseSafetensors, {good.begin(), good.end() - 4}, "'w' of 4xf32 has the range 0 to 16 of 12 bytes");
  std::vector<char> huge = good;
  std::memset(huge.data(), 0x7f, 8);
  expectRefused(parseSafetensors, huge, "ends past the file");
  std::vector<char> damaged = good;
  damaged[8] = '[';
  expectRefused(parseSafetensors, damaged, "no JSON object");
}

// Two names for the same bytes: many of them would take any amount of memory. Bytes of no tensor: anything may be
// there.
TEST(Safetensors, EachByteBelongsToOneTensor) {
  auto file = [](std::string header, const std::string &bytes) {
    header.resize((header.size() + 7) / 8 * 8, ' ');
    uint64_t size = header.size();
    std::string text = std::string(reinterpret_cast<const char *>(&size), 8) + header + bytes;
    return std::vector<char>(text.begin(), text.end());
  };
  auto two = [&](const std::string &first, const std::string &second, const char *other = "b") {
    return file(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[)" + first + R"(]},")" + other +
                    R"(":{"dtype":"U8","shape":[4],"data_offsets":[)" + second + "]}}",
                "12345678");
  };
  EXPECT_EQ(parseSafetensors(two("4,8", "0,4"), "f").size(), 2u);
  expectRefused(parseSafetensors, two("0,4", "0,4"), "two tensors share its bytes from 0 on");
  expectRefused(parseSafetensors, two("0,4", "2,6"), "two tensors share its bytes from 2 on");
  expectRefused(parseSafetensors, two("0,4", "4,8", "a"), "it has two tensors 'a'");
  const std::string one = R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[)";
  expectRefused(parseSafetensors, file(one + "2,6]}}", "123456"), "its bytes 0 to 2 belong to no tensor");
  expectRefused(parseSafetensors, file(one + "0,4]}}", "123456"), "its last 2 bytes belong to no tensor");
}

TEST(Safetensors, NamesAreUtf8) {
  Array array = iota("w\xff\xe2\x82", DType::f32, {2});
  EXPECT_EQ(parseSafetensors(formatSafetensors({&array, 1}), "f")[0].name, "w\ufffd\ufffd");
  EXPECT_EQ(parseNpz(formatNpz({&array, 1}), "f")[0].name, "w\ufffd\ufffd");
  Array both[] = {iota("w\xff", DType::f32, {2}), iota("w\xfe", DType::f32, {2})};
  EXPECT_THROW(formatSafetensors(both), Error) << "the two would be one";
  EXPECT_THROW(formatNpz(both), Error) << "the two would be one";
}

// Readers end a name there, so two that differ behind it would be one.
TEST(Safetensors, RefusesNamesWithNul) {
  Array array = iota(std::string("w\0a", 3), DType::f32, {2});
  for (auto format : {formatSafetensors, formatNpz}) try {
      format({&array, 1});
      ADD_FAILURE() << "it is written";
    } catch (const Error &error) {
      EXPECT_NE(std::string(error.what()).find("the name of an array has a NUL after 'w'"), std::string::npos);
    }
  array.name = "w\xffu0000a";
  std::vector<char> bytes = formatSafetensors({&array, 1});
  std::string text(bytes.begin(), bytes.end());
  text.replace(text.find("\xef\xbf\xbdu"), 3, "\\");
  text.insert(text.find('}') + 2, "  "); // as long as before
  expectRefused(parseSafetensors, {text.begin(), text.end()}, "f: the name of an array has a NUL after 'w'");
}

TEST(TensorProto, RefusesWhatIsNotSound) {
  std::vector<char> text = {'h', 'e', 'l', 'l', 'o'};
  expectRefused(parseTensorProto, text, "not an array");
  Array array = iota("w", DType::f32, {4});
  array.bytes.resize(12);
  expectRefused(parseTensorProto, formatTensorProto(array), "takes 16 bytes, has 12");
}

TEST(TensorProto, ElementsBeyondTheirTypeAreRefused) {
  // dims: [2], data_type, int32_data: 1 and 300
  auto tensor = [](char type) { return std::vector<char>{0x08, 2, 0x10, type, 0x28, 1, 0x28, char(0xac), 2}; };
  expectRefused(parseTensorProto, tensor(3), "tensor '' of 2xi8: element 1 is beyond its type");
  expectRefused(parseTensorProto, tensor(2), "2xu8: element 1 is beyond its type");
  expectRefused(parseTensorProto, tensor(9), "2xi1: element 1 is beyond its type");
  EXPECT_EQ(parseTensorProto(tensor(5), "t").integerAt(1), 300);
}

TEST(TensorProto, TheSizeOfHugeNarrowTensorsIsCounted) {
  auto tensor = [](char type) { // 2^63 - 1 elements
    std::vector<char> bytes(12, '\xff');
    bytes[0] = 0x08, bytes[9] = 0x7f, bytes[10] = 0x10, bytes[11] = type;
    return bytes;
  };
  expectRefused(parseTensorProto, tensor(21), "takes 4611686018427387904 bytes, has 0"); // UINT4
  expectRefused(parseTensorProto, tensor(19), "takes 9223372036854775807 bytes, has 0"); // FLOAT8E5M2
}

TEST(Arrays, BooleansAreZeroOrOne) {
  Array array{"mask", DType::i1, {4}, {0, 1, 2, char(0xff)}};
  const std::vector<char> wanted = {0, 1, 1, 1};
  EXPECT_EQ(parseNpy(formatNpy(array), "t").bytes, wanted);
  EXPECT_EQ(parseNpz(formatNpz({&array, 1}), "t")[0].bytes, wanted);
  EXPECT_EQ(parseSafetensors(formatSafetensors({&array, 1}), "t")[0].bytes, wanted);
  EXPECT_EQ(parseTensorProto(formatTensorProto(array), "t").bytes, wanted);
}

TEST(Npz, RefusesWhatIsNotSound) {
  Array array = iota("w", DType::f32, {4});
  std::vector<char> good = formatNpz({&array, 1});
  expectRefused(parseNpz, {good.begin(), good.begin() + 30}, ".npz");
  EXPECT_EQ(good, formatNpz({&array, 1})) << "the same arrays give the same bytes";
  // A member that says it is larger than the array in it.
  std::vector<char> directory = good;
  std::string_view text(directory.data(), directory.size());
  for (auto [signature, at] : {std::pair("PK\x01\x02", 24), {"PK\x03\x04", 22}}) {
    size_t record = text.find(signature);
    ASSERT_NE(record, std::string_view::npos);
    directory[record + size_t(at) + 3] = 1;
  }
  expectRefused(parseNpz, directory, "f");
}

TEST_F(ArrayFiles, AFileAppearsWholeOrNotAtAll) {
  fs::path file = folder / "x.npy";
  std::ofstream(file) << "old";
  EXPECT_THROW(writeFile(folder / "no/such/folder", std::string("new")), Error);
  writeFile(file, std::string("new"));
  auto bytes = readFile(file);
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()), "new");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1) << "nothing is left aside";
  writeFile("/dev/null", std::string("gone"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_THROW(writeFile("/dev/full", std::string("x")), Error);
  EXPECT_THROW(readFile(folder), Error);
  EXPECT_THROW(readFile(folder / "absent"), Error);
}

TEST_F(ArrayFiles, NothingIsWaitedForThatIsNoFile) {
  fs::path pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  auto errorOf = [&](Pipes pipes) -> std::string {
    try {
      readFile(pipe, pipes);
      return "";
    } catch (const Error &error) {
      return error.what();
    }
  };
  EXPECT_EQ(errorOf(Pipes::refused), pipe.string() + ": is a pipe, expected a file");
  EXPECT_EQ(errorOf(Pipes::read), pipe.string() + ": is a pipe that nobody writes to, expected a file");
  std::thread writer([&] {
    std::ofstream out(pipe);
    std::this_thread::sleep_for(std::chrono::milliseconds(30)); // opened, and nothing written yet
    out << "late";
  });
  std::vector<char> bytes = readFile(pipe);
  writer.join();
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()), "late");
  std::ofstream(folder / "file") << "0123456789";
  bytes = readPart(folder / "file", 3, 4);
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()), "3456");
  EXPECT_THROW(readPart(folder / "file", 8, 3), Error);
  EXPECT_THROW(readPart(pipe, 0, 1), Error);
}

TEST_F(ArrayFiles, LinksStayAndModesToo) {
  fs::path file = folder / "there", link = folder / "link";
  std::ofstream(file) << "old";
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("there", link);
  writeFile(link, std::string("new"));
  EXPECT_TRUE(fs::is_symlink(link));
  auto bytes = readFile(file);
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()), "new");
  EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink(folder / "later", folder / "dangling");
  writeFile(folder / "dangling", std::string("made"));
  EXPECT_TRUE(fs::is_regular_file(folder / "later"));
  fs::create_symlink("circle", folder / "circle");
  EXPECT_THROW(writeFile(folder / "circle", std::string("x")), Error);
  EXPECT_TRUE(fs::is_symlink(folder / "circle"));
  fs::create_symlink("/dev/null", folder / "null");
  writeFile(folder / "null", std::string("gone"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(FileNames, AreEncoded) {
  EXPECT_EQ(encodeFileName("logits"), "logits");
  EXPECT_EQ(encodeFileName("a/b:0"), "a%2Fb%3A0");
  EXPECT_EQ(encodeFileName("../x"), "%2E.%2Fx");
  EXPECT_EQ(encodeFileName(""), "%");
}
