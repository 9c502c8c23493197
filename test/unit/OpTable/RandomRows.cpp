// Rows of random bits and dropout, over sizes with tails, and of losses.
#include "test/unit/OpTable/Harness.h"
#include <gtest/gtest.h>

namespace sprig::optable {
namespace {

TEST(OpTable, RandomBits) {
  std::vector<Row> rows;
  for (const char *size : {"1", "7", "16", "33", "1000"})
    rows.push_back(row("nn.philox %a0, %a1, %a2 {stream = 3 : i64}", {std::string(size) + "xi64", "i64", "i64"}, {},
                       {{Fill::Positive}, {Fill::Distinct}, {Fill::Distinct}}));
  rows.push_back(row("nn.philox %a0, %a1, %a2", {"5x1xi64", "17xi64", "5x1xi64"}, {},
                     {{Fill::Positive}, {Fill::Special}, {Fill::Special}}));
  check(rows);
}

TEST(OpTable, Dropout) {
  std::vector<Row> rows;
  for (const char *type : {"f32", "f64", "f16", "bf16"})
    for (const char *ratio : {"0.0", "0.25", "0.5", "0.999", "1.0"})
      for (const char *shape : {"5x7x", "2x3x33x"})
        rows.push_back(row(std::string("nn.dropout %a0, %a1, %a2 {ratio = ") + ratio + " : f64, stream = 2 : i64}",
                           {shape + std::string(type), "i64", "1xi64"}, {1, 0},
                           {{}, {Fill::Distinct}, {Fill::Distinct}}));
  check(rows);
}

TEST(OpTable, Losses) {
  std::vector<Row> rows;
  for (const char *reduction : {"none", "mean", "sum"})
    for (const char *shape : {"5x7xf32", "3x2x17xf32", "33x10xf64"}) {
      Bound bound = std::string(shape).ends_with("f64") ? Bound{400, 1e-13} : Bound{400, 1e-5};
      for (const char *name : {"mse_loss", "l1_loss", "huber_loss", "bce_with_logits_loss"})
        rows.push_back(row(std::string("nn.") + name + " " + reduction + " %a0, %a1", {shape, shape}, bound));
      rows.push_back(
          row(std::string("nn.kl_div_loss ") + reduction + " %a0, %a1", {shape, shape}, bound, {{}, {Fill::Positive}}));
    }
  check(rows);
}

} // namespace
} // namespace sprig::optable
