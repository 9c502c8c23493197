// Modules of modules: one after the other, in a list, by name. For programs.
// Children are named "0", "1", ... unless they get names; copies of a container share its children. They are what
// operator[], get and iterators give: list[0] = nn::Linear(8, 3) and sequential.replace("0", nn::GELU()) put others in
// their place; handles that were appended, and their copies, are no members.
#pragma once
#include "sprig/nn/module.h"
#include <memory>

namespace sprig::nn {

/// A function of one tensor as a module without parameters: what Sequential makes of lambdas and of relu.
template <typename F> class Function : public Module {
public:
  explicit Function(F f) : f(std::move(f)) {}
  Tensor operator()(const Operand &x) const {
    Scope in = enter();
    if constexpr (TakesOperand<F>)
      return f(x);
    else
      return f(x.tensor);
  }
  std::string typeName() const override { return "Function"; }

private:
  F f;
};

/// What can stand in a Sequential: modules, functions and lambdas that take one tensor and give one.
template <typename L>
concept Layer = std::derived_from<L, Module> || TakesOperand<L> || TakesTensor<L>;

/// Which child, and the caller's line: the arguments of operator[].
struct ChildNumber {
  template <std::integral T> ChildNumber(T number, Source at = Source::here()) : number(size_t(number)), at(at) {}
  size_t number;
  Source at;
};
struct ChildName {
  template <std::convertible_to<std::string> T>
  ChildName(const T &name, Source at = Source::here()) : name(name), at(at) {}
  std::string name;
  Source at;
};

/// Calls its children one after the other: Sequential(Linear(784, 256), ReLU(), Linear(256, 10)).
class SPRIG_API Sequential : public Module {
public:
  Sequential() = default;
  template <typename... Layers>
    requires(sizeof...(Layers) > 0 && (Layer<std::decay_t<Layers>> && ...) &&
             !(sizeof...(Layers) == 1 && (std::same_as<std::decay_t<Layers>, Sequential> && ...)))
  explicit Sequential(Layers &&...layers) {
    (append(layers, Source()), ...);
  }

  /// Adds a layer after the others, under its number.
  template <typename L> Sequential &append(const L &layer, Source at = Source::here()) {
    return add(std::to_string(size()), layer, at);
  }
  /// Adds a layer after the others (PyTorch's add_module).
  template <typename L> Sequential &add(const std::string &name, const L &layer, Source at = Source::here()) {
    if constexpr (std::derived_from<L, Module>) {
      static_assert(TakesOperand<L> || TakesTensor<L>, "a layer of a Sequential takes one tensor and gives one");
      attach(name, std::make_shared<L>(layer), classOf<L>(), at);
    } else {
      using F = Function<std::decay_t<L>>;
      attach(name, std::make_shared<F>(layer), classOf<F>(), at);
    }
    return *this;
  }

  Tensor operator()(const Operand &x) const;
  bool runsHooks() const override { return true; }
  size_t size() const { return childCount(); }
  Module &operator[](const ChildNumber &child) const { return childAt(child.number, child.at); }
};

/// Modules of one class under numbers: for blocks that a loop calls.
template <std::derived_from<Module> M> class ModuleList : public Module {
public:
  ModuleList() { holdOnly<M>(); }
  ModuleList(std::initializer_list<M> modules, Source at = Source::here()) : ModuleList() {
    for (const M &module : modules) append(module, at);
  }
  M append(const M &module, Source at = Source::here()) {
    attach(std::to_string(size()), std::make_shared<M>(module), classOf<M>(), at);
    return module;
  }
  size_t size() const { return childCount(); }
  M &operator[](const ChildNumber &child) const { return static_cast<M &>(childAt(child.number, child.at)); }

  class Iterator {
  public:
    Iterator(const ModuleList *list, size_t index) : list(list), index(index) {}
    M &operator*() const { return (*list)[{index, Source()}]; }
    Iterator &operator++() {
      ++index;
      return *this;
    }
    bool operator!=(const Iterator &other) const { return index != other.index; }

  private:
    const ModuleList *list;
    size_t index;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size()}; }
  std::string typeName() const override { return "ModuleList"; }
};

/// Modules of one class by name.
template <std::derived_from<Module> M> class ModuleDict : public Module {
public:
  ModuleDict() { holdOnly<M>(); }
  ModuleDict(std::initializer_list<std::pair<std::string, M>> modules, Source at = Source::here()) : ModuleDict() {
    for (auto &[name, module] : modules) add(name, module, at);
  }
  size_t size() const { return childCount(); }
  M &operator[](const ChildName &child) const { return static_cast<M &>(childNamed(child.name, child.at)); }
  bool contains(const std::string &name) {
    return name.find('.') == std::string::npos && !name.empty() && find(name) != nullptr;
  }
  std::string typeName() const override { return "ModuleDict"; }
};

} // namespace sprig::nn
