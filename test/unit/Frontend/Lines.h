// That errors and recorded operations name lines of the program: for tests that misuse entry points one by one.
#pragma once
#include "lib/Frontend/Engine/Variant.h"
#include "sprig/sprig.h"
#include "gtest/gtest.h"
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace sprig {

inline std::string placeOf(int line, Source here) {
  return std::filesystem::path(here.file).filename().string() + ":" + std::to_string(line) + ": ";
}

/// That f throws a sprig::Error whose text begins with this line of the caller's file.
template <typename F> void expectAt(int line, F body, Source here = Source::here()) {
  std::string place = placeOf(line, here);
  try {
    body();
    ADD_FAILURE() << "line " << line << " was not refused";
  } catch (const Error &error) {
    std::string text = error.what();
    size_t found = text.find(place);
    EXPECT_TRUE(found != std::string::npos && found < text.find('\n') && text.find(": ") > found) << text;
  }
}
// The statement stands on the line that the error must name.
#define AT(statement) expectAt(__LINE__, [&] { (void)(statement); })

inline Tensor f(const Shape &shape, Source at = Source::here()) { return zeros(shape, DType::f32, at); }

/// That everything that the body records on inputs of these types has a line of the caller's file.
inline void expectOwnLines(const std::string &name, const std::vector<TensorType> &types,
                           const std::function<std::vector<Tensor>(std::span<const Tensor>)> &body,
                           Source here = Source::here()) {
  auto variant = frontend::Variant::record(types, body, name, here);
  EXPECT_FALSE(variant->graph.nodes.empty()) << name;
  for (const frontend::GraphNode &node : variant->graph.nodes)
    if (!node.constant)
      EXPECT_STREQ(node.source.file, here.file)
          << name << ": " << node.op->text << " has '" << node.source.file << "':" << node.source.line;
}

struct Net : nn::Module {
  nn::Linear a = add("a", nn::Linear(3, 2));
  Tensor operator()(const Operand &x) const { return a(x); }
};

} // namespace sprig
