// Arguments and results of compiled functions: a flat list of their tensors, and beside it, exactly, what else they
// hold (numbers of the host, lengths, what is left out), which a compiled function is recorded for.
// For sprig/function.h and sprig/package.h.
#pragma once
#include "sprig/tensor.h"
#include <array>
#include <bit>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>

namespace sprig {

/// An axis of a tensor argument whose length calls choose: of which tensor, counted over all arguments.
struct GrowingAxis {
  size_t tensor = 0;
  int axis = 0;
};

} // namespace sprig

namespace sprig::frontend {

/// Something of an argument that is no tensor.
struct HostItem {
  enum class Kind : uint8_t { boolean, integer, natural, real, text, length, presence };
  Kind kind;
  uint8_t width = 0;     ///< bytes of a number
  uint16_t argument = 0; ///< which one it belongs to
  uint32_t position = 0; ///< tensors in front of it
  uint64_t bits = 0;     ///< of a number (a real one as f64), a length, or 1 for what is there
  std::string words = {};
  friend bool operator==(const HostItem &, const HostItem &) = default;
};

/// What a call is given, or gives.
struct FlatValues {
  std::vector<Tensor> tensors;
  std::vector<HostItem> host;
  uint16_t argument = 0; ///< the one that is being flattened

  void add(HostItem::Kind kind, uint64_t bits, size_t width = 0) {
    host.push_back({kind, uint8_t(width), argument, uint32_t(tensors.size()), bits});
  }
};

/// Numbers that a call may have as arguments: what has at most 64 bits.
template <typename T>
concept HostNumber = (std::is_arithmetic_v<T> || std::is_enum_v<T>) && sizeof(T) <= 8;

/// What may be an argument: tensors, numbers, shapes, texts, and containers of them.
template <typename T> struct IsArgument : std::bool_constant<HostNumber<T> || std::is_base_of_v<Shape, T>> {};
template <> struct IsArgument<Tensor> : std::true_type {};
template <> struct IsArgument<std::string> : std::true_type {};
/// What may be a result: tensors (and what converts to one), and containers of them.
template <typename T> struct IsResult : std::is_convertible<T, Tensor> {};
template <> struct IsResult<void> : std::true_type {};

#define SPRIG_CONTAINER(trait)                                                                                         \
  template <typename T> struct trait<std::vector<T>> : trait<T> {};                                                    \
  template <typename T> struct trait<std::optional<T>> : trait<T> {};                                                  \
  template <typename T, size_t N> struct trait<std::array<T, N>> : trait<T> {};                                        \
  template <typename... T> struct trait<std::tuple<T...>> : std::bool_constant<(trait<T>::value && ...)> {};           \
  template <typename A, typename B>                                                                                    \
  struct trait<std::pair<A, B>> : std::bool_constant<trait<A>::value && trait<B>::value> {};
SPRIG_CONTAINER(IsArgument)
SPRIG_CONTAINER(IsResult)
#undef SPRIG_CONTAINER

// Every overload is declared before any is defined: containers hold containers.
template <HostNumber T> void flatten(T number, FlatValues &to);
template <typename T> void flatten(const std::vector<T> &items, FlatValues &to);
template <typename T> void flatten(const std::optional<T> &item, FlatValues &to);
template <typename T, size_t N> void flatten(const std::array<T, N> &items, FlatValues &to);
template <typename... T> void flatten(const std::tuple<T...> &items, FlatValues &to);
template <typename A, typename B> void flatten(const std::pair<A, B> &items, FlatValues &to);

/// A tensor that holds nothing is no element of the list.
inline void flatten(const Tensor &tensor, FlatValues &to) {
  if (tensor.defined())
    to.tensors.push_back(tensor);
  else
    to.add(HostItem::Kind::presence, 0);
}
inline void flatten(const std::string &words, FlatValues &to) {
  to.add(HostItem::Kind::text, words.size());
  to.host.back().words = words;
}
inline void flatten(const Shape &shape, FlatValues &to) {
  to.add(HostItem::Kind::length, shape.size());
  for (int64_t n : shape) to.add(HostItem::Kind::integer, uint64_t(n), sizeof n);
}
template <HostNumber T> void flatten(T number, FlatValues &to) {
  using Kind = HostItem::Kind;
  if constexpr (std::is_enum_v<T>)
    flatten(static_cast<std::underlying_type_t<T>>(number), to);
  else if constexpr (std::is_same_v<T, bool>)
    to.add(Kind::boolean, number);
  else if constexpr (std::is_floating_point_v<T>)
    to.add(Kind::real, std::bit_cast<uint64_t>(double(number)), sizeof number);
  else
    to.add(std::is_signed_v<T> ? Kind::integer : Kind::natural, uint64_t(int64_t(number)), sizeof number);
}
template <typename T> void flatten(const std::vector<T> &items, FlatValues &to) {
  to.add(HostItem::Kind::length, items.size());
  for (const T &item : items) flatten(item, to);
}
template <typename T> void flatten(const std::optional<T> &item, FlatValues &to) {
  to.add(HostItem::Kind::presence, item.has_value());
  if (item) flatten(*item, to);
}
template <typename T, size_t N> void flatten(const std::array<T, N> &items, FlatValues &to) {
  for (const T &item : items) flatten(item, to);
}
template <typename... T> void flatten(const std::tuple<T...> &items, FlatValues &to) {
  std::apply([&](const auto &...item) { (flatten(item, to), ...); }, items);
}
template <typename A, typename B> void flatten(const std::pair<A, B> &items, FlatValues &to) {
  flatten(items.first, to);
  flatten(items.second, to);
}

// The same structure as `like`, with the tensors of a list from `next` on.
template <typename T> std::vector<T> unflatten(const std::vector<T> &like, std::span<const Tensor> list, size_t &next);
template <typename T>
std::optional<T> unflatten(const std::optional<T> &like, std::span<const Tensor> list, size_t &next);
template <typename T, size_t N>
std::array<T, N> unflatten(const std::array<T, N> &like, std::span<const Tensor> list, size_t &next);
template <typename... T>
std::tuple<T...> unflatten(const std::tuple<T...> &like, std::span<const Tensor> list, size_t &next);
template <typename A, typename B>
std::pair<A, B> unflatten(const std::pair<A, B> &like, std::span<const Tensor> list, size_t &next);

inline Tensor unflatten(const Tensor &like, std::span<const Tensor> list, size_t &next) {
  return like.defined() ? list[next++] : Tensor();
}
/// Shapes, texts and numbers stay.
template <typename T>
  requires(HostNumber<T> || std::is_base_of_v<Shape, T> || std::is_same_v<T, std::string>)
T unflatten(const T &like, std::span<const Tensor>, size_t &) {
  return like;
}
template <typename T> std::vector<T> unflatten(const std::vector<T> &like, std::span<const Tensor> list, size_t &next) {
  std::vector<T> items;
  items.reserve(like.size());
  for (const T &item : like) items.push_back(unflatten(item, list, next));
  return items;
}
template <typename T>
std::optional<T> unflatten(const std::optional<T> &like, std::span<const Tensor> list, size_t &next) {
  if (!like) return std::nullopt;
  return unflatten(*like, list, next);
}
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

/// An argument as it is kept: what converts to a tensor as one, texts as std::string.
template <typename T> auto asArgument(const T &value) {
  if constexpr (IsArgument<T>::value)
    return value;
  else if constexpr (std::is_convertible_v<const T &, Tensor>)
    return Tensor(value);
  else if constexpr (std::is_convertible_v<const T &, std::string>)
    return std::string(value);
  else
    return value; // refused where it is used
}

} // namespace sprig::frontend
