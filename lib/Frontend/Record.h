// How an operation gets recorded: the one way from the public functions to the engine.
// For the implementation of include/sprig. Whoever calls it has checked shapes and types: it never fails on them.
#pragma once
#include "lib/Frontend/Base/Devices.h"
#include "lib/Frontend/Graph.h"
#include "sprig/tensor.h"
#include <functional>
#include <initializer_list>
#include <memory>

namespace sprig::frontend {

/// Records one operation with one result of this type, and returns at once.
Tensor record(const OpName &op, std::span<const Tensor> operands, AttrList attrs, const TensorType &result, Source at);
inline Tensor record(const OpName &op, std::initializer_list<Tensor> operands, AttrList attrs, const TensorType &result,
                     Source at) {
  return record(op, std::span(operands.begin(), operands.size()), std::move(attrs), result, at);
}
/// The same for several results, and for operations with regions.
std::vector<Tensor> recordAll(const OpName &op, std::span<const Tensor> operands, AttrList attrs,
                              std::span<const TensorType> results, Source at,
                              std::vector<std::shared_ptr<const Graph>> regions = {});

/// The bits of an element, in the low bytes. Throws for a number that an integer type does not hold.
uint64_t bitsOf(double value, DType type, Source at, const char *op);
uint64_t bitsOfInteger(int64_t value, DType type, Source at, const char *op); ///< not of a float type
/// A constant of one element that broadcasts as a scalar; the same bits give the same recorded constant.
/// Throws in the name of `op` for a number that the type does not hold.
Tensor scalar(double value, DType type, Source at, const char *op = "constant");
Tensor scalarInteger(int64_t value, DType type, Source at, const char *op = "constant");
/// A constant of this type whose elements are all the same.
Tensor splat(double value, const TensorType &type, Source at, const char *op = "constant");

/// Records a graph's nodes on these inputs; the results are the graph's outputs.
std::vector<Tensor> replay(const Graph &graph, std::span<const Tensor> inputs, Source at);

/// What f computes of inputs of these types, without running it. Tensors of outside that f uses are appended to
/// `captured`; they are the graph's inputs after the others. Parameters that f sets are appended to `set`; their new
/// values are the graph's outputs after the others. Without `set`, setting one is refused (usage).
Graph traceRegion(std::span<const TensorType> inputs,
                  const std::function<std::vector<Tensor>(std::span<const Tensor>)> &f, std::vector<Tensor> &captured,
                  Source at, std::vector<Parameter> *set = nullptr);

/// The layer that operations belong to while this lives; `path` is interned or null.
class LayerScope {
public:
  explicit LayerScope(const std::string *path);
  ~LayerScope();
  LayerScope(const LayerScope &) = delete;
  LayerScope &operator=(const LayerScope &) = delete;

private:
  const std::string *outer;
};

/// "train.cpp:12: ", or nothing where the line is not known.
std::string placeText(Source at);
/// "train.cpp:12: linear (layer 'encoder.0')"; `layer` may be null.
std::string placeText(Source at, const std::string &op, const std::string *layer);
/// "train.cpp:12: linear: ..." with the layer where there is one; throws Error (usage).
[[noreturn]] void fail(Source at, const std::string &op, const std::string &text);
/// As short as it reads back: "0.1", "1e-05", "1.0".
std::string realText(double value);
/// A tensor that an operation has just made for itself: it goes where the operation runs.
Tensor unplaced(Tensor tensor);
/// The device that operations on it run on, the thread's for new tensors where it says none.
Device deviceFor(const Tensor &tensor);
/// Throws for a tensor that is not defined.
void requireDefined(const Tensor &tensor, const char *op, const char *what, Source at);

/// Two 64-bit words for random operations (i64 scalars): the key, and a counter that no other operation gets. In a
/// compiled function the counter goes on with every call.
struct RandomWords {
  Tensor key, counter;
};
RandomWords nextRandom(Source at);
/// A 64-bit word of the same sequence, drawn on the host: for initial values of layers.
struct HostRandom {
  uint64_t key, counter;
};
HostRandom nextHostRandom();

/// What was recorded for gradients that have been taken is needed no more: an optimizer says so after its updates.
void endLineage();

/// A kind of setting on the host that decides what gets recorded: a layer's mode, a frozen parameter.
struct HostSetting {
  uint64_t (*read)(const void *source);
  /// "in training mode", as it is now; after the name of what it belongs to.
  std::string (*text)(const void *source);
  /// Whether it matters only to functions that take gradients.
  bool forGradients = false;
};
/// Whether a layer is in training mode; the source is its flag.
extern const HostSetting kTrainingMode;
/// Whether this thread records a function for compile() or a package: whether observe() does anything.
bool isRecording();
/// Notes that it is read. A compiled function that has read it is recorded anew when it has another value.
void observe(const HostSetting &setting, std::shared_ptr<const void> source, const std::string &owner);

/// Sets a switch of the host. Within a function that is being recorded it holds until the function ends; then it is
/// what it was, and every call sets it.
void setSwitch(const std::shared_ptr<bool> &flag, bool on);

/// Moves a parameter and its gradient to another device. What was computed from it before keeps the old version.
void moveParameter(const Parameter &parameter, const Device &device, Source at);

/// The same for state that belongs to a parameter, as an optimizer's: it goes where the parameter has been moved to.
void follow(const Parameter &state, const Parameter &leader, Source at);

/// Sets a parameter to this rank's flat piece of it (runtime/collective/Piece.h), of which steps of all ranks' samples
/// are recorded as of the whole, or back to the whole.
void setPiece(const Parameter &parameter, const Tensor &value, Source at);

/// Says that a module's child or parameter has been replaced, which may have changed what compiled functions captured:
/// each is recorded once more at its next call, and compiled anew where that differs.
void noteReplacement();
/// How many there have been.
uint64_t replacements();

/// Throws (usage) while a function is being recorded: for what would happen then, and at no call.
void requireNotRecording(const char *what, Source at);

} // namespace sprig::frontend
