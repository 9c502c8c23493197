// Fields that are images, in other sizes.
#include "lib/Data/Resize.h"
#include "sprig/data/files.h"
#include <algorithm>
#include <cmath>

namespace sprig::data {

Field resize(const Field &image, int64_t height, int64_t width) {
  bool bytes = image.dtype() == sprig::DType::u8;
  if (!image.defined() || image.shape().rank() != 3 || image.numel() == 0 ||
      !(bytes || image.dtype() == sprig::DType::f32))
    badUse("data: resize takes channels x height x width of f32 or u8, the array is " +
           (image.defined() ? sprig::describe(image.type()) : "not set"));
  if (height < 1 || width < 1 || height > INT32_MAX || width > INT32_MAX)
    badUse("data: resize to " + std::to_string(height) + " x " + std::to_string(width) + ", expected at least 1");
  int64_t channels = image.shape()[0];
  if (image.shape()[1] == height && image.shape()[2] == width) return image;
  Resizer resizer(image.shape()[1], image.shape()[2], height, width);
  Field reals = bytes ? image.to(sprig::DType::f32, false, Source()) : image;
  Field out({sprig::DType::f32, {channels, height, width}}, Source());
  resizer.run(reals.numbers<float>(Source()).data(), channels, out.edit<float>(Source()).data());
  if (!bytes) return out;
  Field rounded({sprig::DType::u8, out.shape()}, Source());
  auto from = out.numbers<float>(Source());
  auto to = rounded.edit<uint8_t>(Source());
  for (size_t i = 0; i < to.size(); ++i) to[i] = uint8_t(std::clamp(std::nearbyint(from[i]), 0.f, 255.f));
  return rounded;
}

} // namespace sprig::data
