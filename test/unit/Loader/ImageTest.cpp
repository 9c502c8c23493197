// Images that the test writes itself, through the libraries that read them and byte by byte where they are damaged.
#include "lib/Data/File.h"
#include "test/unit/Loader/Support.h"
#include <algorithm>
#include <cstdio>
#include <jpeglib.h>
#include <png.h>
#include <unistd.h>

using namespace sprig;
using namespace sprig::data;
namespace fs = std::filesystem;

namespace {

class Images : public ::testing::Test {
protected:
  Images() { fs::create_directories(folder); }
  ~Images() override { fs::remove_all(folder); }
  fs::path folder = fs::temp_directory_path() / ("sprig-images-" + std::to_string(::getpid()));

  void writePng(const fs::path &path, png_uint_32 format, int height, int width, const std::vector<uint8_t> &pixels) {
    fs::create_directories(path.parent_path());
    png_image image = {};
    image.version = PNG_IMAGE_VERSION;
    image.format = format;
    image.height = png_uint_32(height);
    image.width = png_uint_32(width);
    ASSERT_TRUE(png_image_write_to_file(&image, path.c_str(), 0, pixels.data(), 0, nullptr)) << image.message;
  }

  void writeJpeg(const fs::path &path, int channels, int height, int width, const std::vector<uint8_t> &pixels) {
    fs::create_directories(path.parent_path());
    std::FILE *file = std::fopen(path.c_str(), "wb");
    ASSERT_TRUE(file);
    jpeg_compress_struct jpeg;
    jpeg_error_mgr errors;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, file);
    jpeg.image_height = JDIMENSION(height);
    jpeg.image_width = JDIMENSION(width);
    jpeg.input_components = channels;
    jpeg.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 95, TRUE);
    jpeg_start_compress(&jpeg, TRUE);
    for (int y = 0; y < height; ++y) {
      auto *row = const_cast<JSAMPROW>(pixels.data() + y * width * channels);
      jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    std::fclose(file);
  }

  void damage(const fs::path &from, const fs::path &to, double keep, size_t flip = 0) {
    std::vector<char> bytes = readFile(from);
    bytes.resize(size_t(double(bytes.size()) * keep));
    if (flip) bytes[flip] = char(~bytes[flip]);
    writeFile(to, bytes);
  }
};

TEST_F(Images, PngOfEveryKind) {
  fs::path path = folder / "a.png";
  writePng(path, PNG_FORMAT_RGB, 1, 2, {10, 20, 30, 40, 50, 60});
  ImageOptions raw{.dtype = sprig::DType::u8};
  EXPECT_EQ(numbersOf<uint8_t>(readImage(path, raw)), (std::vector<uint8_t>{10, 40, 20, 50, 30, 60}));
  EXPECT_EQ(sprig::describe(readImage(path).type()), "3x1x2xf32");
  EXPECT_EQ(readImage(path).item<float>(1), 40 / 255.f);
  raw.channels = 1; // 0.299 R + 0.587 G + 0.114 B
  EXPECT_EQ(numbersOf<uint8_t>(readImage(path, raw)), (std::vector<uint8_t>{18, 48}));
  raw.channels = 4;
  EXPECT_EQ(numbersOf<uint8_t>(readImage(path, raw)), (std::vector<uint8_t>{10, 40, 20, 50, 30, 60, 255, 255}));
  writePng(path, PNG_FORMAT_RGBA, 1, 1, {200, 100, 50, 7});
  EXPECT_EQ(numbersOf<uint8_t>(readImage(path, raw)), (std::vector<uint8_t>{200, 100, 50, 7}));
  raw.channels = 3;
  EXPECT_EQ(numbersOf<uint8_t>(readImage(path, raw)), (std::vector<uint8_t>{200, 100, 50}));
  writePng(path, PNG_FORMAT_GRAY, 2, 1, {9, 250});
  EXPECT_EQ(numbersOf<uint8_t>(readImage(path, raw)), (std::vector<uint8_t>{9, 250, 9, 250, 9, 250}));
}

TEST_F(Images, JpegIsNearToWhatWasWritten) {
  std::vector<uint8_t> pixels(24 * 16 * 3);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = uint8_t(i / 3 % 24 * 8 + i % 3 * 20);
  writeJpeg(folder / "a.jpg", 3, 16, 24, pixels);
  Field image = readImage(folder / "a.jpg", {.dtype = sprig::DType::u8});
  EXPECT_EQ(sprig::describe(image.type()), "3x16x24xu8");
  for (int64_t c = 0; c < 3; ++c)
    for (int64_t i = 0; i < 16 * 24; ++i)
      EXPECT_NEAR(image.item<uint8_t>(c * 16 * 24 + i), pixels[size_t(i * 3 + c)], 12);
  writeJpeg(folder / "g.jpeg", 1, 16, 24, std::vector<uint8_t>(16 * 24, 77));
  EXPECT_NEAR(readImage(folder / "g.jpeg", {.dtype = sprig::DType::u8}).item<uint8_t>(400), 77, 1);
}

TEST_F(Images, AFolderOfClasses) {
  for (int i = 0; i < 3; ++i)
    writePng(folder / "set/b" / (std::to_string(i) + ".png"), PNG_FORMAT_GRAY, 4, 4, std::vector<uint8_t>(16, 10));
  writePng(folder / "set/a/deep/x.PNG", PNG_FORMAT_GRAY, 8, 8, std::vector<uint8_t>(64, 20));
  writeJpeg(folder / "set/c/y.jpg", 1, 8, 8, std::vector<uint8_t>(64, 30));
  writeFile(folder / "set/c/readme.txt", std::vector<char>{'x'});
  EXPECT_EQ(imageClasses(folder / "set"), (std::vector<std::string>{"a", "b", "c"}));
  Dataset set = imageFolder(folder / "set", {.channels = 1, .height = 6, .width = 5});
  ASSERT_EQ(set.size(), 5);
  std::vector<int64_t> labels;
  for (const Batch &batch : Loader(set, {.batch = 5, .workers = 2})) {
    EXPECT_EQ(batch.host(0).shape(), (Shape{5, 1, 6, 5}));
    labels = numbersOf<int64_t>(batch.host(1));
    EXPECT_FLOAT_EQ(batch.host(0).item<float>(0), 20 / 255.f);
  }
  EXPECT_EQ(labels, (std::vector<int64_t>{0, 1, 1, 1, 2}));
  // Images of different sizes make no batch as they are.
  Dataset ragged = imageFolder(folder / "set", {.channels = 1});
  expectHas(refusal(
                [&] {
                  for (const Batch &batch : Loader(ragged, {.batch = 5, .workers = 1})) (void)batch;
                },
                ErrorKind::badInput),
            "sample 1 (batch 0 of epoch 0): field 0 is 1x4x4xf32, that of sample 0 of the same batch is 1x8x8xf32");
  // A damaged one says which file, and which sample.
  damage(folder / "set/b/1.png", folder / "set/b/1.png", 0.7);
  std::string text = refusal(
      [&] {
        for (const Batch &batch : Loader(set, {.batch = 2, .workers = 2})) (void)batch;
      },
      ErrorKind::badInput);
  expectHas(text, "sample 2 (batch 1 of epoch 0): " + (folder / "set/b/1.png").string() + ": not a sound PNG file");
  fs::create_directories(folder / "set/empty");
  expectHas(refusal([&] { imageFolder(folder / "set"); }, ErrorKind::badInput), "holds no .png, .jpg or .jpeg file");
  expectHas(refusal([&] { imageFolder(folder / "set/a/deep"); }, ErrorKind::badInput), "has no subfolder");
  expectHas(refusal([&] { imageFolder(folder / "none"); }, ErrorKind::badInput), "none");
}

TEST_F(Images, DamagedFilesAreErrorsAtAnyPlace) {
  std::vector<uint8_t> pixels(40 * 40 * 3);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = uint8_t(i * 2654435761u >> 24);
  writePng(folder / "a.png", PNG_FORMAT_RGB, 40, 40, pixels);
  writeJpeg(folder / "a.jpg", 3, 40, 40, pixels);
  for (const char *name : {"a.png", "a.jpg"}) {
    size_t size = fs::file_size(folder / name);
    for (double keep : {0.01, 0.1, 0.5, 0.9, 0.99}) {
      damage(folder / name, folder / "cut", keep);
      expectHas(refusal([&] { readImage(folder / "cut"); }, ErrorKind::badInput), (folder / "cut").string() + ": ");
    }
    // A changed byte may make another picture, but nothing worse.
    for (size_t at = 8; at < size; at += size / 100 + 1) {
      damage(folder / name, folder / "changed", 1, at);
      try {
        readImage(folder / "changed");
      } catch (const Error &error) {
        EXPECT_EQ(error.kind(), ErrorKind::badInput);
      }
    }
  }
  writeFile(folder / "text.png", std::vector<char>{'n', 'o'});
  expectHas(refusal([&] { readImage(folder / "text.png"); }, ErrorKind::badInput), "is neither a PNG nor a JPEG file");
  expectHas(refusal([&] { readImage(folder / "a.png", {.channels = 2}); }), "images of 2 channels");
  expectHas(refusal([&] { readImage(folder / "a.png", {.dtype = sprig::DType::i64}); }), "images of i64");
}

} // namespace
