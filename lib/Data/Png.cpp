// PNG through libpng, which leaves by longjmp: no object with a destructor lives between setjmp and what may fail.
#include "include/sprig/error.h"
#include "lib/Data/Image.h"
#include <cstring>
#include <png.h>

namespace sprig::data {
namespace {

struct PngReader {
  std::span<const char> bytes;
  size_t at = 0;
  std::string error;
  png_structp png = nullptr;
  png_infop info = nullptr;
  ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }
};

void onPngError(png_structp png, png_const_charp text) {
  static_cast<PngReader *>(png_get_error_ptr(png))->error = text;
  png_longjmp(png, 1);
}
void onWarning(png_structp, png_const_charp) {}

void onRead(png_structp png, png_bytep to, size_t count) {
  auto *reader = static_cast<PngReader *>(png_get_io_ptr(png));
  if (count > reader->bytes.size() - reader->at) png_error(png, "the file ends early");
  std::memcpy(to, reader->bytes.data() + reader->at, count);
  reader->at += count;
}

// The header, and what libpng is to make of it: bytes of grey, colours, or colours with opacity.
bool readPngHeader(PngReader &reader, Pixels &pixels) {
  if (setjmp(png_jmpbuf(reader.png))) return false;
  png_structp png = reader.png;
  png_set_read_fn(png, &reader, onRead);
  png_set_user_limits(png, 1 << 20, 1 << 20);
  png_read_info(png, reader.info);
  pixels.height = png_get_image_height(png, reader.info);
  pixels.width = png_get_image_width(png, reader.info);
  if (pixels.height * pixels.width > kMostPixels) png_error(png, "it has too many pixels");
  png_set_expand(png);
  png_set_scale_16(png);
  png_set_interlace_handling(png);
  bool opacity =
      png_get_color_type(png, reader.info) & PNG_COLOR_MASK_ALPHA || png_get_valid(png, reader.info, PNG_INFO_tRNS);
  if (opacity) png_set_gray_to_rgb(png);
  png_read_update_info(png, reader.info);
  pixels.channels = png_get_channels(png, reader.info);
  if (int64_t(png_get_rowbytes(png, reader.info)) != pixels.width * pixels.channels)
    png_error(png, "its pixels are not bytes");
  return true;
}

bool readPngRows(PngReader &reader, png_bytepp rows) {
  if (setjmp(png_jmpbuf(reader.png))) return false;
  png_read_image(reader.png, rows);
  png_read_end(reader.png, nullptr);
  return true;
}

} // namespace

Pixels parsePng(std::span<const char> bytes, const std::string &file) {
  PngReader reader;
  reader.bytes = bytes;
  reader.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader, onPngError, onWarning);
  reader.info = reader.png ? png_create_info_struct(reader.png) : nullptr;
  if (!reader.info) runtimeError(file + ": no memory to read a PNG file");
  auto fail = [&] { badInput(file + ": not a sound PNG file: " + reader.error); };
  Pixels pixels;
  if (!readPngHeader(reader, pixels)) fail();
  if (pixels.height * pixels.width * pixels.channels > kMostExpansion * 8 * int64_t(bytes.size())) {
    reader.error = "the file ends early"; // 8: a pixel may have one bit in the file
    fail();
  }
  pixels.interleaved.resize(size_t(pixels.height * pixels.width * pixels.channels));
  std::vector<png_bytep> rows;
  for (int64_t y = 0; y < pixels.height; ++y)
    rows.push_back(pixels.interleaved.data() + y * pixels.width * pixels.channels);
  if (!readPngRows(reader, rows.data())) fail();
  return pixels;
}

} // namespace sprig::data
