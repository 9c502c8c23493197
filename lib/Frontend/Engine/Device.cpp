// Tensors on devices: where they are, and copies from one to another.
#include "sprig/device.h"
#include "lib/Frontend/Engine/ProfileSpan.h"
#include "lib/Frontend/Engine/Recorder.h"
#include "lib/Frontend/Engine/Trace.h"

namespace sprig {

using namespace frontend;

Tensor frontend::unplaced(Tensor tensor) {
  tensor.raw()->unplaced = true;
  return tensor;
}

Device frontend::deviceFor(const Tensor &tensor) {
  return tensor.defined() && tensor.raw()->isPlaced() ? deviceOf(tensor.raw()->device) : defaultDevice();
}

Device Tensor::device(Source at) const {
  if (!value) fail(at, "device", "the tensor holds nothing");
  return value->constant || value->unplaced ? defaultDevice() : deviceOf(value->device);
}

Tensor Tensor::to(const Device &device, bool nonBlocking, Source at) const {
  requireDefined(*this, "to", "the tensor", at);
  DeviceId id = openDevice(device, "to", at);
  if (!value->constant && !value->unplaced && value->device == id) return *this;
  Tensor copy = copyTo(*this, id, at);
  if (!nonBlocking && !Trace::current()) waitFor(copy, kCopyWait, at);
  return copy;
}

} // namespace sprig
