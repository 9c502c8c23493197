// An entry's buffers as addresses of one context: fixed ones are resolved once, inputs and outputs with each call.
// Owns the memory that callers' unaligned, strided or padded arrays pass through, and where a device has memory of its
// own, what arrays become there; the copies between the two are the executable's.
#ifndef SPRIG_RUNTIME_EXEC_BINDING_H
#define SPRIG_RUNTIME_EXEC_BINDING_H

#include "runtime/exec/Package.h"
#include "runtime/exec/State.h"

namespace sprig::rt::core {

class Binding {
public:
  // `arenas`: of each of the program's devices.
  Binding(const Package &package, uint32_t entry, std::span<const Memory> arenas);

  // The state's buffers, where they are now; always the same state. Fails where the caller has bound none.
  Status bindState(const State &state) { return state.version() == seenVersion ? Status() : rebindState(state); }

  // What a run takes of the caller's arrays: samples [first, first + rows), all of them when rows < 0. Of an entry that
  // takes several lengths, the one that they have.
  struct Extent {
    int64_t first = 0;
    int64_t rows = -1;
    int64_t length = 0;
  };
  // The usual call: binds arrays that fit the entry exactly and can all be used where they are. False for any other,
  // which then needs the checks and the copies of the functions below.
  bool takes(std::span<const sprig_rt_tensor> inputs) const; // whether types and shapes of the inputs fit
  bool bindInPlace(std::span<const sprig_rt_tensor> inputs, std::span<const sprig_rt_tensor> outputs);
  // `onDevice`: which of them lie on the entry's only device; empty: none.
  Status bindInputs(std::span<const sprig_rt_tensor> inputs, Extent extent, std::span<const char> onDevice);
  // An output that shares memory of the host with an input is staged, so that kernels never see it change under them.
  Status bindOutputs(std::span<const sprig_rt_tensor> outputs, std::span<const sprig_rt_tensor> inputs, Extent extent,
                     std::span<const char> onDevice);
  // Moves staged outputs to the caller.
  void finishOutputs(std::span<const sprig_rt_tensor> outputs, Extent extent);

  void *const *operands() const { return addresses.data(); }
  // From the caller's arrays, or what was packed of them, to devices; and back. Empty where those work on the host's.
  std::span<const Transfer> uploads() const { return inputs.transfers; }
  std::span<const Transfer> downloads() const { return outputs.transfers; }
  uint32_t stagedInputs() const { return inputs.staged; }
  uint32_t stagedOutputs() const { return outputs.staged; }

private:
  struct Patch {
    uint32_t operand;
    uint64_t offset;
    uint32_t device;
  };
  // What an array is on a device with memory of its own.
  struct Copy {
    uint32_t device;
    Memory memory;
  };
  struct Port {
    void *bound = nullptr;       // on the host
    uint8_t *onDevice = nullptr; // the caller's, in place of copies
    bool hasCopies = false;      // which operands lie in
    bool staged = false;
    Block staging;
    std::vector<Patch> patches; // the operands that lie in it
    std::vector<Copy> copies;
  };
  struct Ports {
    std::vector<Port> list;
    uint32_t staged = 0;
    std::vector<Transfer> transfers;
  };

  Status makeCopies(Port &port, const TensorType &type);
  static void addTransfers(Ports &ports, uint32_t index, const TensorType &type, const Package &package, bool isInput);
  void bind(Port &port, void *address);
  Status bindOnDevice(Port &port, const TensorType &type, const sprig_rt_tensor &tensor, const char *what);
  static Status sharesNothing(const Port &port, const TensorType &type, const Ports &others,
                              const std::vector<TensorType> &types, size_t count, const char *what);
  Status rebindState(const State &state);
  Status stage(Port &port, const TensorType &type, uint8_t *&address);
  void packInput(const TensorType &type, const sprig_rt_tensor &tensor, Extent extent, uint8_t *target);
  Status bindLength(int64_t length);

  const Package &package;
  const Entry &entry;
  std::vector<void *> addresses;
  int64_t length = 0; // what the last input of an entry that takes several is bound to
  Ports inputs;
  Ports outputs;
  std::vector<Port> states; // of the package, those that the entry uses with patches
  uint64_t seenVersion = 0;
  bool inPlace = false; // what is bound went through bindInPlace
};

} // namespace sprig::rt::core

#endif
