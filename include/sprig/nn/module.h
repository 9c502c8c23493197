// Modules: trees of layers with named parameters, PyTorch's way, as value handles.
// For programs that write networks. A module is a handle: copies share parameters, children and mode; nn::clone makes a
// deep copy. Children and parameters are registered by name, and their dotted paths ("encoder.0.weight") are the names
// of the state dict, of errors, of profiles and of `sprig inspect`. A member that add() gave (`net.head`) is the
// module's: what is assigned to it is registered in the old one's place.
#pragma once
#include "sprig/init.h"
#include "sprig/nn/state.h"
#include "sprig/tensor.h"
#include <concepts>
#include <functional>
#include <string>
#include <type_traits>

namespace sprig::nn {

/// The element type of the parameters and statistics of modules that this thread makes from now on (PyTorch's
/// set_default_dtype); f32 at first. Floats only.
SPRIG_API void setDefaultDType(DType type, Source at = Source::here());
SPRIG_API DType defaultDType();

/// Makes a parameter's value: at construction, and again in resetParameters().
using Initializer = std::function<Tensor(const TensorType &)>;

class Module;

/// What a layer calls behind itself, with its first input and its output: a tensor that it gives takes the output's
/// place, none leaves it.
using ForwardHook = std::function<Tensor(const Module &, const Tensor &input, const Tensor &output)>;
/// Of one hook, also when the module is gone. A handle: copies are of the same hook.
class SPRIG_API HookHandle {
public:
  HookHandle() = default;
  /// It is called no more. Without effect the second time.
  void remove() const;

private:
  friend class Module;
  std::weak_ptr<void> state;
  uint64_t id = 0;
};

/// Something that takes one tensor and gives one; with `Operand` it learns the caller's line.
template <typename F>
concept TakesOperand = requires(const F &f, const Operand &x) {
  { f(x) } -> std::convertible_to<Tensor>;
};
template <typename F>
concept TakesTensor = requires(const F &f, const Tensor &x) {
  { f(x) } -> std::convertible_to<Tensor>;
};

/// For the library: what is known of a child's C++ class.
struct ModuleClass {
  std::shared_ptr<Module> (*copy)(const Module &);
  Tensor (*call)(const Module &, const Operand &); ///< null where it does not take one tensor and give one
  void (*assign)(Module &to, const Module &from);  ///< both of the class; null where it cannot be assigned
  bool (*is)(const Module &);                      ///< whether it is of this class
};

/// Operations that are recorded while it lives belong to the module (Module::enter).
class SPRIG_API Scope {
public:
  explicit Scope(const std::string *path);
  ~Scope();
  Scope(const Scope &) = delete;
  Scope &operator=(const Scope &) = delete;

private:
  alignas(void *) unsigned char inside[sizeof(void *)]; // a frontend::LayerScope, without its header
  bool active;
};

/// Derive from it, and write operator():
///
///     struct Net : nn::Module {
///       nn::Linear a = add("a", nn::Linear(784, 256)), b = add("b", nn::Linear(256, 10));
///       Tensor operator()(Tensor x) const { return b(relu(a(x))); }
///     };
class SPRIG_API Module {
public:
  Module();
  Module(const Module &other); ///< shares everything
  virtual ~Module();

  // Building. A name that is there already, is empty or has a dot is an error (usage).

  /// Registers a child; returns a handle to it, which is to be a member, as is what it is assigned to. Where the result
  /// is not used, `module` itself is the member: add("head", head).
  template <typename M>
    requires std::derived_from<std::remove_cvref_t<M>, Module>
  std::remove_cvref_t<M> add(const std::string &name, M &&module, Source at = Source::here()) {
    using Class = std::remove_cvref_t<M>;
    const Class &given = module;
    attach(name, std::make_shared<Class>(given), classOf<Class>(), at);
    Joining joining(*this, name, given, std::is_lvalue_reference_v<M>);
    return given;
  }
  /// A trainable parameter with this value; resetParameters() sets it again.
  Parameter addParameter(const std::string &name, const Tensor &initial, Source at = Source::here());
  /// A trainable parameter whose value the initializer makes (init.h); resetParameters() calls it again.
  Parameter addParameter(const std::string &name, const Shape &shape, Initializer initializer,
                         Source at = Source::here());
  /// A parameter that is another module's too (tied weights).
  Parameter addParameter(const std::string &name, const Parameter &shared, Source at = Source::here());
  /// None yet, for an optional member: `bias = reserveParameter("bias")`. Parameters that are assigned to it, or added
  /// under its name, are registered.
  Parameter reserveParameter(const std::string &name, Source at = Source::here());
  /// State that no gradient changes: running statistics, tables. `persistent`: whether the state dict has it.
  Parameter addBuffer(const std::string &name, const Tensor &initial, bool persistent = true,
                      Source at = Source::here());

  // Changing what is there. An error (usage) where there is nothing of that name, or where it cannot hold what is
  // given; then nothing was changed. Optimizers that hold what was there say so at their next step, and compiled
  // functions are recorded anew. Mode and gradients are those of what is given.

  /// Registers another child at a dotted path, in the module and in the members of all its handles: net.replace("head",
  /// nn::Linear(8, 3)) is net.head = nn::Linear(8, 3). A child of another class is possible where no member holds it,
  /// as in a Sequential. References to the old one (operator[], get) end where the class is another.
  template <std::derived_from<Module> M>
  void replace(const std::string &path, const M &module, Source at = Source::here()) {
    replaceAt(path, module, classOf<M>(), at);
  }
  /// The parameter or buffer at a dotted path is `shared` from now on, of the same type: net.tie("head.weight",
  /// net.embedding.weight) is net.head.weight = net.embedding.weight. parameters() and optimizers have it once, state
  /// dicts and files under both names.
  void tie(const std::string &path, const Parameter &shared, Source at = Source::here());

  // The tree.

  /// All trainable and frozen parameters, each once: the module's own, then those of its children, in order.
  std::vector<Parameter> parameters() const;
  std::vector<std::pair<std::string, Parameter>> namedParameters() const;
  std::vector<Parameter> buffers() const;
  std::vector<std::pair<std::string, Parameter>> namedBuffers() const;
  /// This module (name "") and all below it, each once, parents first.
  std::vector<std::pair<std::string, Module *>> namedModules();
  std::vector<Module *> modules();
  std::vector<std::pair<std::string, Module *>> namedChildren() const;
  /// The module at a dotted path; null where there is none.
  Module *find(const std::string &path);
  /// The same as the layer that it is; an error (usage) where there is none or it is another.
  template <std::derived_from<Module> M> M &get(const std::string &path, Source at = Source::here()) {
    Module *module = find(path);
    M *result = dynamic_cast<M *>(module);
    if (!result) refuseGet(path, module, at);
    return *result;
  }
  /// This module as the layer that it is, or null: for apply().
  template <std::derived_from<Module> M> M *as() { return dynamic_cast<M *>(this); }
  /// Calls f on every module below this one, then on this one (PyTorch's order).
  void apply(const std::function<void(Module &)> &f);
  /// Elements of all parameters.
  int64_t numParameters() const;

  // Mode and state.

  /// Moves parameters and buffers, of this module and all below it, to a device, where its operations run from then on.
  /// They stay what they are: optimizers and averages that have them move their own state at the next update, compiled
  /// functions are compiled anew. Returns when all is there; `nonBlocking`: at once. Inputs are moved by Tensor::to.
  void to(const Device &device, bool nonBlocking = false, Source at = Source::here()) const;
  /// Parameters and buffers that are floats become floats of this type, of this module and all below it; integers stay.
  /// They are other parameters then, as after an assignment: members, ties, names, modes and what resetParameters()
  /// draws stay, compiled functions are recorded anew, gradients are gone. An optimizer or average that has the old
  /// ones says so at its next update; make it of what is there. An error (usage) where a parameter is shared with a
  /// module that is not below this one and made it.
  void to(DType type, Source at = Source::here()) const;
  /// Training mode, of this module and all below it: dropout drops, batch norms take the batch's statistics. The mode
  /// that a module starts in.
  void train(bool on = true) const;
  void eval() const { train(false); }
  bool isTraining() const;
  /// Whether the parameters are roots for gradients (PyTorch's requires_grad_).
  void requiresGrad(bool on = true, Source at = Source::here()) const;
  void freeze(Source at = Source::here()) const { requiresGrad(false, at); }
  void zeroGrad(Source at = Source::here()) const;
  /// Draws all parameters anew and sets all buffers back: the state of a module that was just made.
  void resetParameters(Source at = Source::here()) const;

  /// Parameters and persistent buffers by dotted name: a snapshot, later updates do not change it.
  StateDict stateDict() const;
  /// Sets parameters and buffers by name; floats of other widths are converted. What is missing, unexpected or of
  /// another shape is one error (badInput) that lists all of it with both shapes; then nothing was changed.
  /// `strict = false` lets names differ, not shapes.
  LoadReport loadStateDict(const StateDict &state, bool strict = true, Source at = Source::here()) const;
  /// The state dict as a file: .safetensors (PyTorch's names) or .npz.
  void save(const std::filesystem::path &path, Source at = Source::here()) const;
  LoadReport load(const std::filesystem::path &path, bool strict = true, Source at = Source::here()) const;

  // Hooks.

  /// Calls f behind each call of this layer, in the order of registration (PyTorch's register_forward_hook). Operations
  /// that f records belong to the layer. In a compiled function hooks run while it is recorded: what they compute is
  /// part of the program, what they do otherwise happens then. A hook that comes or goes has functions recorded once
  /// more. Copies by nn::clone have the hooks. An error (usage) where the layer runs none: runsHooks().
  HookHandle registerForwardHook(ForwardHook f, Source at = Source::here()) const;
  /// The same of a function that gives nothing.
  template <typename F>
    requires std::is_void_v<std::invoke_result_t<F &, const Module &, const Tensor &, const Tensor &>>
  HookHandle registerForwardHook(F f, Source at = Source::here()) const {
    return registerForwardHook(
        ForwardHook([f = std::move(f)](const Module &module, const Tensor &input, const Tensor &output) mutable {
          f(module, input, output);
          return Tensor();
        }),
        at);
  }
  /// Whether operator() runs hooks: layers of the library that give one tensor do, but attention and recurrent ones. A
  /// class of yours says so, and gives what it has computed by `return hooked(x, y);`.
  virtual bool runsHooks() const { return false; }

  // Text and names.

  /// The tree, as PyTorch prints it.
  std::string text() const;
  /// "Linear": the C++ class, without namespaces.
  virtual std::string typeName() const;
  /// What stands in the brackets: "in_features=784, out_features=256, bias=True".
  virtual std::string extra() const { return ""; }
  /// The dotted path that this module was added under last; "" for a root.
  const std::string &path() const;
  /// In operator(): operations from here to the end of the block belong to this module. Layers of the library and
  /// children of containers do it by themselves.
  [[nodiscard]] Scope enter() const;

  /// Whether two handles stand for the same module.
  bool same(const Module &other) const { return state == other.state; }

  struct State; ///< lib/Frontend/Layers/ModuleState.h
  State &rawState() const { return *state; }
  std::weak_ptr<State> weakState() const { return state; }

protected:
  /// Of the classes, as whole modules. A member is registered in the old one's place; throws Error (usage) where that
  /// cannot be.
  Module &operator=(const Module &other);

  template <typename M> static const ModuleClass *classOf() {
    static constexpr ModuleClass row = {
        [](const Module &m) -> std::shared_ptr<Module> { return std::make_shared<M>(static_cast<const M &>(m)); },
        callOf<M>(), assignOf<M>(), [](const Module &m) { return dynamic_cast<const M *>(&m) != nullptr; }};
    return &row;
  }
  void attach(const std::string &name, std::shared_ptr<Module> child, const ModuleClass *type, Source at) const;
  /// Children must be of this class: of lists that hand them out as such.
  template <typename M> void holdOnly() { setElement(classOf<M>()); }
  size_t childCount() const;
  Module &childAt(size_t index, Source at) const;
  Module &childNamed(const std::string &name, Source at) const;
  const std::string &childName(size_t index) const;
  /// The output, as the hooks make it.
  Tensor hooked(const Operand &input, const Tensor &output) const;
  /// A child's operator(), in its scope; an error where it takes other arguments.
  Tensor callChild(size_t index, const Operand &x) const;
  /// The interned path for frontend::LayerScope; null for a root.
  const std::string *scope() const;

private:
  template <typename M> static constexpr auto callOf() -> Tensor (*)(const Module &, const Operand &) {
    if constexpr (TakesOperand<M>)
      return [](const Module &m, const Operand &x) -> Tensor { return static_cast<const M &>(m)(x); };
    else if constexpr (TakesTensor<M>)
      return [](const Module &m, const Operand &x) -> Tensor { return static_cast<const M &>(m)(x.tensor); };
    else
      return nullptr;
  }
  template <typename M> static constexpr auto assignOf() -> void (*)(Module &, const Module &) {
    if constexpr (std::is_copy_assignable_v<M>)
      return [](Module &to, const Module &from) { static_cast<M &>(to) = static_cast<const M &>(from); };
    else
      return nullptr;
  }
  [[noreturn]] static void refuseGet(const std::string &path, Module *found, Source at);
  void setElement(const ModuleClass *type);
  void replaceAt(const std::string &path, const Module &module, const ModuleClass *type, Source at);
  void noteCopyOf(const Module &other);
  void disown(const Module *next);

  /// While it lives, the next copy of `module` is the member of `owner` that has been added under this name.
  class SPRIG_API Joining {
  public:
    Joining(Module &owner, const std::string &name, const Module &module, bool isLvalue);
    ~Joining();
    Joining(const Joining &) = delete;
    Joining &operator=(const Joining &) = delete;

  private:
    friend class Module;
    Module &owner;
    const std::string &name;
    const Module &module;
    bool isLvalue;
    Joining *outer;
  };

  friend struct ModuleAccess;
  std::shared_ptr<State> state;
  frontend::Place *place = nullptr; ///< of a member: where it is registered (lib/Frontend/Layers/Members.h)
  // The latest copy of this handle object and what this one is a copy of, while they live; and when that copy was made.
  mutable Module *lastCopy = nullptr;
  Module *original = nullptr;
  mutable uint64_t copied = 0;
};

SPRIG_API std::ostream &operator<<(std::ostream &out, const Module &module);

/// A deep copy: parameters, buffers and children of its own with the values of now; modes and names stay.
template <std::derived_from<Module> M> M clone(const M &module);

/// For nn::clone: while it lives on a thread, copies of modules and parameters there are new ones.
class SPRIG_API CloneScope {
public:
  CloneScope();
  ~CloneScope();
  CloneScope(const CloneScope &) = delete;
  CloneScope &operator=(const CloneScope &) = delete;
};

template <std::derived_from<Module> M> M clone(const M &module) {
  CloneScope scope;
  return M(module);
}

} // namespace sprig::nn
