#include "runtime/comm/store/Frame.h"

#include <algorithm>

namespace sprig::rt::comm {
namespace {

void putNumber(std::string &bytes, uint64_t value, int count) {
  for (int i = 0; i < count; ++i) bytes += char(value >> (8 * i));
}

uint64_t numberOf(std::string_view bytes, int count) {
  uint64_t value = 0;
  for (int i = 0; i < count; ++i) value |= uint64_t(uint8_t(bytes[size_t(i)])) << (8 * i);
  return value;
}

} // namespace

Frame &Frame::number(uint64_t value) {
  putNumber(body, value, 8);
  return *this;
}

Frame &Frame::text(std::string_view value) {
  value = value.substr(0, std::min(value.size(), kMostBytes - std::min(kMostBytes, body.size() + 8)));
  number(value.size());
  body += value;
  return *this;
}

std::string Frame::bytes() const {
  std::string bytes;
  putNumber(bytes, body.size(), 4);
  bytes += char(kind);
  return bytes + body;
}

bool Frame::takeFrom(std::string &bytes, Frame &frame, bool &isBad) {
  if (bytes.size() < kHeader) return false;
  uint64_t size = numberOf(bytes, 4);
  uint8_t kind = uint8_t(bytes[4]);
  isBad = size > kMostBytes || kind < uint8_t(Kind::hello) || kind > uint8_t(Kind::left);
  if (isBad || bytes.size() < kHeader + size) return false;
  frame.kind = Kind(kind);
  frame.body = bytes.substr(kHeader, size);
  bytes.erase(0, kHeader + size);
  return true;
}

uint64_t FrameFields::number() {
  good = good && rest.size() >= 8;
  if (!good) return 0;
  uint64_t value = numberOf(rest, 8);
  rest.remove_prefix(8);
  return value;
}

std::string FrameFields::text() {
  uint64_t size = number();
  good = good && rest.size() >= size;
  if (!good) return "";
  std::string value(rest.substr(0, size));
  rest.remove_prefix(size);
  return value;
}

} // namespace sprig::rt::comm
