#include "runtime/exec/Binding.h"

#include "runtime/exec/Strided.h"
#include "runtime/format/Types.h"

#include <algorithm>
#include <cstring>

namespace sprig::rt::core {

Binding::Binding(const Package &package, uint32_t entryIndex, std::span<const Memory> arenas)
    : package(package), entry(package.program().entries[entryIndex]) {
  inputs.list.resize(entry.inputs.size());
  outputs.list.resize(entry.outputs.size());
  states.resize(package.program().states.size());
  addresses.resize(entry.operands.size());
  if (!package.executes()) return; // nobody follows them
  for (uint32_t i = 0; i < addresses.size(); ++i) {
    const Buffer &buffer = entry.buffers[entry.operands[i]];
    Patch patch{i, buffer.offset, buffer.device};
    switch (buffer.kind) {
    case BufferKind::Arena: addresses[i] = arenas[buffer.device].address + buffer.offset; break;
    case BufferKind::Constant:
      addresses[i] = const_cast<uint8_t *>(package.constant(buffer.index, buffer.device)) + buffer.offset;
      break;
    case BufferKind::State: states[buffer.index].patches.push_back(patch); break;
    case BufferKind::Input: inputs.list[buffer.index].patches.push_back(patch); break;
    case BufferKind::Output: outputs.list[buffer.index].patches.push_back(patch); break;
    }
  }
}

// Memory on each device with its own that has operands in the array; they never move.
Status Binding::makeCopies(Port &port, const TensorType &type) {
  if (port.hasCopies) return {};
  port.onDevice = nullptr;
  for (const Patch &patch : port.patches) {
    const Device &device = package.device(patch.device);
    if (device.sharesHostMemory()) continue;
    auto found = std::find_if(port.copies.begin(), port.copies.end(),
                              [&](const Copy &copy) { return &package.device(copy.device) == &device; });
    if (found == port.copies.end()) {
      Memory memory; // a copy is there with its memory, or not at all
      SPRIG_RETURN_IF_ERROR(
          device.allocate(package.allocator(), type.bytes, concat("'", type.name, "'").text(), memory));
      found = port.copies.insert(found, {patch.device, std::move(memory)});
    }
    addresses[patch.operand] = found->memory.address + patch.offset;
  }
  port.hasCopies = true;
  return {};
}

void Binding::addTransfers(Ports &ports, uint32_t index, const TensorType &type, const Package &package, bool isInput) {
  // So an array without elements counts as one on the device and one of the host's do: neither is a transfer.
  if (type.bytes == 0) return;
  const Port &port = ports.list[index];
  auto *host = static_cast<uint8_t *>(port.bound);
  for (const Copy &copy : port.copies) {
    const Device *device = &package.device(copy.device);
    Transfer transfer{host, copy.memory.address, type.bytes, nullptr, device, {}};
    if (isInput) transfer = {copy.memory.address, host, type.bytes, device, nullptr, {}};
    transfer.array = index;
    ports.transfers.push_back(transfer);
  }
}

static const int64_t kNoSamples = -1;

static int64_t rowStride(const TensorType &type, const sprig_rt_tensor &tensor) {
  if (tensor.strides) return tensor.strides[0];
  int64_t stride = 1;
  for (size_t d = 1; d < type.shape.size(); ++d) stride *= type.shape[d];
  return stride;
}

// Where the caller's part for this run starts.
static uint8_t *firstRow(const TensorType &type, const sprig_rt_tensor &tensor, Binding::Extent extent) {
  uint8_t *data = static_cast<uint8_t *>(tensor.data);
  if (extent.rows == kNoSamples || extent.first == 0) return data;
  return data + extent.first * rowStride(type, tensor) * int64_t(dtypeSize(type.dtype));
}

// Kernels read and write single elements and vectors that may lie anywhere between them, so the alignment of an element
// is enough: vectors that cross a cache line cost less than a copy of the whole array.
static bool isAligned(const void *address, int dtype) {
  return reinterpret_cast<uintptr_t>(address) % dtypeSize(dtype) == 0;
}

static bool usableInPlace(const TensorType &type, const sprig_rt_tensor &tensor, Binding::Extent extent,
                          const uint8_t *address) {
  for (const GrowingDim &each : type.growing)
    if (each.at(extent.length) != type.shape[each.dim]) return false;
  return isAligned(address, type.dtype) && (extent.rows == kNoSamples || extent.rows == type.shape[0]) &&
         isDense(type.shape, tensor.strides);
}

namespace {
// The part of an array of the entry that a run takes from the caller, or gives it.
struct TakenPart {
  TakenPart(const TensorType &type, Binding::Extent extent) : rank(type.shape.size()) {
    int64_t step = 1;
    for (size_t d = rank; d-- > 0; step *= type.shape[d]) {
      strides[d] = step;
      sizes[d] = extent.length ? type.sizeAt(d, extent.length) : type.shape[d];
      isWhole &= sizes[d] == type.shape[d];
    }
    if (extent.rows == kNoSamples) return;
    isWhole = extent.rows == type.shape[0];
    sizes[0] = extent.rows;
  }
  std::span<const int64_t> shape() const { return {sizes, rank}; }

  size_t rank;
  int64_t sizes[64], strides[64]; // in the entry's array
  bool isWhole = true;
};
} // namespace

void Binding::bind(Port &port, void *address) {
  if (address == port.bound) return;
  for (const Patch &patch : port.patches)
    if (package.device(patch.device).sharesHostMemory())
      addresses[patch.operand] = static_cast<uint8_t *>(address) + patch.offset;
  port.bound = address;
}

// What kernels rely on, as they do for memory of the runtime's own.
static constexpr uintptr_t kDeviceAlignment = 64;

Status Binding::bindOnDevice(Port &port, const TensorType &type, const sprig_rt_tensor &tensor, const char *what) {
  auto *address = static_cast<uint8_t *>(tensor.data);
  auto named = [&]() -> std::string { return concat(what, " '", type.name, "'"); };
  const Device &device = *package.onlyDevice(uint32_t(&entry - package.program().entries.data()));
  if (!isDense(type.shape, tensor.strides))
    return {SPRIG_RT_UNSUPPORTED, concat(named(), ": expected a row-major array in memory of ", device.name())};
  port.staged = false;
  if (address == port.onDevice && !port.hasCopies) return {};
  if (type.bytes && reinterpret_cast<uintptr_t>(address) % kDeviceAlignment)
    return {SPRIG_RT_INVALID_ARGUMENT, concat(named(), ": expected an address in memory of ", device.name(),
                                              " that is aligned to ", kDeviceAlignment, " bytes")};
  if (type.bytes) SPRIG_RETURN_IF_ERROR(device.checkArray(address, named()));
  for (const Patch &patch : port.patches) addresses[patch.operand] = address + patch.offset;
  port.bound = nullptr;
  port.onDevice = address;
  port.hasCopies = false;
  return {};
}

Status Binding::rebindState(const State &state) {
  for (uint32_t i = 0; i < states.size(); ++i) {
    if (states[i].patches.empty()) continue;
    const TensorType &type = package.program().states[i].tensor;
    if (!state.data(i) && type.bytes)
      return {SPRIG_RT_INVALID_ARGUMENT,
              concat("entry '", entry.name, "': expected memory for state '", type.name, "', none is bound")};
    // On the state's own device, wherever that is.
    for (const Patch &patch : states[i].patches) addresses[patch.operand] = state.data(i) + patch.offset;
  }
  seenVersion = state.version();
  return {};
}

Status Binding::stage(Port &port, const TensorType &type, uint8_t *&address) {
  if (!port.staging.data())
    SPRIG_RETURN_IF_ERROR(
        Block::make(package.allocator(), type.bytes, concat("staging of '", type.name, "'").text(), port.staging));
  address = port.staging.data();
  return {};
}

// Samples beyond the caller's repeat its last one: what they compute is thrown away, but must not fail on values that
// the caller never gave. What is behind a length is zeros, which programs of several lengths leave alone.
void Binding::packInput(const TensorType &type, const sprig_rt_tensor &tensor, Extent extent, uint8_t *target) {
  TakenPart part(type, extent);
  if (extent.length && !part.isWhole) std::memset(target, 0, type.bytes);
  copyStrided(part.shape(), dtypeSize(type.dtype), firstRow(type, tensor, extent), tensor.strides, target,
              part.strides);
  if (extent.rows == kNoSamples) return;
  uint64_t rowBytes = type.bytes / uint64_t(type.shape[0]);
  for (int64_t row = extent.rows; row < type.shape[0]; ++row)
    std::memcpy(target + uint64_t(row) * rowBytes, target + uint64_t(extent.rows - 1) * rowBytes, rowBytes);
}

Status Binding::bindLength(int64_t given) {
  if (!given) return {};
  length = given;
  Port &port = inputs.list.back();
  SPRIG_RETURN_IF_ERROR(makeCopies(port, entry.inputs.back()));
  bind(port, &length);
  addTransfers(inputs, uint32_t(inputs.list.size() - 1), entry.inputs.back(), package, true);
  return {};
}

Status Binding::bindInputs(std::span<const sprig_rt_tensor> tensors, Extent extent, std::span<const char> onDevice) {
  inPlace = false;
  inputs.staged = 0;
  inputs.transfers.clear();
  if (!package.executes()) return {};
  for (size_t i = 0; i < tensors.size(); ++i) {
    Port &port = inputs.list[i];
    const TensorType &type = entry.inputs[i];
    if (!onDevice.empty() && onDevice[i]) {
      SPRIG_RETURN_IF_ERROR(bindOnDevice(port, type, tensors[i], "input"));
      continue;
    }
    SPRIG_RETURN_IF_ERROR(makeCopies(port, type));
    uint8_t *address = firstRow(type, tensors[i], extent);
    if (!usableInPlace(type, tensors[i], extent, address) || !address) {
      uint8_t *target = nullptr;
      SPRIG_RETURN_IF_ERROR(stage(port, type, target));
      if (type.bytes) packInput(type, tensors[i], extent, target);
      address = target;
      ++inputs.staged;
    }
    bind(port, address);
    addTransfers(inputs, uint32_t(i), type, package, true);
  }
  return bindLength(extent.length);
}

static bool overlaps(const uint8_t *a, uint64_t aBytes, const uint8_t *b, uint64_t bBytes) {
  return a < b + bBytes && b < a + aBytes;
}

// Of arrays on a device, the first `count` of a list.
Status Binding::sharesNothing(const Port &port, const TensorType &type, const Ports &others,
                              const std::vector<TensorType> &types, size_t count, const char *what) {
  for (size_t i = 0; i < count; ++i)
    if (overlaps(port.onDevice, type.bytes, others.list[i].onDevice, types[i].bytes))
      return {SPRIG_RT_INVALID_ARGUMENT,
              concat("output '", type.name, "' shares memory of its device with ", what, " '", types[i].name, "'")};
  return {};
}

Status Binding::bindOutputs(std::span<const sprig_rt_tensor> tensors, std::span<const sprig_rt_tensor> given,
                            Extent extent, std::span<const char> onDevice) {
  outputs.staged = 0;
  outputs.transfers.clear();
  if (!package.executes()) return {};
  for (size_t i = 0; i < tensors.size(); ++i) {
    Port &port = outputs.list[i];
    const TensorType &type = entry.outputs[i];
    if (!onDevice.empty() && onDevice[i]) {
      SPRIG_RETURN_IF_ERROR(bindOnDevice(port, type, tensors[i], "output"));
      SPRIG_RETURN_IF_ERROR(sharesNothing(port, type, inputs, entry.inputs, given.size(), "input"));
      SPRIG_RETURN_IF_ERROR(sharesNothing(port, type, outputs, entry.outputs, i, "output"));
      continue;
    }
    SPRIG_RETURN_IF_ERROR(makeCopies(port, type));
    uint8_t *address = firstRow(type, tensors[i], extent);
    port.staged = !address || !usableInPlace(type, tensors[i], extent, address);
    for (size_t in = 0; in < given.size() && !port.staged; ++in)
      port.staged =
          overlaps(address, type.bytes, static_cast<const uint8_t *>(inputs.list[in].bound), entry.inputs[in].bytes);
    if (port.staged) {
      SPRIG_RETURN_IF_ERROR(stage(port, type, address));
      ++outputs.staged;
    }
    bind(port, address);
    addTransfers(outputs, uint32_t(i), type, package, false);
  }
  return {};
}

static bool sameType(const TensorType &type, const sprig_rt_tensor &tensor) {
  size_t rank = type.shape.size();
  if (tensor.dtype != type.dtype || tensor.rank != rank || (rank && !tensor.shape)) return false;
  for (size_t axis = 0; axis < rank; ++axis)
    if (tensor.shape[axis] != type.shape[axis]) return false;
  return true;
}

bool Binding::takes(std::span<const sprig_rt_tensor> in) const {
  if (in.size() != entry.inputs.size() || entry.lengths) return false;
  for (size_t i = 0; i < in.size(); ++i)
    if (!sameType(entry.inputs[i], in[i])) return false;
  return true;
}

// What an array must be to be used where it is, without a word on what is amiss.
static bool fitsInPlace(const TensorType &type, const sprig_rt_tensor &tensor) {
  return !tensor.strides && tensor.data && isAligned(tensor.data, type.dtype) && sameType(type, tensor);
}

bool Binding::bindInPlace(std::span<const sprig_rt_tensor> in, std::span<const sprig_rt_tensor> out) {
  if (!package.isOnHost() || entry.lengths || in.size() != inputs.list.size() || out.size() != outputs.list.size())
    return false;
  bool same = inPlace; // the arrays of the call before, which were checked against each other
  for (size_t i = 0; i < in.size(); ++i) {
    if (!fitsInPlace(entry.inputs[i], in[i])) return false;
    same &= in[i].data == inputs.list[i].bound;
  }
  for (size_t i = 0; i < out.size(); ++i) {
    if (!fitsInPlace(entry.outputs[i], out[i])) return false;
    same &= out[i].data == outputs.list[i].bound;
  }
  if (same) return true;
  auto bytesOf = [](const sprig_rt_tensor &tensor) { return static_cast<const uint8_t *>(tensor.data); };
  for (size_t o = 0; o < out.size(); ++o)
    for (size_t i = 0; i < in.size(); ++i)
      if (overlaps(bytesOf(out[o]), entry.outputs[o].bytes, bytesOf(in[i]), entry.inputs[i].bytes)) return false;
  for (size_t i = 0; i < in.size(); ++i) bind(inputs.list[i], in[i].data);
  for (size_t o = 0; o < out.size(); ++o) {
    outputs.list[o].staged = false;
    bind(outputs.list[o], out[o].data);
  }
  inputs.staged = outputs.staged = 0;
  return inPlace = true;
}

void Binding::finishOutputs(std::span<const sprig_rt_tensor> tensors, Extent extent) {
  if (outputs.staged == 0) return;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Port &port = outputs.list[i];
    const TensorType &type = entry.outputs[i];
    if (!port.staged || type.bytes == 0) continue;
    TakenPart part(type, extent);
    copyStrided(part.shape(), dtypeSize(type.dtype), port.staging.data(), part.strides,
                firstRow(type, tensors[i], extent), tensors[i].strides);
  }
}

} // namespace sprig::rt::core
