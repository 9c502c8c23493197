#include "runtime/comm/store/Secret.h"
#include "runtime/base/Uninterrupted.h"

#include <sys/random.h>

namespace sprig::rt::comm {

std::string randomSecret() {
  unsigned char bytes[16];
  if (core::uninterrupted([&] { return ::getrandom(bytes, sizeof bytes, 0); }) != sizeof bytes) return "";
  std::string text;
  for (unsigned char byte : bytes)
    for (int digit : {byte >> 4, byte & 15}) text += "0123456789abcdef"[digit];
  return text;
}

bool isSecret(std::string_view given, std::string_view own) {
  unsigned difference = given.size() != own.size();
  for (size_t i = 0; i < given.size(); ++i) difference |= unsigned(given[i] ^ (own.empty() ? 0 : own[i % own.size()]));
  return !difference;
}

} // namespace sprig::rt::comm
