// PNG and JPEG files as bytes of their channels.
// For data sets. The content decides the format. Throws sprig::Error (badInput) that names the file.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace sprig::data {

struct Image {
  int64_t channels = 0, height = 0, width = 0;
  std::vector<uint8_t> planes; ///< channels x height x width
};

/// As 1 (grey, ITU-R 601), 3 (colours) or 4 channels (with opacity), whatever the file has; opacity is dropped, not
/// blended. What is damaged or cut off is an error, not a partial image.
Image parseImage(std::span<const char> bytes, const std::string &file, int channels);
Image readImageFile(const std::filesystem::path &path, int channels);

// Decoders: rows of interleaved pixels, `channels` of them as the file has: 1, 3 or 4.
struct Pixels {
  int64_t channels = 0, height = 0, width = 0;
  std::vector<uint8_t> interleaved;
};
Pixels parsePng(std::span<const char> bytes, const std::string &file);
Pixels parseJpeg(std::span<const char> bytes, const std::string &file);
/// Pixels that an image may have.
inline constexpr int64_t kMostPixels = int64_t(1) << 28;
/// Bytes of pixels that a byte of a file can stand for at most, with some room: deflate makes 1032 bytes of one, and a
/// JPEG has a bit for each block of 64 pixels. A file that claims more is cut off, and no memory is made for it.
inline constexpr int64_t kMostExpansion = 2048;

} // namespace sprig::data
