#include "lib/Frontend/Engine/Value.h"
#include "sprig/rt/memory.h"
#include <cstdlib>

namespace sprig::frontend {

namespace {
constexpr uint64_t kHandle = uint64_t(1) << 32;
}

std::shared_ptr<Storage> Storage::allocate(int64_t bytes) {
  int64_t capacity = bytes <= 128 ? 128 : (bytes + 63) / 64 * 64;
  void *memory = nullptr;
  if (sprig_rt_status *status = sprig_rt_memory_allocate(uint64_t(capacity), &memory)) {
    std::string text = sprig_rt_status_message(status);
    sprig_rt_status_free(status);
    runtimeError(text);
  }
  return std::allocate_shared<Storage>(PoolAllocator<Storage>(), memory, capacity, nullptr, nullptr);
}

std::shared_ptr<Storage> Storage::adopt(void *memory, void (*release)(void *), void *user) {
  return std::make_shared<Storage>(memory, 0, release, user);
}

void Storage::renew() {
  static std::atomic<uint64_t> last{0};
  number = last.fetch_add(1, std::memory_order_relaxed) + 1;
  origins = nullptr;
}

Storage::~Storage() {
  if (capacity)
    sprig_rt_memory_release(data, uint64_t(capacity));
  else if (release)
    release(user);
}

namespace {
/// Long chains of values are taken down one by one: recursion could overflow the stack.
thread_local std::vector<Node *> *dying = nullptr;

void destroy(Value *value) {
  if (Node *producer = value->producer) drop(producer);
  delete value;
}

void destroy(Node *node) {
  if (dying) {
    dying->push_back(node);
    return;
  }
  std::vector<Node *> list{node};
  dying = &list;
  while (!list.empty()) {
    Node *next = list.back();
    list.pop_back();
    for (Value *operand : next->operands) drop(operand);
    delete next;
  }
  dying = nullptr;
}
} // namespace

void keep(Value *value) { value->counts.fetch_add(1, std::memory_order_relaxed); }
void drop(Value *value) {
  if (uint32_t(value->counts.fetch_sub(1, std::memory_order_acq_rel)) == 1) destroy(value);
}
void keep(Node *node) { node->references.fetch_add(1, std::memory_order_relaxed); }
void drop(Node *node) {
  if (node->references.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy(node);
}

void releaseLineage(Node *node, uint8_t what) {
  uint8_t before = node->released.fetch_or(what, std::memory_order_acq_rel);
  constexpr uint8_t kBoth = Node::kRan | Node::kUntracked;
  if ((before | what) != kBoth || before == kBoth) return;
  for (Value *operand : node->operands) drop(operand);
  node->operands.clear();
}

void retain(Value *value) { value->counts.fetch_add(kHandle + 1, std::memory_order_relaxed); }
void release(Value *value) {
  if (uint32_t(value->counts.fetch_sub(kHandle + 1, std::memory_order_acq_rel)) == 1) destroy(value);
}

Tensor readyTensor(const TensorType &type, std::shared_ptr<Storage> storage) {
  auto *value = new Value(type, Value::State::ready);
  value->storage = std::move(storage);
  value->device = currentDevice();
  value->lane = computeLane(value->device);
  return Tensor::own(value);
}

} // namespace sprig::frontend
