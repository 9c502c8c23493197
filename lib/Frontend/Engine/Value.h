// What handles stand for: values, the recorded operations that compute them, and the memory that holds them.
// For the engine alone. Reference counts are atomic: the recorder's thread and the executor's share these objects.
#pragma once
#include "lib/Frontend/Base/Devices.h"
#include "lib/Frontend/Graph.h"
#include "lib/Frontend/Engine/Few.h"
#include "lib/Frontend/Engine/Pool.h"
#include "lib/Frontend/Standing.h"
#include "sprig/tensor.h"
#include <atomic>
#include <memory>

namespace sprig::nonfinite {
class Origins;
}

namespace sprig::frontend {

/// Memory of a value: 64-byte aligned, at least 128 bytes and a multiple of 64.
class Storage {
public:
  /// Throws Error (runtime) when there is no memory.
  static std::shared_ptr<Storage> allocate(int64_t bytes);
  static std::shared_ptr<Storage> adopt(void *memory, void (*release)(void *), void *user);
  Storage(void *memory, int64_t capacity, void (*release)(void *), void *user)
      : data(memory), capacity(capacity), release(release), user(user) {
    renew();
  }
  ~Storage();
  Storage(const Storage &) = delete;

  /// No other content of any memory has or had this number. A call that writes here asks for a new one.
  uint64_t version() const { return number; }
  void renew();

  void *const data;
  /// Of numbers that are not finite (NonFinite.h); null: not known.
  std::shared_ptr<const nonfinite::Origins> origins;

private:
  uint64_t number;
  int64_t capacity; // of the runtime's memory; 0: adopted
  void (*release)(void *);
  void *user;
};

/// Why a value will never be there; shared by everything that depends on it.
using Failure = std::shared_ptr<const Error>;

/// An in-order queue of the engine: what a device computes, the copies to it, or a rank's collectives.
using LaneId = uint16_t;
inline LaneId computeLane(DeviceId device) { return LaneId(2 * device); }
inline LaneId copyLane(DeviceId device) { return LaneId(2 * device + 1); }
inline DeviceId deviceOfLane(LaneId lane) { return DeviceId(lane / 2); }
/// Those of ranks come after those of devices.
constexpr LaneId kFirstRankLane = 2 * kMostOpenDevices;
constexpr size_t kMostRankLanes = 1024, kMostLanes = kFirstRankLane + kMostRankLanes;

struct Node;
struct Trace;
struct Variant;

/// A version of a tensor.
struct Value : Pooled<Value> {
  enum class State : uint8_t {
    pending, ///< recorded, in the segment that is not cut yet
    queued,  ///< handed to the executor
    ready,   ///< `storage` holds it
    failed,  ///< `failure` says why not
    traced,  ///< stands for something in a function that is being recorded: `trace`
  };

  /// Low half: all references; high half: those of handles, which can read the value. Never read it for its exact
  /// number but in the destructor.
  std::atomic<uint64_t> counts;
  std::atomic<State> state;
  bool tracked = false;  ///< a gradient may be asked for: `producer` is kept, or it is a root
  bool root = false;     ///< gradients end here
  bool constant = false; ///< one known element of at most eight bytes: becomes part of graphs
  bool live = false;     ///< scratch of the cut: must be written by the segment
  /// A gradient without createGraph, or made of one: for what is said where a gradient of it is asked for.
  bool ofGradient = false;
  /// On no device for good: what an operation made for itself, of no tensor. It may be an operand on any.
  bool unplaced = false;
  DeviceId device = 0; ///< where it is, or, unplaced, where it is computed
  LaneId lane = 0;     ///< of the task that computes it
  uint16_t index = 0;  ///< which result of `producer`
  TensorType type;
  Node *producer = nullptr; ///< a reference
  std::shared_ptr<Storage> storage;
  Failure failure;
  Trace *trace = nullptr;
  Parameter::Cell *owner = nullptr; ///< of roots that are a parameter's value
  uint64_t version = 0;             ///< of which parameter, by its number, it is or was a version; 0: of none
  uint64_t home = 0;                ///< the recording that it is a result of, and its place there
  uint32_t place = 0;
  uint32_t slot = 0;  ///< its place among the externals or constants
  uint64_t scope = 0; ///< of this recording

  /// With one handle, and so many references besides.
  Value(const TensorType &type, State state, uint32_t references = 0)
      : counts((uint64_t(1) << 32) + 1 + references), state(state), type(type) {}
  bool hasHandles() const { return counts.load(std::memory_order_relaxed) >> 32; }
  bool isThere() const { return state.load(std::memory_order_acquire) >= State::ready; }
  /// Whether it says where operations on it run. Scalars go where they are needed.
  bool isPlaced() const { return !constant && !unplaced && !type.shape.empty(); }
};

/// For DetectNonFinite: of an operation that was recorded while it lived.
struct NodeWatch {
  std::vector<std::string> states; ///< by operand: "parameter 'fc.weight'"; empty for what is none
};

/// A recorded operation.
struct Node : Pooled<Node> {
  std::atomic<uint32_t> references{1};
  bool tracked = false;
  bool consumed = false; ///< a gradient was taken through it
  bool open = false;     ///< recorded while gradients may flow: outside of NoGrad
  bool isCopy = false;   ///< from another device to this
  DeviceId device = 0;   ///< that it runs on
  std::atomic<uint8_t> released{
      0}; ///< bits of what has happened: its operands go when it ran and no gradient needs them
  static constexpr uint8_t kRan = 1, kUntracked = 2;
  uint64_t sequence = 0;    ///< later nodes have larger numbers
  uint64_t walk = 0;        ///< the last search for gradients that has met it
  GraphNode description;    ///< without operands and numbers
  Few<Value *, 4> operands; ///< a reference each; cleared when it has run and no gradient needs them
  Few<TensorType, 1> resultTypes;
  Few<Value *, 2> results; ///< not references; for use while the segment or a trace holds them
  /// Of a call of a compiled function: what was called. The operands are the inputs of its graph.
  std::shared_ptr<Variant> callee;
  /// Of a call that gradients are refused through: what was called and why, interned. The operands are those of its
  /// inputs that gradients would flow to.
  const std::string *refusal = nullptr;
  std::unique_ptr<const NodeWatch> watch; ///< null: nothing is to be detected
};

/// References without handles: the value is kept, not necessarily readable.
void keep(Value *value);
void drop(Value *value);
void keep(Node *node);
void drop(Node *node);

/// Notes that a node ran, or that no gradient is going to be taken through it. Lets its operands, and its results' way
/// back to it, go when both are so.
void releaseLineage(Node *node, uint8_t what);

/// One more handle to a value.
inline Tensor handleTo(Value *value) {
  retain(value);
  return Tensor::own(value);
}

/// A tensor of a value that is there, on the thread's device for new ones.
Tensor readyTensor(const TensorType &type, std::shared_ptr<Storage> storage);

} // namespace sprig::frontend

/// A parameter's place. What holds it keeps it alive; the value that it holds knows it by address while it is current.
struct sprig::Parameter::Cell : std::enable_shared_from_this<Cell> {
  uint64_t number = 0; ///< no other parameter has or had it
  Tensor current;
  Tensor gradient;
  TensorType type;
  bool trainable = true;
  std::string name;
  frontend::Standing standing;
  std::vector<std::weak_ptr<Cell>> untrained = {}; ///< noteUntrained
  /// Whether `current` is this rank's flat piece of it (setPiece).
  bool isPiece() const { return !(current.raw()->type == type); }
  ~Cell() {
    if (!current.defined()) return;
    current.raw()->owner = nullptr;
    current.raw()->version = 0;
  }
};
