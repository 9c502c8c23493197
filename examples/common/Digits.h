// What both examples do with the digits: draw an image, name the best class, count what is right.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>

namespace example {

constexpr int64_t kSide = 8, kPixels = kSide * kSide, kClasses = 10;

inline int64_t best(std::span<const float> probabilities) {
  return std::max_element(probabilities.begin(), probabilities.end()) - probabilities.begin();
}

// The image as text, two characters a pixel, with what the network says of it beside its rows.
inline void show(std::span<const float> image, std::span<const float> probabilities, int64_t label) {
  static const char *shades[] = {"  ", "░░", "▒▒", "▓▓", "██"};
  int64_t guess = best(probabilities);
  for (int64_t row = 0; row < kSide; ++row) {
    std::string line = "    ";
    for (int64_t column = 0; column < kSide; ++column)
      line += shades[std::clamp(int(image[row * kSide + column] * 5), 0, 4)];
    if (row == 2) line += "    predicted " + std::to_string(guess);
    if (row == 3) line += "    written   " + std::to_string(label) + (guess == label ? "" : "   <- wrong");
    std::printf("%s", line.c_str());
    if (row == 4) std::printf("    sure to   %.1f%%", 100.0 * double(probabilities[guess]));
    std::printf("\n");
  }
}

} // namespace example
