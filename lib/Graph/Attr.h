// Names and attributes of recorded operations: small, trivially copied, compared in nanoseconds.
// For the recorder and for what executes or lowers what it recorded.
#pragma once
#include "sprig/dtype.h"
#include <cstring>
#include <string>
#include <vector>

namespace sprig::graph {

/// An operation of the nn dialect, by its full name; one object for each name in the process.
struct OpName {
  std::string text; ///< "nn.add"
  uint64_t hash = 0;
};
const OpName &opName(std::string_view text);
/// One copy of each text in the process, for attributes, layers and files.
const std::string &intern(std::string_view text);

struct Attr {
  enum class Kind : uint8_t {
    unit,     ///< present
    boolean,  ///< integer: 0 or 1
    integer,  ///< i64
    real,     ///< f64
    integers, ///< array of at most eight i64
    word,     ///< an enumeration of the dialect: "reduce_kind sum" is #nn<reduce_kind sum>
    other,    ///< anything else, as MLIR prints it
  };
  const char *name = nullptr; ///< interned, or of static storage
  Kind kind = Kind::unit;
  union {
    int64_t integer;
    double real;
    const char *text; ///< word, other: interned, or of static storage
  };
  Shape integers;

  static Attr unit(const char *name) { return Attr(name, Kind::unit); }
  static Attr of(const char *name, bool value) {
    Attr a(name, Kind::boolean);
    a.integer = value;
    return a;
  }
  static Attr of(const char *name, int64_t value) {
    Attr a(name, Kind::integer);
    a.integer = value;
    return a;
  }
  static Attr of(const char *name, int value) { return of(name, int64_t(value)); }
  static Attr of(const char *name, double value) {
    Attr a(name, Kind::real);
    a.real = value;
    return a;
  }
  static Attr of(const char *name, const Shape &values) {
    Attr a(name, Kind::integers);
    a.integers = values;
    return a;
  }
  static Attr word(const char *name, const char *text) {
    Attr a(name, Kind::word);
    a.text = text;
    return a;
  }
  static Attr other(const char *name, const char *text) {
    Attr a(name, Kind::other);
    a.text = text;
    return a;
  }

  friend bool operator==(const Attr &a, const Attr &b) {
    if (a.kind != b.kind || std::strcmp(a.name, b.name)) return false;
    if (a.kind == Kind::integers) return a.integers == b.integers;
    if (a.kind == Kind::word || a.kind == Kind::other) return std::strcmp(a.text, b.text) == 0;
    return a.integer == b.integer;
  }

private:
  Attr(const char *name, Kind kind) : name(name), kind(kind), integer(0) {}
};

/// In any order; each name once.
using AttrList = std::vector<Attr>;

/// The attribute of a name, or null.
inline const Attr *find(const AttrList &attrs, const char *name) {
  for (const Attr &attr : attrs)
    if (std::strcmp(attr.name, name) == 0) return &attr;
  return nullptr;
}

} // namespace sprig::graph
