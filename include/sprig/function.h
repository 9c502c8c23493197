// compile(f): a function of tensors, recorded once for each kind of arguments and run as one compiled program.
// For programs. What f does with tensors is recorded; what it does on the host (branches on numbers, loops, prints)
// happens while recording, once. Parameters that f sets become state that is updated in place; numbers of the host are
// constants, a new value of an argument that is a number compiles anew.
#pragma once
#include "sprig/tensor.h"
#include <array>
#include <compare>
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <type_traits>

namespace sprig {

class Model;

struct FunctionOptions {
  /// What messages, profiles and packages call it.
  std::string name = "function";
  /// Called with the reason when it is recorded again after the first time; empty: a line on standard error.
  std::function<void(const std::string &reason)> report = {};
  /// Most kinds of arguments that are kept compiled; the one that was not used for the longest goes.
  int maxVariants = 16;
};

/// Turns compilation of all functions off (they run as they are written) and on again: for debugging. The environment
/// variable SPRIG_COMPILE=0 starts with it off.
SPRIG_API void setCompilation(bool on);
SPRIG_API bool compilationIsOn();

namespace frontend {

/// Arguments and results, as a flat list of tensors.
inline void flatten(const Tensor &tensor, std::vector<Tensor> &list, uint64_t &) { list.push_back(tensor); }
inline void flatten(const Parameter &parameter, std::vector<Tensor> &list, uint64_t &) {
  list.push_back(parameter.value());
}
template <typename T>
  requires std::is_arithmetic_v<T>
void flatten(const T &number, std::vector<Tensor> &, uint64_t &structure) {
  structure = (structure ^ std::hash<T>()(number)) * 0x9e3779b97f4a7c15 + 1;
}
template <typename T> void flatten(const std::vector<T> &items, std::vector<Tensor> &list, uint64_t &structure);
template <typename T, size_t N>
void flatten(const std::array<T, N> &items, std::vector<Tensor> &list, uint64_t &structure) {
  for (const T &item : items) flatten(item, list, structure);
}
template <typename... T> void flatten(const std::tuple<T...> &items, std::vector<Tensor> &list, uint64_t &structure) {
  std::apply([&](const auto &...item) { (flatten(item, list, structure), ...); }, items);
}
template <typename A, typename B>
void flatten(const std::pair<A, B> &items, std::vector<Tensor> &list, uint64_t &structure) {
  flatten(items.first, list, structure);
  flatten(items.second, list, structure);
}
template <typename T> void flatten(const std::vector<T> &items, std::vector<Tensor> &list, uint64_t &structure) {
  structure = (structure ^ items.size()) * 0xff51afd7ed558ccd + 1;
  for (const T &item : items) flatten(item, list, structure);
}

/// The same structure as `like`, with the tensors of a list from `next` on.
inline Tensor unflatten(const Tensor &, std::span<const Tensor> list, size_t &next) { return list[next++]; }
inline Tensor unflatten(const Parameter &, std::span<const Tensor> list, size_t &next) { return list[next++]; }
template <typename T>
  requires std::is_arithmetic_v<T>
T unflatten(const T &number, std::span<const Tensor>, size_t &) {
  return number;
}
template <typename T> std::vector<T> unflatten(const std::vector<T> &like, std::span<const Tensor> list, size_t &next);
template <typename T, size_t N>
std::array<T, N> unflatten(const std::array<T, N> &like, std::span<const Tensor> list, size_t &next) {
  std::array<T, N> items;
  for (size_t i = 0; i < N; ++i) items[i] = unflatten(like[i], list, next);
  return items;
}
template <typename... T>
std::tuple<T...> unflatten(const std::tuple<T...> &like, std::span<const Tensor> list, size_t &next) {
  return std::apply([&](const auto &...item) { return std::tuple<T...>{unflatten(item, list, next)...}; }, like);
}
template <typename A, typename B>
std::pair<A, B> unflatten(const std::pair<A, B> &like, std::span<const Tensor> list, size_t &next) {
  A first = unflatten(like.first, list, next);
  B second = unflatten(like.second, list, next);
  return {std::move(first), std::move(second)};
}
template <typename T> std::vector<T> unflatten(const std::vector<T> &like, std::span<const Tensor> list, size_t &next) {
  std::vector<T> items;
  for (const T &item : like) items.push_back(unflatten(item, list, next));
  return items;
}

/// The part of a compiled function that does not depend on its types.
class SPRIG_API FunctionCore {
public:
  using Body = std::function<std::vector<Tensor>(std::span<const Tensor>)>;
  FunctionCore(FunctionOptions options, Source at);
  ~FunctionCore();
  FunctionCore(const FunctionCore &) = delete;

  /// `structure` tells apart calls whose lists of tensors are alike.
  std::vector<Tensor> call(std::span<const Tensor> inputs, uint64_t structure, const Body &body);
  void enable(bool on);
  bool enabled() const;
  /// Why it was recorded, one line each time.
  std::vector<std::string> recordings() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace frontend

/// What compile() gives. Copies share the compiled programs.
template <typename F> class Function {
public:
  Function(F f, FunctionOptions options, Source at)
      : f(std::make_shared<F>(std::move(f))), core(std::make_shared<frontend::FunctionCore>(std::move(options), at)) {}

  template <typename... Args> auto operator()(const Args &...arguments) const {
    auto given = std::make_tuple(asArgument(arguments)...);
    using Result = decltype(std::apply(*f, given));
    std::vector<Tensor> list;
    uint64_t structure = 0;
    frontend::flatten(given, list, structure);
    if constexpr (std::is_void_v<Result>) {
      core->call(list, structure, [&](std::span<const Tensor> tensors) {
        size_t next = 0;
        std::apply(*f, frontend::unflatten(given, tensors, next));
        return std::vector<Tensor>();
      });
    } else {
      // What f returned while recording gives the results their structure.
      std::shared_ptr<Result> &like = structures<Result>(structure, list.size());
      std::vector<Tensor> results = core->call(list, structure, [&](std::span<const Tensor> tensors) {
        size_t next = 0;
        like = std::make_shared<Result>(std::apply(*f, frontend::unflatten(given, tensors, next)));
        std::vector<Tensor> flat;
        uint64_t ignored = 0;
        frontend::flatten(*like, flat, ignored);
        return flat;
      });
      size_t next = 0;
      return frontend::unflatten(*like, results, next);
    }
  }

  /// Off: it runs as it is written, with the same results.
  void enable(bool on = true) const { core->enable(on); }
  bool enabled() const { return core->enabled(); }
  /// Why it was recorded, one line each time; the first is the first call.
  std::vector<std::string> recordings() const { return core->recordings(); }
  const F &body() const { return *f; }

private:
  static Tensor asArgument(const Tensor &tensor) { return tensor; }
  static Tensor asArgument(const Parameter &parameter) { return parameter.value(); }
  template <typename T>
    requires(std::is_convertible_v<const T &, Tensor> && !std::is_arithmetic_v<T>)
  static Tensor asArgument(const T &value) {
    return value;
  }
  template <typename T>
    requires(!std::is_convertible_v<const T &, Tensor> || std::is_arithmetic_v<T>)
  static T asArgument(const T &value) {
    return value;
  }
  /// Kept by the structure of the call; vectors may differ in length from call to call.
  template <typename Result> std::shared_ptr<Result> &structures(uint64_t structure, size_t count) const {
    auto &slot = (*likes)[{structure, count}];
    if (!slot) slot = std::make_shared<std::shared_ptr<Result>>();
    return *static_cast<std::shared_ptr<Result> *>(slot.get());
  }

  std::shared_ptr<F> f;
  std::shared_ptr<frontend::FunctionCore> core;
  struct Key {
    uint64_t structure;
    size_t count;
    auto operator<=>(const Key &) const = default;
  };
  std::shared_ptr<std::map<Key, std::shared_ptr<void>>> likes =
      std::make_shared<std::map<Key, std::shared_ptr<void>>>();
};

/// f, compiled: for a lambda, a function or a module. It is recorded at the first call and for every new kind of
/// arguments (element types, shapes, numbers), and where a layer's training mode changed; each time after the first is
/// reported with its reason.
template <typename F>
  requires(!std::is_convertible_v<F, Model>)
Function<std::decay_t<F>> compile(F &&f, FunctionOptions options = {}, Source at = Source::here()) {
  return {std::forward<F>(f), std::move(options), at};
}

/// Returns when all that was recorded has run; throws the first failure that nothing has read yet.
SPRIG_API void synchronize();
/// How many segments and calls may be in flight before recording waits; 32 at first.
SPRIG_API void setMaxInFlight(int count);
SPRIG_API int maxInFlight();

} // namespace sprig
