#include "test/unit/OpTable/Harness.h"
#include "test/unit/CodeCache.h"
#include "test/unit/OpTable/Judge.h"
#include "test/unit/OpTable/Machine.h"
#include "test/unit/OpTable/Rows.h"
#include "lib/Pipeline/Pipeline.h"
#include "lib/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "sprig/error.h"
#include "sprig/rt/sprig_rt.hpp"
#include <algorithm>
#include <bit>
#include <gtest/gtest.h>

namespace sprig::optable {
namespace {

using interp::Tensor;
using Bytes = std::vector<char>;

enum class Form { fused, separate, pieces };

struct Variant {
  Form form;
  std::string cpu = {}; ///< the limit of instruction sets; "" for the best of the code that the machine has
  std::string code = "the best instruction set";
  std::string text(int threads) const {
    static const char *const forms[] = {"fused, ", "not fused, ", "sample by sample, "};
    return forms[int(form)] + (cpu.empty() ? code : cpu) + ", " + std::to_string(threads) +
           (threads == 1 ? " thread" : " threads");
  }
};

// What code for the rows is made for. Instructions for products of bytes, or of bf16, change no other code.
std::vector<std::string> setsFor(const std::vector<Row> &rows) {
  auto have = [&](const char *type) {
    return llvm::any_of(rows, [&](const Row &row) { return row.body.find(type) != std::string::npos; });
  };
  return instructionSets(have("i8"), have("bf16"));
}

bool isQuantized(const Row &row) { return row.body.find("quantize") != std::string::npos; }

std::vector<uint8_t> compileRows(const std::vector<Row> &rows, const std::vector<std::string> &sets, bool fuse,
                                 int threads, Given given) {
  mlir::OwningOpRef<mlir::ModuleOp> module = parseRows(rows);
  CompileOptions options;
  options.fuse = fuse;
  options.threads = threads;
  options.architectures = sets;
  options.cacheFolder = codeCache(); // rows of one operation are the same kernels, fused and not
  if (given == Given::layouts) {
    mlir::PassManager passes(module->getContext());
    passes.addNestedPass<mlir::func::FuncOp>(createFuse({fuse}));
    if (mlir::failed(passes.run(*module))) internalError("the rows cannot be fused");
    options.compileFrom = "schedule";
  }
  return runnable(compileModule(*module, options).package);
}

// Where samples do not depend on each other, each is a piece of its own. Of graphs of floats: what computes with
// integers is looked for before operations are spelled out.
std::vector<uint8_t> compileInPieces(const std::vector<Row> &rows) {
  mlir::OwningOpRef<mlir::ModuleOp> module = parseRows(rows);
  CompileOptions options;
  options.cacheFolder = codeCache();
  runPhases(*module, options, "remat");
  mlir::PassManager passes(module->getContext());
  passes.addNestedPass<mlir::func::FuncOp>(createDecompose());
  passes.addPass(createIndependentSamples());
  SplitSamplesOptions split;
  split.samples = 1;
  passes.addPass(createSplitSamples(split));
  if (mlir::failed(passes.run(*module))) internalError("the rows cannot be cut");
  options.compileFrom = "fuse";
  return runnable(compileModule(*module, options).package);
}

rt::DType dtypeOf(mlir::Type type) {
  static const rt::DType floats[] = {SPRIG_RT_F16, SPRIG_RT_F32, SPRIG_RT_F64};
  if (type.isBF16()) return SPRIG_RT_BF16;
  unsigned width = type.getIntOrFloatBitWidth();
  if (llvm::isa<mlir::FloatType>(type)) return floats[std::countr_zero(width / 16)];
  if (width == 1) return SPRIG_RT_I1;
  static const rt::DType integers[] = {SPRIG_RT_I8, SPRIG_RT_I16, SPRIG_RT_I32, SPRIG_RT_I64};
  static const rt::DType naturals[] = {SPRIG_RT_U8, SPRIG_RT_U16, SPRIG_RT_U32, SPRIG_RT_U64};
  return (type.isUnsignedInteger() ? naturals : integers)[std::countr_zero(width / 8)];
}

std::vector<Bytes> runEntry(rt::Context &context, size_t entry, const Prepared &prepared) {
  std::vector<Bytes> inputs, outputs;
  std::vector<rt::TensorView> inputViews, outputViews;
  auto view = [](Bytes &bytes, mlir::RankedTensorType type) {
    llvm::ArrayRef<int64_t> shape = type.getShape();
    return rt::TensorView(bytes.data(), dtypeOf(type.getElementType()),
                          std::vector<int64_t>(shape.begin(), shape.end()));
  };
  inputs.reserve(prepared.inputs.size());
  outputs.reserve(prepared.wants.size());
  for (const Tensor &input : prepared.inputs)
    inputViews.push_back(view(inputs.emplace_back(input.bytes()), input.type()));
  for (const Tensor &want : prepared.wants) {
    Bytes bytes(want.count() * storageBytes(want.elementType()), char(0xa5));
    outputViews.push_back(view(outputs.emplace_back(std::move(bytes)), want.type()));
  }
  context.invoke(inputViews, outputViews, context.package().findEntry(entryName(entry)));
  return outputs;
}

class Comparison {
public:
  Comparison(const std::vector<Prepared> &rows) : rows(rows), first(rows.size()) {}

  void run(const std::vector<uint8_t> &bytes, const Variant &variant) {
    try {
      rt::LoadOptions load;
      load.cpu = variant.cpu;
      rt::Package package = rt::Package::fromMemory(std::span<const uint8_t>(bytes), "op table", load);
      for (int threads : threadCounts()) {
        rt::Pool pool(threads);
        rt::ContextOptions options;
        options.pool = &pool;
        rt::Context context(package, options);
        for (size_t i = 0; i < rows.size(); ++i) runRow(context, variant.text(threads), i);
      }
    } catch (const std::exception &error) {
      ADD_FAILURE() << "op table (" << variant.text(1) << "): " << error.what();
    }
  }

private:
  void runRow(rt::Context &context, const std::string &variant, size_t i) {
    const Prepared &prepared = rows[i];
    std::vector<Bytes> outputs;
    try {
      outputs = runEntry(context, i, prepared);
    } catch (const std::exception &error) {
      ADD_FAILURE() << prepared.row->name << " (" << variant << "): " << error.what();
      return;
    }
    if (first[i].empty()) return judge(prepared, variant, first[i] = std::move(outputs));
    for (size_t o = 0; o < outputs.size(); ++o)
      if (outputs[o] != first[i][o])
        ADD_FAILURE() << prepared.row->name << " (" << variant << "): other bits than at first, result " << o << " "
                      << differenceText(Tensor::ofBytes(prepared.wants[o].type(), outputs[o]),
                                        Tensor::ofBytes(prepared.wants[o].type(), first[i][o]), {});
  }

  const std::vector<Prepared> &rows;
  std::vector<std::vector<Bytes>> first;
};

// Rows that together are no module, or do not compile, fail the test; so does each that is wrong by itself, by name.
void blame(const std::vector<Row> &rows, Given given, const std::string &why) {
  ADD_FAILURE() << rows.size() << " rows together: " << why;
  for (const Row &row : rows) {
    try {
      if (!parseRows({row})) throw std::runtime_error("is not valid");
      (void)compileRows({row}, setsFor({row}), true, 1, given);
    } catch (const std::exception &error) {
      ADD_FAILURE() << row.name << ": " << error.what();
    }
  }
}

// In every way and for every instruction set, or fused for `sets` alone.
void checkRows(const std::vector<Row> &rows, const std::vector<std::string> &sets, bool inEveryWay, Given given) {
  auto module = parseRows(rows);
  if (!module) return blame(rows, given, "they are no module");
  std::vector<Prepared> prepared = prepare(*module, rows);
  ASSERT_EQ(prepared.size(), rows.size());
  if (llvm::any_of(rows, [](const Row &row) { return !row.dispatch.empty(); })) {
    runPhases(*module, {}, "fuse");
    expectDispatches(*module, rows);
  }
  Comparison comparison(prepared);
  try {
    std::vector<uint8_t> fused = compileRows(rows, sets, true, 2, given);
    if (!inEveryWay) return comparison.run(fused, {Form::fused, "", sets.front()});
    std::vector<uint8_t> separate = compileRows(rows, sets, false, 1, given);
    for (const std::string &cpu : limits()) comparison.run(fused, {Form::fused, cpu});
    for (const std::string &cpu : limits()) comparison.run(separate, {Form::separate, cpu});
    if (given == Given::program && llvm::none_of(rows, isQuantized))
      comparison.run(compileInPieces(rows), {Form::pieces});
  } catch (const std::exception &error) {
    blame(rows, given, error.what());
  }
}

} // namespace

void check(std::vector<Row> rows, Given given, Depth depth) {
  std::vector<std::string> sets = setsFor(rows);
  std::vector<Row> inEveryWay;
  std::vector<std::vector<Row>> fused(sets.size());
  numberRows(rows);
  for (const Row &row : rows) {
    auto &group = isInEveryWay(row, depth) ? inEveryWay : fused[hashOf(row) / 8 % sets.size()];
    group.push_back(row);
  }
  if (!inEveryWay.empty()) checkRows(inEveryWay, sets, true, given);
  for (size_t i = 0; i < sets.size(); ++i)
    if (!fused[i].empty()) checkRows(fused[i], {sets[i]}, false, given);
}

} // namespace sprig::optable
