// atom and red. One GPU thread runs at a time, so that the operation itself is a load and a store.
#include "test/gpu/emulator/Block.h"
#include "test/gpu/emulator/Hooks.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

using namespace sprig::gpu;

template <class T> static T integerOperation(AtomicOperation operation, T old, T a, T b) {
  using U = std::make_unsigned_t<T>;
  switch (operation) {
  case AtomicOperation::Add: return T(U(old) + U(a));
  case AtomicOperation::Min: return std::min(old, a);
  case AtomicOperation::Max: return std::max(old, a);
  case AtomicOperation::And: return old & a;
  case AtomicOperation::Or: return old | a;
  case AtomicOperation::Xor: return old ^ a;
  case AtomicOperation::Exchange: return a;
  case AtomicOperation::CompareExchange: return old == a ? b : old;
  case AtomicOperation::Increment: return U(old) >= U(a) ? 0 : old + 1;
  case AtomicOperation::Decrement: return old == 0 || U(old) > U(a) ? a : old - 1;
  }
  return old;
}
template <class T> static T floatOperation(AtomicOperation operation, T old, T a) {
  if (operation == AtomicOperation::Add) return old + a;
  return operation == AtomicOperation::Min ? std::fmin(old, a) : std::fmax(old, a);
}
static uint64_t narrowOperation(AtomicOperation operation, uint64_t old, uint64_t a, NarrowFormat format,
                                unsigned lanes) {
  uint64_t result = 0;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    double x = widened(old >> (16 * lane) & 0xffff, format), y = widened(a >> (16 * lane) & 0xffff, format);
    result |=
        uint64_t(hooks_impl::narrow(floatOperation(operation, x, y), uint32_t(format), uint32_t(Rounding::Nearest)))
        << (16 * lane);
  }
  return result;
}

static uint64_t operate(AtomicOperation operation, AtomicType type, uint64_t old, uint64_t a, uint64_t b) {
  switch (type) {
  case AtomicType::U32: return integerOperation(operation, uint32_t(old), uint32_t(a), uint32_t(b));
  case AtomicType::S32: return uint32_t(integerOperation(operation, int32_t(old), int32_t(a), int32_t(b)));
  case AtomicType::U64: return integerOperation(operation, old, a, b);
  case AtomicType::S64: return uint64_t(integerOperation(operation, int64_t(old), int64_t(a), int64_t(b)));
  case AtomicType::B16: return uint16_t(old) == uint16_t(a) ? uint16_t(b) : uint16_t(old);
  case AtomicType::F32:
    return std::bit_cast<uint32_t>(
        floatOperation(operation, std::bit_cast<float>(uint32_t(old)), std::bit_cast<float>(uint32_t(a))));
  case AtomicType::F64:
    return std::bit_cast<uint64_t>(floatOperation(operation, std::bit_cast<double>(old), std::bit_cast<double>(a)));
  case AtomicType::F16: return narrowOperation(operation, old, a, NarrowFormat::F16, 1);
  case AtomicType::F16x2: return narrowOperation(operation, old, a, NarrowFormat::F16, 2);
  case AtomicType::BF16: return narrowOperation(operation, old, a, NarrowFormat::BF16, 1);
  case AtomicType::BF16x2: return narrowOperation(operation, old, a, NarrowFormat::BF16, 2);
  }
  return old;
}

static uint32_t bytesOf(AtomicType type) {
  switch (type) {
  case AtomicType::U64:
  case AtomicType::S64:
  case AtomicType::F64: return 8;
  case AtomicType::F16:
  case AtomicType::BF16:
  case AtomicType::B16: return 2;
  default: return 4;
  }
}

// The kind of an Update, for operations that commute; 0 for others. Min and max compare as their type says, the rest
// does the same to the bits of either sign.
static uint32_t kindOfUpdate(AtomicOperation operation, AtomicType type) {
  bool isSigned = type == AtomicType::S32 || type == AtomicType::S64;
  if (!isSigned && type != AtomicType::U32 && type != AtomicType::U64) return 0;
  switch (operation) {
  case AtomicOperation::Add:
  case AtomicOperation::And:
  case AtomicOperation::Or:
  case AtomicOperation::Xor:
    if (isSigned) type = type == AtomicType::S32 ? AtomicType::U32 : AtomicType::U64;
    break;
  case AtomicOperation::Min:
  case AtomicOperation::Max: break;
  default: return 0;
  }
  return 1 + (uint32_t(operation) | uint32_t(type) << 8);
}

static void enterEffects(Effects &effects, AtomicOperation operation, AtomicType type, uint64_t address, uint32_t bytes,
                         bool usesOld) {
  uint32_t kind = kindOfUpdate(operation, type);
  if (kind == 0 || usesOld) effects.read(address, bytes);
  if (kind == 0)
    effects.write(address, bytes);
  else
    effects.update(address, bytes, kind);
}

uint64_t hooks_impl::atomic(SprigGpuThread *self, uint64_t address, uint64_t operand, uint64_t second, uint32_t code,
                            uint32_t line) {
  Thread &thread = Block::thread(self);
  Block &block = *thread.owner;
  AtomicOperation operation = AtomicOperation(code & 0xff);
  AtomicType type = AtomicType(code >> 8 & 0xff);
  uint32_t space = code >> 16 & 0xff, bytes = bytesOf(type);
  if (block.isChecked()) {
    access(self, address, bytes, space | SPRIG_GPU_WRITE | SPRIG_GPU_STRONG | hasOwnEffects, line);
    bool isGlobal = space == SPRIG_GPU_GLOBAL ||
                    (space == SPRIG_GPU_GENERIC && hooks_impl::isSpace(self, address, SPRIG_GPU_GLOBAL));
    if (block.launch.options.effects && isGlobal)
      enterEffects(block.launch.effects, operation, type, address, bytes, code >> 28 & 1);
  }
  void *at = space == SPRIG_GPU_SHARED ? block.shared(address) : reinterpret_cast<void *>(address);
  MemoryOrder order = MemoryOrder(code >> 24 & 0xf);
  if (block.findsRaces()) block.orderAtomic(thread, reinterpret_cast<uint64_t>(at), order);
  uint64_t old = 0;
  std::memcpy(&old, at, bytes);
  uint64_t value = operate(operation, type, old, operand, second);
  std::memcpy(at, &value, bytes);
  block.poll(thread, reinterpret_cast<uint64_t>(at), line);
  return old;
}

void Block::orderAtomic(Thread &thread, uint64_t address, MemoryOrder order) {
  bool acquires = order == MemoryOrder::Acquire || order == MemoryOrder::AcquireRelease;
  bool releases = order == MemoryOrder::Release || order == MemoryOrder::AcquireRelease;
  OrderSnapshot &released = launch.globalRaces.releasedAt(address);
  OrderSnapshot before = released;
  if (acquires)
    clock.acquire(thread.order, before);
  else
    thread.order.observed = joined(thread.order.observed, before);
  // An operation that reads what another one has written goes on with that one's release.
  if (releases)
    released = joined(before, clock.release(thread.index, thread.order));
  else
    released = joined(before, thread.order.fenced);
}
