// What a store and its clients send each other: frames of a length, a kind and fields, which are checked before use.
#ifndef SPRIG_RUNTIME_COMM_STORE_FRAME_H
#define SPRIG_RUNTIME_COMM_STORE_FRAME_H

#include <cstdint>
#include <string>
#include <string_view>

namespace sprig::rt::comm {

// Of the first frame, which every version reads; then others may differ.
constexpr uint32_t kStoreMagic = 0x47525053, kStoreProtocol = 1;

struct Frame {
  enum class Kind : uint8_t {
    // A client's.
    hello = 1, // magic, protocol, version, secret, rank, ranks
    set,       // key, value
    get,       // key: a value follows when there is one
    fail,      // code, text
    timedOut,  // peer, nanoseconds: the store asks where all are, and fails the group
    leave,     // collectives
    place,     // text: where the rank is
    // Both sides'.
    heartbeat,
    // A store's.
    welcome, // nanoseconds without a sign of life after which a rank, or the store, has failed
    refused, // text
    value,   // key, value
    where,
    failed, // code, the rank whose fault it is plus 1, text
    left,   // rank, collectives
  };
  static constexpr size_t kHeader = 5, kMostBytes = 1 << 20, kMostText = 1 << 14;

  Kind kind = Kind::heartbeat;
  std::string body;

  Frame() = default;
  explicit Frame(Kind kind) : kind(kind) {}
  Frame &number(uint64_t value);
  Frame &text(std::string_view value); // as far as kMostBytes holds
  // With its header; to be sent.
  std::string bytes() const;
  // The next frame of what has come, which loses it. False where it is not whole yet; `isBad` where it never will be.
  static bool takeFrom(std::string &bytes, Frame &frame, bool &isBad);
};

// The fields of a frame in their order; `isGood` says at the end whether they were there, and nothing else was.
class FrameFields {
public:
  explicit FrameFields(const Frame &frame) : rest(frame.body) {}
  uint64_t number();
  std::string text();
  bool isGood() const { return good && rest.empty(); }
  // So far.
  bool isWhole() const { return good; }

private:
  std::string_view rest;
  bool good = true;
};

} // namespace sprig::rt::comm

#endif
