// Packages from functions: save what was written in C++ as a .sprig file, load one and call its functions.
// For programs. A saved function runs without a compiler through sprig/rt, by `sprig run`, or through load() here; its
// results are the same bits as those of the function.
//
//   sprig::save("net.sprig", net, {{DType::f32, {-1, 784}}}, {.batches = {1, 8, 64}});
//   sprig::Package package = sprig::load("net.sprig");
//   Tensor y = package(x);
#pragma once
#include "sprig/function.h"
#include "sprig/options.h"
#include <concepts>
#include <map>

namespace sprig::dist {
class Group;
}

namespace sprig {

struct SaveOptions {
  /// Values of a size of -1 in inputs: one entry of the package each. Calls with other batches are split or padded
  /// where samples are independent.
  std::vector<int64_t> batches = {1};
  /// Names of inputs and outputs; what is not named is called input0, output0, ...
  std::vector<std::string> inputs = {}, outputs = {};
  /// Whether layers may be in training mode in a function that trains nothing: dropout draws, batch norms set their
  /// statistics at every call. Without it that is an error (usage) that asks for eval().
  bool training = false;
};

/// A package that is being put together: several functions that share the parameters they use.
class SPRIG_API PackageBuilder {
public:
  PackageBuilder();
  ~PackageBuilder();
  PackageBuilder(PackageBuilder &&) noexcept;

  /// Records f on inputs of these types, for each batch size. Parameters that any function sets are state, which runs
  /// update; when none sets one, they are constants of an inference-only package.
  template <typename F>
  PackageBuilder &add(const std::string &name, const F &f, const std::vector<TensorType> &inputs,
                      const SaveOptions &options = {}, Source at = Source::here()) {
    return addBody(name, bodyOf(f, inputs.size(), "save", at), inputs, options, at);
  }
  /// By default for x86-64-v3 and -v4, with the bits of the recorded functions; MathMode::fast lets an inference-only
  /// package fold batch norms and use Winograd's convolutions.
  std::vector<uint8_t> bytes(const CompileOptions &options = portable(), Source at = Source::here());
  /// The file appears whole or not at all.
  void save(const std::string &path, const CompileOptions &options = portable(), Source at = Source::here());
  static CompileOptions portable();

  using Body = frontend::FunctionCore::Body;
  PackageBuilder &addBody(const std::string &name, const Body &body, const std::vector<TensorType> &inputs,
                          const SaveOptions &options, Source at);
  /// f as a function of a list of `count` tensors; `caller` stands in the error where it takes another number.
  template <typename F> static Body bodyOf(const F &f, size_t count, const char *caller, Source at) {
    Body body = bodyOf(f, std::make_index_sequence<kMostInputs>(), count, at);
    if (!body) refuseInputs(count, caller, at);
    return body;
  }

  /// What compile() gave is saved as the function that it was made of.
  template <typename F> static Body bodyOf(const Function<F> &f, size_t count, const char *caller, Source at) {
    return bodyOf(f.body(), count, caller, at);
  }

private:
  static constexpr size_t kMostInputs = 8;
  [[noreturn]] static void refuseInputs(size_t given, const char *caller, Source at);
  template <typename F, size_t... N>
  static Body bodyOf(const F &f, std::index_sequence<N...>, size_t count, Source at) {
    Body body;
    // The number of inputs that f takes and the number of types must be the same.
    ((N + 1 == count ? void(body = bodyFor(f, std::make_index_sequence<N + 1>(), at)) : void()), ...);
    return body;
  }
  template <typename F, size_t... I> static Body bodyFor(const F &f, std::index_sequence<I...>, Source at) {
    auto flat = [](const auto &call) {
      using Result = std::remove_cvref_t<decltype(call())>;
      static_assert(frontend::IsResult<Result>::value,
                    "save: the function has to return void, a Tensor, or a std::vector, array, pair, tuple or optional "
                    "of Tensors");
      frontend::FlatValues list;
      if constexpr (std::is_void_v<Result>)
        call();
      else if constexpr (std::is_convertible_v<Result, Tensor>)
        frontend::flatten(Tensor(call()), list);
      else
        frontend::flatten(call(), list);
      // Outputs of a package have numbers: none may be left out.
      for (const frontend::HostItem &item : list.host)
        if (item.kind == frontend::HostItem::Kind::presence && !item.bits) return std::vector<Tensor>{Tensor()};
      return list.tensors;
    };
    // A copy of its own, which its operator() may change: lambdas may be mutable.
    auto own = std::make_shared<std::decay_t<F>>(f);
    // A layer is told the caller's line; a function of tensors has lines of its own.
    if constexpr (requires { &F::operator(); }) {
      if constexpr (requires(const Operand &x) { (*own)((void(I), x)...); })
        return
            [own, flat, at](std::span<const Tensor> v) { return flat([&] { return (*own)(Operand(v[I], at)...); }); };
    }
    if constexpr (requires(std::span<const Tensor> v) { (*own)(v[I]...); })
      return [own, flat](std::span<const Tensor> v) { return flat([&] { return (*own)(v[I]...); }); };
    return {};
  }

  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// One function, called "main".
template <typename F>
void save(const std::string &path, const F &f, const std::vector<TensorType> &inputs, const SaveOptions &options = {},
          Source at = Source::here()) {
  PackageBuilder builder;
  builder.add("main", f, inputs, options, at);
  builder.save(path, PackageBuilder::portable(), at);
}

/// What a package's function is called with, and the caller's line: a tensor, a parameter's value, or a number, which
/// becomes a scalar of its C++ type.
class PackageInput {
public:
  PackageInput(const Tensor &tensor, Source at = Source::here()) : tensor(tensor), at(at) {}
  PackageInput(const Parameter &parameter, Source at = Source::here()) : tensor(parameter), at(at) {}
  template <typename T>
    requires std::is_arithmetic_v<T>
  PackageInput(T number, Source at = Source::here()) : tensor(number), at(at) {}
  Tensor tensor;
  Source at;
};

/// A loaded package with its state. Calls are queued like everything else that is recorded.
class SPRIG_API Package {
public:
  /// Names of the functions.
  std::vector<std::string> functions(Source at = Source::here()) const;
  /// Calls a function; for "main" there is operator().
  std::vector<Tensor> call(const std::string &function, std::span<const Tensor> inputs,
                           Source at = Source::here()) const;
  /// The first output of "main".
  template <std::convertible_to<PackageInput>... More>
  Tensor operator()(const PackageInput &first, const More &...more) const {
    const Tensor list[] = {first.tensor, PackageInput(more, first.at).tensor...};
    return callMain(list, first.at);
  }
  Tensor operator()(Source at = Source::here()) const { return callMain({}, at); }
  /// Which rank it is called as, where it has functions of several ranks (`sprig compile --mesh data=2`): this
  /// thread's, of a group that lives as long as it is called. Every rank loads it, joins and makes the same calls, each
  /// with its own share of the samples; a call is a collective and has its place among those of the rank.
  void join(const dist::Group &group, Source at = Source::here());
  /// How many ranks call a function together; 1: it stands alone.
  int ranks(const std::string &function = "main", Source at = Source::here()) const;
  /// Names of its states, and a copy of one's value.
  std::vector<std::string> states(Source at = Source::here()) const;
  Tensor state(const std::string &name, Source at = Source::here()) const;

private:
  friend Package load(const std::string &path);
  friend Package loadBytes(std::span<const uint8_t> bytes, const std::string &name);
  Tensor callMain(std::span<const Tensor> inputs, Source at) const;
  struct Impl;
  std::shared_ptr<Impl> impl;
};

/// Throws sprig::Error (badInput) that names the file for one that is missing, damaged or of another version.
SPRIG_API Package load(const std::string &path);
SPRIG_API Package loadBytes(std::span<const uint8_t> bytes, const std::string &name = "package in memory");

} // namespace sprig
