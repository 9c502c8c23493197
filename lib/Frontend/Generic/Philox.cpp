// nn.philox: Philox4x32-10 (Salmon et al. 2011). Integers, so plain C++ has the bits of compiled code.
#include "lib/Frontend/Generic/Chunks.h"

namespace sprig::frontend::generic {

namespace {
struct Block {
  uint32_t words[4];
};

Block philox(uint32_t index, uint32_t stream, uint64_t counter, uint64_t key) {
  uint32_t c0 = index, c1 = stream, c2 = uint32_t(counter), c3 = uint32_t(counter >> 32);
  uint32_t key0 = uint32_t(key), key1 = uint32_t(key >> 32);
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = uint64_t(c0) * 0xD2511F53, p1 = uint64_t(c2) * 0xCD9E8D57;
    c0 = uint32_t(p1 >> 32) ^ c1 ^ key0;
    c1 = uint32_t(p1);
    c2 = uint32_t(p0 >> 32) ^ c3 ^ key1;
    c3 = uint32_t(p0);
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return {{c0, c1, c2, c3}};
}

void philoxElements(const void *context, const void *const *in, void *out, int64_t count) {
  uint32_t stream = *static_cast<const uint32_t *>(context);
  auto *index = static_cast<const uint64_t *>(in[0]), *key = static_cast<const uint64_t *>(in[1]),
       *counter = static_cast<const uint64_t *>(in[2]);
  auto *words = static_cast<uint32_t *>(out);
  for (int64_t i = 0; i < count;) {
    Block block = philox(uint32_t(index[i] >> 2), stream, counter[i], key[i]);
    // Neighbours mostly are words of one block.
    int64_t first = i;
    do {
      words[i] = block.words[index[i] & 3];
      ++i;
    } while (i < count && index[i] >> 2 == index[first] >> 2 && key[i] == key[first] && counter[i] == counter[first]);
  }
}
} // namespace

bool runPhilox(const Call &call, int) {
  uint32_t stream = uint32_t(call.integer("stream"));
  runElementwise(call, {philoxElements, &stream});
  return true;
}

} // namespace sprig::frontend::generic
