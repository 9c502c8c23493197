// A list that is made once and is mostly short: without an allocation up to N elements.
// For the operands and results of recorded operations. Elements are trivially destructible.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

namespace sprig::frontend {

template <typename T, uint32_t N> class Few {
  static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_copyable_v<T>);

public:
  Few() {}
  ~Few() {
    if (capacity > N) ::operator delete(many);
  }
  Few(const Few &) = delete;
  Few &operator=(const Few &) = delete;

  /// Room for that many; before the first element.
  void reserve(size_t most) {
    if (most <= N) return;
    many = static_cast<T *>(::operator new(most * sizeof(T)));
    capacity = uint32_t(most);
  }
  void push_back(const T &element) { std::construct_at(begin() + number++, element); }
  void assign(std::span<const T> elements) {
    reserve(elements.size());
    for (const T &element : elements) push_back(element);
  }
  void clear() { number = 0; }

  size_t size() const { return number; }
  bool empty() const { return number == 0; }
  T *begin() { return capacity > N ? many : reinterpret_cast<T *>(few); }
  T *end() { return begin() + number; }
  const T *begin() const { return capacity > N ? many : reinterpret_cast<const T *>(few); }
  const T *end() const { return begin() + number; }
  T &operator[](size_t i) { return begin()[i]; }
  const T &operator[](size_t i) const { return begin()[i]; }
  operator std::span<const T>() const { return {begin(), number}; }

private:
  union {
    alignas(T) char few[N * sizeof(T)];
    T *many;
  };
  uint32_t number = 0, capacity = N;
};

} // namespace sprig::frontend
