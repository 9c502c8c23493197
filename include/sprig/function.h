// compile(f): a function of tensors, recorded once for each kind of arguments and run as one compiled program.
// For programs. What f does with tensors is recorded; what it does on the host (branches on numbers, loops, prints)
// happens while recording. Parameters that f sets become state that is updated in place; numbers of the host are
// constants, a new value of an argument that is a number compiles anew. docs/tracing.md has the whole table.
#pragma once
#include "sprig/arguments.h"
#include "sprig/options.h"
#include <functional>
#include <memory>

namespace sprig {

class Model;

struct FunctionOptions {
  /// What messages, profiles and packages call it.
  std::string name = "function";
  /// Called with the reason when it is recorded again after the first time; empty: a line on standard error.
  std::function<void(const std::string &reason)> report = {};
  /// Most kinds of arguments that are kept compiled. Calls of further kinds run as they are written, with the same
  /// bits; a kind that was not used for 1,000 calls makes room for one of them. Functions of ranks, and those with
  /// `growing`, drop the kind not used for longest instead.
  int maxVariants = 16;
  /// Lanes to spread each call over, 1 to 64, where that pays by the machine model: branches that need nothing of each
  /// other run side by side, as those of a package with CompileOptions::lanes do (docs/parallel.md). 0: as many as suit
  /// the device, 1 on a processor and 8 on a GPU. It never changes a bit. A function that runs as it is written has
  /// none.
  int lanes = 0;
  /// Of sums over ranks (docs/distributed.md): all ranks say the same, and give arguments of the same shapes; where a
  /// dist::BatchShare in the function says how many samples all have, shares of several sizes. A function that runs as
  /// it is written adds up as it is written.
  FactorPolicy factors = FactorPolicy::never;
  /// Most bytes of sums over ranks that go together; 1: each by itself; 0: what the first rank expects to be hidden
  /// best behind the rest of the function, for which all ranks meet at its first call. Sums go in the order in which
  /// they are written, with 0 in that in which the first rank makes what is summed. It never changes a bit.
  int64_t bucketBytes = int64_t(1) << 20;
  /// Axes that are as long as each call says, all of them the same: programs for lengths up to powers of two, and up to
  /// `longest`, serve all calls, with the bits of a program of that very length (docs/lengths.md). Each is recorded at
  /// up to five of its lengths, and refused (unsupported) where these are not one program but for the length; what the
  /// body decides by a length in between is not seen. For functions that compute alone: no state, no random numbers, no
  /// ranks; gradients do not flow through their calls.
  std::vector<GrowingAxis> growing = {};
  int64_t longest = 1024;
};

/// Turns compilation of all functions off (they run as they are written) and on again: for debugging. The environment
/// variable SPRIG_COMPILE=0 starts with it off. While DetectNonFinite lives on a thread, it is off there.
SPRIG_API void setCompilation(bool on);
SPRIG_API bool compilationIsOn();

/// On: every call of a compiled function records once more, and compares, not the second alone; for finding what a
/// function captured and changes later. It runs f each time, and changes no state. The environment variable
/// SPRIG_CHECK_TRACES=1 starts with it on.
SPRIG_API void checkTraces(bool always);
SPRIG_API bool tracesAreChecked();

namespace frontend {

/// One of several calls that go together, without its types. `structure` is as FunctionCore::call has it.
struct FlatCall {
  FlatValues arguments = {};
  std::vector<uint32_t> ends = {};
  std::function<std::vector<Tensor>(std::span<const Tensor>)> body = {};
  std::shared_ptr<const void> structure = {};
};

/// The part of a compiled function that does not depend on its types.
class SPRIG_API FunctionCore {
public:
  using Body = std::function<std::vector<Tensor>(std::span<const Tensor>)>;
  FunctionCore(FunctionOptions options, Source at);
  ~FunctionCore();
  FunctionCore(const FunctionCore &) = delete;

  /// `ends[i]`: tensors of the arguments up to the i-th. `structure`: of the results; the body sets it, and a call that
  /// does not run the body gets what the body had set.
  std::vector<Tensor> call(const FlatValues &arguments, std::span<const uint32_t> ends, const Body &body,
                           std::shared_ptr<const void> &structure);
  /// The results of each.
  std::vector<std::vector<Tensor>> callTogether(std::span<FlatCall> calls);
  void enable(bool on);
  bool enabled() const;
  /// Why it was recorded, one line each time.
  std::vector<std::string> recordings() const;
  int64_t bucketBytes() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// What can be known of a function's signature before it is called: of one that is no template and not overloaded.
template <typename F> struct Signature {
  static constexpr bool givesTensors = true, changesArguments = false;
};
template <typename R, typename... A> struct Signature<R(A...)> {
  static constexpr bool givesTensors = IsResult<std::remove_cvref_t<R>>::value;
  static constexpr bool changesArguments =
      ((std::is_lvalue_reference_v<A> && !std::is_const_v<std::remove_reference_t<A>>) || ...);
};
template <typename R, typename... A> struct Signature<R (*)(A...)> : Signature<R(A...)> {};
template <typename R, typename... A> struct Signature<R (*)(A...) noexcept> : Signature<R(A...)> {};
template <typename R, typename C, typename... A> struct Signature<R (C::*)(A...)> : Signature<R(A...)> {};
template <typename R, typename C, typename... A> struct Signature<R (C::*)(A...) const> : Signature<R(A...)> {};
template <typename R, typename C, typename... A> struct Signature<R (C::*)(A...) noexcept> : Signature<R(A...)> {};
template <typename R, typename C, typename... A>
struct Signature<R (C::*)(A...) const noexcept> : Signature<R(A...)> {};
template <typename F>
  requires requires { &F::operator(); }
struct Signature<F> : Signature<decltype(&F::operator())> {};

} // namespace frontend

/// What compile() gives. Copies share the compiled programs.
template <typename F> class Function {
public:
  Function(F f, FunctionOptions options, Source at)
      : f(std::make_shared<F>(std::move(f))), core(std::make_shared<frontend::FunctionCore>(std::move(options), at)) {}

  template <typename... Args> auto operator()(const Args &...arguments) const {
    using Given = std::tuple<decltype(frontend::asArgument(arguments))...>;
    // One line for a wrong call: what would only follow from it is not compiled.
    constexpr bool isGiven = frontend::IsArgument<Given>::value;
    static_assert(isGiven,
                  "compile(f): an argument is neither a Tensor, Parameter, number, enumeration, Shape or text, "
                  "nor a std::vector, array, pair, tuple or optional of these; let f capture it");
    if constexpr (!isGiven) {
      return Tensor();
    } else {
      constexpr bool takes = Takes<Given>::value;
      static_assert(takes, "compile(f): f cannot be called with these arguments (they are values of their own: f takes "
                           "them by value or by const reference)");
      if constexpr (takes)
        return call(Given(frontend::asArgument(arguments)...));
      else
        return Tensor();
    }
  }

  /// Calls with each of these arguments, one after the other, as one program: less is handed over, and of ranks a call
  /// begins while sums of the one before travel. Bits are those of single calls. All are of one kind (else usage), f
  /// sets no gradient of a parameter, and gradients do not flow through the results. At most 256.
  ///     std::vector<Tensor> losses = step.together(std::vector{std::tuple(x0, y0), std::tuple(x1, y1)});
  template <typename... Args> auto together(const std::vector<std::tuple<Args...>> &calls) const {
    using Given = std::tuple<decltype(frontend::asArgument(std::declval<const Args &>()))...>;
    constexpr bool isGiven = frontend::IsArgument<Given>::value;
    static_assert(isGiven, "together(calls): an argument is neither a Tensor, Parameter, number, enumeration, Shape or "
                           "text, nor a std::vector, array, pair, tuple or optional of these; let f capture it");
    if constexpr (!isGiven) {
      return Tensor();
    } else {
      constexpr bool takes = Takes<Given>::value;
      static_assert(takes, "together(calls): f cannot be called with these arguments");
      if constexpr (takes) {
        std::vector<Given> given;
        for (const auto &call : calls)
          given.push_back(
              std::apply([](const Args &...argument) { return Given(frontend::asArgument(argument)...); }, call));
        return callTogether(given);
      } else {
        return Tensor();
      }
    }
  }

  /// Off: it runs as it is written, with the same results.
  void enable(bool on = true) const { core->enable(on); }
  bool enabled() const { return core->enabled(); }
  /// Why it was recorded, one line each time; the first is the first call.
  std::vector<std::string> recordings() const { return core->recordings(); }
  /// Most bytes of sums over ranks that go together in the newest program, on this rank; 0: there is none of ranks.
  int64_t bucketBytes() const { return core->bucketBytes(); }
  const F &body() const { return *f; }

private:
  template <typename Given> struct Takes : std::false_type {};
  template <typename... T> struct Takes<std::tuple<T...>> : std::is_invocable<F &, T...> {};

  template <typename Given> struct ResultOf;
  template <typename... T> struct ResultOf<std::tuple<T...>> {
    using Plain = std::remove_cvref_t<std::invoke_result_t<F &, T...>>;
    using Type = std::conditional_t<std::is_convertible_v<Plain, Tensor>, Tensor, Plain>;
    static constexpr bool isTensors = frontend::IsResult<Type>::value;
  };

  template <typename... T>
  static void flatten(const std::tuple<T...> &given, frontend::FlatValues &flat, uint32_t *ends) {
    std::apply(
        [&](const T &...argument) {
          ((frontend::flatten(argument, flat), ends[flat.argument++] = uint32_t(flat.tensors.size())), ...);
        },
        given);
  }
  /// What records a call with these arguments, and notes what its results look like.
  template <typename Result, typename Given>
  auto bodyOf(const Given &given, std::shared_ptr<const void> &structure) const {
    return [this, &given, &structure](std::span<const Tensor> tensors) {
      size_t next = 0;
      if constexpr (std::is_void_v<Result>) {
        (void)structure;
        std::apply(*f, frontend::unflatten(given, tensors, next));
        return std::vector<Tensor>();
      } else {
        auto made = std::make_shared<const Result>(std::apply(*f, frontend::unflatten(given, tensors, next)));
        structure = made;
        frontend::FlatValues results;
        frontend::flatten(*made, results);
        return std::move(results.tensors);
      }
    };
  }
  template <typename Result>
  static Result resultOf(const std::shared_ptr<const void> &structure, std::span<const Tensor> results) {
    size_t next = 0;
    return frontend::unflatten(*static_cast<const Result *>(structure.get()), results, next);
  }

  template <typename... T> auto call(const std::tuple<T...> &given) const {
    using Results = ResultOf<std::tuple<T...>>;
    constexpr bool givesTensors = Results::isTensors;
    static_assert(givesTensors, "compile(f): f has to return void, a Tensor, or a std::vector, array, pair, tuple or "
                                "optional of Tensors; a number of the host would stay what it was while recording");
    if constexpr (givesTensors) {
      using Result = typename Results::Type;
      frontend::FlatValues flat;
      std::array<uint32_t, sizeof...(T)> ends;
      flatten(given, flat, ends.data());
      std::shared_ptr<const void> structure;
      auto body = bodyOf<Result>(given, structure);
      std::vector<Tensor> results = core->call(flat, ends, std::ref(body), structure);
      if constexpr (!std::is_void_v<Result>) return resultOf<Result>(structure, results);
    } else {
      return Tensor();
    }
  }

  template <typename Given> auto callTogether(const std::vector<Given> &given) const {
    using Results = ResultOf<Given>;
    constexpr bool givesTensors = Results::isTensors;
    static_assert(givesTensors, "compile(f): f has to return void, a Tensor, or a std::vector, array, pair, tuple or "
                                "optional of Tensors; a number of the host would stay what it was while recording");
    if constexpr (givesTensors) {
      using Result = typename Results::Type;
      std::vector<frontend::FlatCall> calls(given.size());
      for (size_t i = 0; i < given.size(); ++i) {
        calls[i].ends.resize(std::tuple_size_v<Given>);
        flatten(given[i], calls[i].arguments, calls[i].ends.data());
        calls[i].body = bodyOf<Result>(given[i], calls[i].structure);
      }
      std::vector<std::vector<Tensor>> all = core->callTogether(calls);
      if constexpr (!std::is_void_v<Result>) {
        std::vector<Result> results;
        for (size_t i = 0; i < all.size(); ++i) results.push_back(resultOf<Result>(calls[i].structure, all[i]));
        return results;
      }
    } else {
      return Tensor();
    }
  }

  std::shared_ptr<F> f;
  std::shared_ptr<frontend::FunctionCore> core;
};

/// f, compiled: for a lambda, a function or a module. It is recorded at the first call and for every new kind of
/// arguments (element types, shapes, numbers), and where something that it read on the host has changed that it can
/// tell (a layer's mode, a frozen parameter, an optimizer's schedule: docs/tracing.md); each time after the first is
/// reported with its reason. The second call of each recording records once more, and refuses (usage) what it captured
/// as a constant and has changed, with the line, the old and the new value: checkTraces().
template <typename F>
  requires(!std::is_convertible_v<F, Model>)
Function<std::decay_t<F>> compile(F &&f, FunctionOptions options = {}, Source at = Source::here()) {
  using Body = std::decay_t<F>;
  static_assert(std::is_class_v<Body> || std::is_function_v<std::remove_pointer_t<Body>>,
                "compile(f): f is no function, lambda or object with operator()");
  static_assert(frontend::Signature<Body>::givesTensors,
                "compile(f): f has to return void, a Tensor, or a std::vector, array, pair, tuple or optional of "
                "Tensors; a number of the host would stay what it was while recording");
  static_assert(!frontend::Signature<Body>::changesArguments,
                "compile(f): f takes an argument by reference to change it; it has to take it by value or by const "
                "reference, and return what is new");
  return {std::forward<F>(f), std::move(options), at};
}

/// Returns when all that was recorded has run; throws the first failure that nothing has read yet.
SPRIG_API void synchronize();
/// How many segments and calls may be in flight before recording waits; 32 at first.
SPRIG_API void setMaxInFlight(int count);
SPRIG_API int maxInFlight();

} // namespace sprig
