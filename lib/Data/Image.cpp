#include "lib/Data/Image.h"
#include "include/sprig/error.h"
#include "lib/Data/File.h"
#include <algorithm>
#include <string_view>

namespace sprig::data {
namespace {

uint8_t grey(const uint8_t *pixel) {
  return uint8_t((pixel[0] * 19595u + pixel[1] * 38470u + pixel[2] * 7471u + 0x8000u) >> 16);
}

} // namespace

Image parseImage(std::span<const char> bytes, const std::string &file, int channels) {
  std::string_view head(bytes.data(), std::min<size_t>(bytes.size(), 8));
  Pixels pixels;
  if (head == "\x89PNG\r\n\x1a\n")
    pixels = parsePng(bytes, file);
  else if (head.starts_with("\xff\xd8"))
    pixels = parseJpeg(bytes, file);
  else
    badInput(file + ": is neither a PNG nor a JPEG file");
  Image image{channels, pixels.height, pixels.width, {}};
  int64_t count = image.height * image.width, from = pixels.channels;
  image.planes.resize(size_t(count * channels));
  const uint8_t *pixel = pixels.interleaved.data();
  uint8_t *plane = image.planes.data();
  for (int64_t i = 0; i < count; ++i, pixel += from) {
    if (channels == 1) {
      plane[i] = from == 1 ? pixel[0] : grey(pixel);
      continue;
    }
    for (int64_t c = 0; c < 3; ++c) plane[c * count + i] = pixel[from == 1 ? 0 : c];
    if (channels == 4) plane[3 * count + i] = from == 4 ? pixel[3] : 255;
  }
  return image;
}

Image readImageFile(const std::filesystem::path &path, int channels) {
  return parseImage(readFile(path, Pipes::refused), path.string(), channels);
}

} // namespace sprig::data
