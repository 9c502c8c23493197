// The op table's machinery: rows of small modules, compiled in every way and compared with the interpreter.
// A row is the body of a function; its last operation's results are what is compared. Every way of compiling and
// running (fused or not, v3 or v4, one thread or two) must give the same bits; those bits must be the interpreter's
// values within the row's bound. A file of rows calls `check` once per family: many rows share one package.
//
// Compiling rows takes most of the time. So one row in eight is compiled in every way, and each other one fused for one
// instruction set; the hash of its name chooses both. With SPRIG_TEST_EVERY_WAY in the environment, as in check-long,
// all rows are compiled in every way.
#pragma once
#include "test/unit/OpTable/InputData.h"
#include <string>
#include <vector>

namespace sprig::optable {

/// |got - want| <= ulps * (distance of neighbouring values at want) + absolute. Integers must be equal.
struct Bound {
  double ulps = 0;
  double absolute = 0;
};
/// So many rounding errors of a type.
inline Bound roundings(const std::string &type, double steps) {
  double unit = type == "f64" ? 0x1p-52 : type == "f32" ? 0x1p-23 : type == "f16" ? 0x1p-10 : 0x1p-7;
  return {steps, steps * unit};
}

struct Row {
  std::string name;
  std::vector<std::string> arguments; ///< types of %0, %1 ... without `tensor<>`: 3x4xf32
  std::string body;                   ///< may use %a0, %a1 ...
  Bound bound;
  std::vector<Pattern> patterns = {}; ///< of the arguments; Plain where there is none
  std::string dispatch = {};          ///< the name of one that it must have when fused
  uint64_t seed = 0;                  ///< of its inputs; `check` counts the rows
};

/// `operation` with arguments only: makes "%r = OPERATION".
Row row(std::string operation, std::vector<std::string> arguments, Bound bound = {},
        std::vector<Pattern> patterns = {});

/// tensor<...> of each, separated by commas: how most operations spell their types.
std::string typeList(const std::vector<std::string> &arguments);

/// What rows are made of: a program's operations, or those of `kernel` too, as layout passes leave them.
enum class Given { program, layouts };

enum class Depth { sampled, everyWay };

void check(std::vector<Row> rows, Given given = Given::program, Depth depth = Depth::sampled);

} // namespace sprig::optable
