// JPEG through libjpeg, which leaves by longjmp: no object with a destructor lives between setjmp and what may fail.
#include "include/sprig/error.h"
#include "lib/Data/Image.h"
#include <csetjmp>
#include <cstdio>
// These need <cstdio>.
#include <jerror.h>
#include <jpeglib.h>

namespace sprig::data {
namespace {

struct JpegReader {
  jpeg_decompress_struct jpeg = {};
  jpeg_error_mgr errors = {};
  std::jmp_buf back = {};
  char text[JMSG_LENGTH_MAX] = {};
  ~JpegReader() { jpeg_destroy_decompress(&jpeg); }
};

void onJpegError(j_common_ptr common) {
  auto *reader = static_cast<JpegReader *>(common->client_data);
  common->err->format_message(common, reader->text);
  std::longjmp(reader->back, 1);
}

// libjpeg goes on with grey where data are damaged or end early; a data set had rather know.
void onMessage(j_common_ptr common, int level) {
  if (level >= 0) return;
  switch (common->err->msg_code) {
  case JWRN_HIT_MARKER:
  case JWRN_HUFF_BAD_CODE:
  case JWRN_JPEG_EOF:
  case JWRN_MUST_RESYNC:
  case JWRN_NOT_SEQUENTIAL: onJpegError(common);
  }
}

bool readJpegHeader(JpegReader &reader, std::span<const char> bytes, Pixels &pixels) {
  if (setjmp(reader.back)) return false;
  jpeg_decompress_struct &jpeg = reader.jpeg;
  jpeg_create_decompress(&jpeg);
  jpeg.client_data = &reader;
  jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char *>(bytes.data()), static_cast<unsigned long>(bytes.size()));
  jpeg_read_header(&jpeg, TRUE);
  pixels.height = jpeg.image_height;
  pixels.width = jpeg.image_width;
  if (pixels.height * pixels.width > kMostPixels) {
    std::snprintf(reader.text, sizeof reader.text, "it has too many pixels");
    return false;
  }
  jpeg.out_color_space = jpeg.jpeg_color_space == JCS_GRAYSCALE ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_start_decompress(&jpeg);
  pixels.channels = jpeg.output_components;
  return true;
}

bool readJpegRows(JpegReader &reader, Pixels &pixels) {
  if (setjmp(reader.back)) return false;
  while (reader.jpeg.output_scanline < reader.jpeg.output_height) {
    JSAMPROW row = pixels.interleaved.data() + int64_t(reader.jpeg.output_scanline) * pixels.width * pixels.channels;
    jpeg_read_scanlines(&reader.jpeg, &row, 1);
  }
  jpeg_finish_decompress(&reader.jpeg);
  return true;
}

} // namespace

Pixels parseJpeg(std::span<const char> bytes, const std::string &file) {
  JpegReader reader;
  reader.jpeg.err = jpeg_std_error(&reader.errors);
  reader.jpeg.client_data = &reader;
  reader.errors.error_exit = onJpegError;
  reader.errors.emit_message = onMessage;
  auto fail = [&](const std::string &what) { badInput(file + ": not a sound JPEG file: " + what); };
  Pixels pixels;
  if (!readJpegHeader(reader, bytes, pixels)) fail(reader.text);
  if (pixels.height * pixels.width * pixels.channels > kMostExpansion * int64_t(bytes.size()))
    fail("the file ends early");
  pixels.interleaved.resize(size_t(pixels.height * pixels.width * pixels.channels));
  if (!readJpegRows(reader, pixels)) fail(reader.text);
  return pixels;
}

} // namespace sprig::data
