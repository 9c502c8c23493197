#include "lib/Frontend/Generic/Chunks.h"
#include "lib/Frontend/Generic/KernelList.h"
#include "lib/Frontend/Generic/Strides.h"
#include <cstring>

namespace sprig::frontend::generic {

namespace {
constexpr int64_t kChunk = 1024; // elements of an operand that are written out at a time
constexpr int64_t kRepeat = 256; // the longest row that is written out several times over
constexpr size_t kOperands = 3;

/// How an operand meets the elements of the result.
struct View {
  enum Kind { full, scalar, repeated, row, strided } kind;
  const char *data;
  int64_t bytes;      // of an element
  int64_t period = 1; // of a row that repeats
  Strided strides;    // strided
  char *scratch = nullptr;

  void write(int64_t start, int64_t count);
  /// The elements from `start` on, and how many of at most `count` lie there.
  const char *at(int64_t start, int64_t &count);
};

View viewOf(const ArrayRef &operand, const Shape &result, int64_t elements) {
  View view{View::full, static_cast<const char *>(operand.data), size(operand.type->dtype), 1, {}};
  int64_t own = operand.type->elements();
  if (own == elements) return view;
  view.kind = View::scalar;
  if (own == 1) return view;
  view.strides = broadcastStrides(operand.type->shape, result);
  const Strided &s = view.strides;
  view.kind = View::strided;
  if (s.rank == 2 && s.strides[0] == 0 && s.strides[1] == 1) {
    view.period = s.sizes[1];
    view.kind = view.period < kRepeat ? View::repeated : View::row;
  }
  return view;
}

void View::write(int64_t start, int64_t count) {
  if (kind == scalar) return fill(scratch, data, bytes, count);
  if (kind == strided) return copyStrided(scratch, data, bytes, strides, start, count);
  for (int64_t done = 0; done < count; done += period) std::memcpy(scratch + done * bytes, data, period * bytes);
}

const char *View::at(int64_t start, int64_t &count) {
  switch (kind) {
  case full: return data + start * bytes;
  case scalar: return scratch;
  case repeated: return scratch + start % period * bytes;
  case row: count = std::min(count, period - start % period); return data + start % period * bytes;
  case strided: write(start, count); return scratch;
  }
  return nullptr;
}

/// Runs a body over whole tiles; the rest, where its tile is not all the arrays' own, on a copy.
struct Spans {
  const Body &body;
  size_t operandCount;
  const int64_t *operandBytes;
  int64_t resultBytes;

  void run(const void *const *in, char *out, int64_t count, bool roomy) const {
    if (!body.tiles || (roomy && !body.checked)) return body.run(body.context, in, out, count);
    int64_t whole = count / kTile * kTile, rest = count - whole;
    if (whole) body.run(body.context, in, out, whole);
    if (!rest) return;
    alignas(64) char copies[kOperands + 1][kTile * 8];
    const void *from[kOperands];
    for (size_t i = 0; i < operandCount; ++i) {
      const char *source = static_cast<const char *>(in[i]) + whole * operandBytes[i];
      // The first element again and again after the others: it is valid or has been refused itself.
      fill(copies[i], source, operandBytes[i], kTile);
      std::memcpy(copies[i], source, rest * operandBytes[i]);
      from[i] = copies[i];
    }
    body.run(body.context, from, copies[kOperands], rest);
    std::memcpy(out + whole * resultBytes, copies[kOperands], rest * resultBytes);
  }
};

/// Whether the tiles from `start` on stay within `room` bytes of an array.
bool hasRoom(int64_t start, int64_t count, int64_t bytes, int64_t room) {
  return (start + (count + kTile - 1) / kTile * kTile) * bytes <= room;
}

/// What may be read of an operand: memory that a program gave may end with the elements, but not within a line.
int64_t lineBytes(int64_t bytes) { return (bytes + 63) / 64 * 64; }
} // namespace

void runElementwise(const Call &call, const Body &body) {
  int64_t elements = call.resultType().elements(), resultBytes = size(call.resultType().dtype);
  if (elements == 0) return;
  int64_t resultRoom = blockBytes(elements * resultBytes);
  size_t count = call.operands.size();
  const void *in[kOperands];
  int64_t bytes[kOperands];
  bool whole = true, roomy = hasRoom(0, elements, resultBytes, resultRoom);
  for (size_t i = 0; i < count; ++i) {
    in[i] = call.operands[i].data;
    bytes[i] = size(call.type(i).dtype);
    whole &= call.type(i).elements() == elements;
    roomy &= hasRoom(0, elements, bytes[i], lineBytes(elements * bytes[i]));
  }
  Spans spans{body, count, bytes, resultBytes};
  if (whole) return spans.run(in, call.out(), elements, roomy);

  View views[kOperands];
  // Room for a chunk that starts within a repeated row, and for the last tile.
  alignas(64) char scratch[kOperands][(kChunk + 2 * kRepeat + kTile) * 8];
  int64_t most = elements;
  for (size_t i = 0; i < count; ++i) {
    views[i] = viewOf(call.operands[i], call.resultType().shape, elements);
    views[i].scratch = scratch[i];
    if (views[i].kind == View::full || views[i].kind == View::row) continue;
    most = std::min(most, kChunk);
    int64_t used = std::min((elements + kTile - 1) / kTile * kTile, kChunk);
    if (views[i].kind == View::scalar) views[i].write(0, used);
    if (views[i].kind == View::repeated) views[i].write(0, used + views[i].period);
  }
  for (int64_t start = 0; start < elements;) {
    int64_t length = std::min(most, elements - start);
    for (size_t i = 0; i < count; ++i)
      if (views[i].kind == View::row) views[i].at(start, length);
    bool room = hasRoom(start, length, resultBytes, resultRoom);
    for (size_t i = 0; i < count; ++i) {
      in[i] = views[i].at(start, length);
      if (views[i].kind == View::full) room &= hasRoom(start, length, bytes[i], lineBytes(elements * bytes[i]));
      if (views[i].kind == View::row)
        room &= hasRoom(start % views[i].period, length, bytes[i], lineBytes(views[i].period * bytes[i]));
    }
    spans.run(in, call.out() + start * resultBytes, length, room);
    start += length;
  }
}

} // namespace sprig::frontend::generic
