#include "runtime/device/DeviceNames.h"

#include <algorithm>
#include <charconv>

namespace sprig::rt::core {

namespace {

constexpr uint32_t kMostDevices = 1024;
constexpr uint32_t kMostThreads = 1024; // a pool's limit
constexpr std::string_view kKinds[] = {"cpu", "cuda", "null"};

Status badDevices(std::string_view text, std::string why) {
  return {SPRIG_RT_INVALID_ARGUMENT, concat("devices '", text, "': ", why)};
}

// The whole of `digits` as a number from `least` to `most`.
bool parseNumber(std::string_view digits, uint32_t least, uint32_t most, uint32_t &number) {
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size() && !digits.empty() && number >= least &&
         number <= most;
}

bool startsWithDigit(std::string_view word) { return !word.empty() && word[0] >= '0' && word[0] <= '9'; }

class Parser {
public:
  Parser(std::string_view text, GivenDevices &devices) : text(text), devices(devices) {}

  Status parse() {
    std::string_view rest = text;
    for (;;) {
      size_t comma = rest.find(',');
      SPRIG_RETURN_IF_ERROR(word(rest.substr(0, comma)));
      if (comma == std::string_view::npos) return {};
      rest.remove_prefix(comma + 1);
    }
  }

private:
  Status word(std::string_view part) {
    // "1" of "cuda:0,1".
    if (startsWithDigit(part) && named) return ordinal(part);
    size_t mark = part.find_first_of(":*");
    kind = part.substr(0, mark);
    named = false;
    if (std::find(std::begin(kKinds), std::end(kKinds), kind) == std::end(kKinds))
      return badDevices(text, concat("expected a kind of device (cpu, cuda, null), found '", kind, "'"));
    if (mark == std::string_view::npos) return add(0, true);
    std::string_view number = part.substr(mark + 1);
    if (part[mark] == '*') return count(number);
    named = true;
    // What is neither 0 nor in a list was always a number of threads.
    if (kind == "cpu" && part == text && number != "0") return threads(number);
    return ordinal(number);
  }

  Status threads(std::string_view number) {
    if (!parseNumber(number, 1, kMostThreads, devices.threads))
      return badDevices(text,
                        concat("expected cpu:N with N threads, from 1 to ", kMostThreads, ", found '", number, "'"));
    return add(0, true);
  }

  Status ordinal(std::string_view number) {
    uint32_t value = 0;
    if (!parseNumber(number, 0, kMostDevices - 1, value))
      return badDevices(
          text, concat("expected ", kind, ":N with a number from 0 to ", kMostDevices - 1, ", found '", number, "'"));
    return add(value, false);
  }

  Status count(std::string_view number) {
    uint32_t value = 0;
    if (!parseNumber(number, 1, kMostDevices, value))
      return badDevices(
          text, concat("expected ", kind, "*N with a count from 1 to ", kMostDevices, ", found '", number, "'"));
    for (uint32_t i = 0; i < value; ++i) SPRIG_RETURN_IF_ERROR(add(i, false));
    return {};
  }

  Status add(uint32_t number, bool alone) {
    for (const GivenDevice &other : devices.list)
      if (other.kind == kind && other.ordinal == number)
        return badDevices(text, concat(kind, ":", number, " is given twice"));
    if (devices.list.size() == kMostDevices) return badDevices(text, concat("more than ", kMostDevices, " devices"));
    devices.list.push_back({std::string(kind), number, alone});
    return {};
  }

  std::string_view text;
  GivenDevices &devices;
  std::string_view kind;
  bool named = false; // numbers may follow
};

} // namespace

Status parseDevices(std::string_view text, GivenDevices &devices) { return Parser(text, devices).parse(); }

} // namespace sprig::rt::core
