// If, Loop and Scan. Branches that cost something, may fail or may never end are those of an nn.cond; of others both
// run and the result is selected. Loops whose step becomes a kernel are scans of nn, those that end by data nn.while,
// the others are unrolled.
#include "lib/Import/ONNX/DataControl.h"
#include "dialects/NN/NNElementwise.h"
#include "lib/Import/ONNX/RolledLoop.h"
#include "lib/Import/ONNX/Table.h"
#include "lib/Import/ONNX/Tensor.h"

namespace sprig::onnximport {

namespace {

std::string describeItem(const Item &item) {
  if (item.value) return typeText(item.value);
  return item.list ? "a sequence" : "nothing";
}

/// The values of items that are all tensors.
std::optional<Values> tensorsOf(llvm::ArrayRef<Item> items) {
  Values values;
  for (const Item &item : items) {
    if (!item.value) return std::nullopt;
    values.push_back(item.value);
  }
  return values;
}

/// Operations of a branch that are worth a branch: fewer are done before a processor has decided where to go on, and
/// stay in one kernel with what is around them.
constexpr int64_t kBranchFlops = 16384;

/// A branch of an If whose condition data decide. What cannot be imported may be what these data never reach, which the
/// error says.
Items importBranch(Node &n, Value condition, const onnx::GraphProto &graph, BodyBlock &block) {
  try {
    return block.run([&] { return n.importer.runBody(graph, {}, n); });
  } catch (const Error &error) {
    std::set<std::string> inputs = n.importer.inputsBehind(condition);
    if (inputs.empty()) throw;
    const std::string &first = *inputs.begin();
    throw Error(error.kind(), std::string(error.what()) + "\nThis is in a branch that the value of input '" + first +
                                  "' decides about; where it is known, --value " + first +
                                  "=... leaves out branches that are not taken");
  }
}

void importIf(Node &n) {
  Value condition = n.in(0);
  n.require(Emit::count(condition) == 1, "has a condition " + typeText(condition) + "; expected a scalar");
  const onnx::GraphProto &thenGraph = n.graphAttr("then_branch"), &elseGraph = n.graphAttr("else_branch");
  for (const auto *branch : {&thenGraph, &elseGraph})
    n.require(branch->output_size() == n.proto.output_size(), "has " + std::to_string(n.proto.output_size()) +
                                                                  " outputs, but a branch with " +
                                                                  std::to_string(branch->output_size()));
  // Types that a branch declares have to agree even where only one branch is taken.
  for (int i = 0; i < thenGraph.output_size(); ++i) {
    const auto &a = thenGraph.output(i).type(), &b = elseGraph.output(i).type();
    int typeA = a.has_tensor_type() ? a.tensor_type().elem_type() : 0,
        typeB = b.has_tensor_type() ? b.tensor_type().elem_type() : 0;
    n.require(typeA == typeB || typeA == 0 || typeB == 0, "gives " + dataTypeName(typeA) + " in one branch and " +
                                                              dataTypeName(typeB) + " in the other (output " +
                                                              std::to_string(i) + ")");
  }
  if (auto known = n.tryControl(condition)) {
    Items results = n.importer.runBody((*known)[0] != 0 ? thenGraph : elseGraph, {}, n);
    for (unsigned i = 0; i < results.size(); ++i) n.outItem(results[i], i);
    return;
  }
  BodyBlock thenBlock(n), elseBlock(n);
  Items onTrue = importBranch(n, condition, thenGraph, thenBlock);
  Items onFalse = importBranch(n, condition, elseGraph, elseBlock);
  for (const Items *results : {&onTrue, &onFalse})
    for (const Item &result : *results)
      if (result.counted) n.known(condition, "its condition, where a branch gives a size that the data decide,");
  condition = n.reshape(condition, {});
  std::optional<Values> trueValues = tensorsOf(onTrue), falseValues = tensorsOf(onFalse);
  bool agree = trueValues && falseValues && Emit::elem(condition).isInteger(1) &&
               ValueRange(*trueValues).getTypes() == ValueRange(*falseValues).getTypes();
  auto isWorthABranch = [](BodyBlock &block) { return block.flops() >= kBranchFlops || block.mustBeAsked(); };
  if (agree && (isWorthABranch(thenBlock) || isWorthABranch(elseBlock))) {
    for (auto [i, value] : llvm::enumerate(makeCond(n, condition, thenBlock, *trueValues, elseBlock, *falseValues)))
      n.out(value, unsigned(i));
    return;
  }
  thenBlock.inlineAll();
  elseBlock.inlineAll();
  for (unsigned i = 0; i < onTrue.size(); ++i) {
    n.require(onTrue[i] && onFalse[i], "has a branch that gives no output " + std::to_string(i));
    if (!onTrue[i].value || !onFalse[i].value) {
      if (bool(onTrue[i].value) != bool(onFalse[i].value))
        n.bad("gives " + describeItem(onTrue[i]) + " in one branch and " + describeItem(onFalse[i]) + " in the other");
      n.known(condition, "its condition, which decides about a sequence,");
    }
    Value a = onTrue[i].value, b = onFalse[i].value;
    n.require(Emit::elem(a) == Emit::elem(b), "gives " + typeText(a) + " in one branch and " + typeText(b) +
                                                  " in the other (output " + std::to_string(i) + ")");
    if (a.getType() != b.getType())
      n.known(condition, "its condition, which decides between " + typeText(a) + " and " + typeText(b) + ",");
    n.out(n.select(condition, a, b), i);
  }
}

/// A scalar as a loop's body takes it.
Value flag(Node &n, bool value) { return n.scalar(value, n.i1()); }

Value stacked(Node &n, llvm::ArrayRef<Value> parts, int64_t axis, const std::string &what) {
  Values rows;
  for (Value part : parts) {
    n.require(part.getType() == parts[0].getType(),
              "collects " + typeText(parts[0]) + " and " + typeText(part) + " in " + what);
    rows.push_back(n.unsqueeze(part, axis));
  }
  return n.concat(rows, axis);
}

/// What a loop of no steps collects: no slices, along `axes`, of the types that its body gives from its output `first`
/// on. The body is imported for these types alone; `inputs` gives what it takes, of which arguments of the types
/// `slices` have no values.
Values collectNothing(Node &n, const onnx::GraphProto &body, mlir::TypeRange slices,
                      llvm::function_ref<Items(ValueRange)> inputs, size_t first, const Ints &axes) {
  BodyBlock probe(n, slices);
  Items given = probe.run([&] { return n.importer.runBody(body, inputs(probe->getArguments()), n); });
  Values nothing;
  for (auto [k, axis] : llvm::enumerate(axes)) {
    Value slice = given[first + k].value;
    n.require(bool(slice), "collects something that is no tensor");
    Ints shape(Emit::shape(slice));
    shape.insert(shape.begin() + n.axis(axis, Emit::rank(slice) + 1), 0);
    nothing.push_back(n.constant(shape, Emit::elem(slice), {}));
  }
  return nothing;
}

/// A loop whose condition stays true.
bool importRolledLoop(Node &n, const onnx::GraphProto &body, int64_t trips, Value condition, const Items &initial) {
  auto known = n.tryControl(condition);
  std::optional<Values> state = tensorsOf(initial);
  if (!known || (*known)[0] == 0 || !state || trips > std::numeric_limits<int32_t>::max()) return false;
  auto results = rollLoop(n, trips, n.iota({trips}, n.i64(), 0), *state, /*counter=*/true,
                          [&](ValueRange slices, ValueRange carried) -> std::optional<Values> {
                            Items inputs{Item(slices[0]), Item(flag(n, true))};
                            inputs.insert(inputs.end(), carried.begin(), carried.end());
                            Items given = n.importer.runBody(body, inputs, n);
                            auto goesOn = given[0].value ? n.tryControl(given[0].value) : std::nullopt;
                            if (!goesOn || (*goesOn)[0] == 0) return std::nullopt;
                            return tensorsOf(llvm::ArrayRef(given).drop_front());
                          });
  if (!results) return false;
  for (auto [k, value] : llvm::enumerate(*results)) n.out(value, unsigned(k));
  return true;
}

void importLoop(Node &n) {
  const onnx::GraphProto &body = n.graphAttr("body");
  unsigned carried = n.inputs() > 2 ? n.inputs() - 2 : 0;
  n.require(body.input_size() == int(carried) + 2, "carries " + std::to_string(carried) +
                                                       " values, but its body takes " +
                                                       std::to_string(body.input_size() - 2));
  n.require(body.output_size() >= int(carried) + 1, "carries " + std::to_string(carried) +
                                                        " values, but its body gives " +
                                                        std::to_string(body.output_size() - 1));
  unsigned scanned = unsigned(body.output_size()) - 1 - carried;
  std::optional<int64_t> trips;
  Items initial(n.items.begin() + std::min<size_t>(2, n.items.size()), n.items.end());
  // A loop that collects outputs has to know how many.
  auto byData = [&] {
    std::optional<Values> state = tensorsOf(initial);
    if (!state || scanned > 0) return false;
    auto results = importWhile(n, body, n.has(0) ? n.in(0) : Value(), n.has(1) ? n.in(1) : Value(), *state);
    if (!results) return false;
    for (auto [k, value] : llvm::enumerate(*results)) n.out(value, unsigned(k));
    return true;
  };
  if (n.has(0)) {
    if (!n.tryControl(n.in(0)) && byData()) return;
    trips = std::max<int64_t>(n.knownInt(0), 0);
    if (importRolledLoop(n, body, *trips, n.has(1) ? n.in(1) : flag(n, true), initial)) return;
  }
  if (byData()) return;
  if (trips) {
    if (*trips > n.state.limits.loopIterations)
      n.unsupported("has trip count " + std::to_string(*trips) + "; loops are unrolled up to " +
                    std::to_string(n.state.limits.loopIterations));
  }
  Value condition = n.has(1) ? n.in(1) : flag(n, true);
  Items state = initial;
  std::vector<Values> scans(scanned);
  // A loop without a trip count ends by its condition or not at all.
  int64_t limit = trips.value_or(std::min<int64_t>(n.state.limits.loopIterations, 1024));
  for (int64_t i = 0;; ++i) {
    auto known = n.tryControl(condition);
    if (!known) {
      // How long a sequence gets has to be known, too.
      bool holdsTensors = llvm::all_of(state, [](const Item &item) { return bool(item.value); });
      if (scanned > 0 || !trips || !holdsTensors)
        n.known(condition, "its condition, which decides how many iterations run,");
    } else if ((*known)[0] == 0) {
      break;
    }
    if (i >= limit) {
      if (trips) break;
      n.unsupported("has no trip count, and its condition still holds after " + std::to_string(i) +
                    " iterations: it does not end");
    }
    Items inputs{Item(n.ints({i}, {})), Item(condition)};
    inputs.insert(inputs.end(), state.begin(), state.end());
    int64_t before = n.importer.importedNodes();
    Items results = n.importer.runBody(body, inputs, n);
    if (i == 0 && trips) n.importer.checkRepeats(n, before, *trips);
    for (size_t k = 0; k < carried; ++k) {
      if (!known) {
        n.require(state[k].value && results[k + 1].value && state[k].value.getType() == results[k + 1].value.getType(),
                  "carries " + describeItem(state[k]) + " into an iteration and " + describeItem(results[k + 1]) +
                      " out of it");
        state[k] = Item(n.select(n.reshape(condition, {}), results[k + 1].value, state[k].value));
      } else {
        state[k] = results[k + 1];
      }
    }
    for (unsigned k = 0; k < scanned; ++k) {
      n.require(bool(results[1 + carried + k].value), "collects something that is no tensor");
      scans[k].push_back(results[1 + carried + k].value);
    }
    n.require(results[0].value && Emit::count(results[0].value) == 1 && Emit::elem(results[0].value).isInteger(1),
              "has a body whose condition is " + describeItem(results[0]) + "; expected a boolean");
    Value next = results[0].value;
    if (!n.has(1) && trips) next = flag(n, true); // for-loops ignore the body's condition
    condition = known ? next : n.op<ir::AndOp>({n.reshape(condition, {}), n.reshape(next, {})});
  }
  for (unsigned k = 0; k < carried; ++k) n.outItem(state[k], k);
  if (scanned > 0 && scans[0].empty()) {
    Values nothing = collectNothing(
        n, body, {},
        [&](ValueRange) {
          Items inputs{Item(n.ints({0}, {})), Item(condition)};
          inputs.insert(inputs.end(), state.begin(), state.end());
          return inputs;
        },
        1 + carried, Ints(scanned, 0));
    for (unsigned k = 0; k < scanned; ++k) n.out(nothing[k], carried + k);
    return;
  }
  for (unsigned k = 0; k < scanned; ++k)
    if (n.wants(carried + k)) n.out(stacked(n, scans[k], 0, "output " + std::to_string(carried + k)), carried + k);
}

/// A dimension moved to another place, the others in order.
Value movedAxis(Node &n, Value v, int64_t from, int64_t to) {
  Ints permutation;
  for (int64_t d = 0; d < Emit::rank(v); ++d)
    if (d != from) permutation.push_back(d);
  permutation.insert(permutation.begin() + to, from);
  return n.transpose(v, permutation);
}

Value turned(Node &n, Value v, bool back) {
  int64_t size = Emit::shape(v)[0];
  return back ? n.sliceAxis(v, 0, size - 1, size, -1) : v;
}

struct ScanAxes {
  Ints in, inBack, out, outBack;
};

bool importRolledScan(Node &n, const onnx::GraphProto &body, int64_t length, const ScanAxes &axes) {
  size_t carriedCount = n.inputs() - axes.in.size();
  std::optional<Values> state = tensorsOf(llvm::ArrayRef(n.items).take_front(carriedCount));
  if (!state) return false;
  Values sequences;
  for (size_t k = 0; k < axes.in.size(); ++k)
    sequences.push_back(turned(n, movedAxis(n, n.in(unsigned(carriedCount + k)), axes.in[k], 0), axes.inBack[k] != 0));
  auto results = rollLoop(n, length, sequences, *state, /*counter=*/false, [&](ValueRange slices, ValueRange carried) {
    Items inputs(carried.begin(), carried.end());
    inputs.insert(inputs.end(), slices.begin(), slices.end());
    return tensorsOf(n.importer.runBody(body, inputs, n));
  });
  if (!results) return false;
  for (size_t k = 0; k < results->size(); ++k) {
    Value value = (*results)[k];
    if (k >= carriedCount) {
      size_t output = k - carriedCount;
      value = turned(n, value, axes.outBack[output] != 0);
      value = movedAxis(n, value, 0, n.axis(axes.out[output], Emit::rank(value)));
    }
    n.out(value, unsigned(k));
  }
  return true;
}

/// Scan since opset 9.
void scanOver(Node &n) {
  const onnx::GraphProto &body = n.graphAttr("body");
  int64_t scanInputs = n.intAttr("num_scan_inputs");
  n.require(scanInputs >= 1 && scanInputs <= int64_t(n.inputs()),
            "has num_scan_inputs " + std::to_string(scanInputs) + ", but " + std::to_string(n.inputs()) + " inputs");
  size_t carried = n.inputs() - size_t(scanInputs);
  n.require(body.input_size() == int(n.inputs()),
            "has " + std::to_string(n.inputs()) + " inputs, but its body takes " + std::to_string(body.input_size()));
  n.require(body.output_size() >= int(carried),
            "carries " + std::to_string(carried) + " values, but its body gives " + std::to_string(body.output_size()));
  size_t scanOutputs = size_t(body.output_size()) - carried;
  auto list = [&](const char *name, size_t count) {
    Ints values = n.intsAttr(name).value_or(Ints(count, 0));
    n.require(values.size() == count, std::string("has ") + std::to_string(values.size()) + " values in '" + name +
                                          "'; expected " + std::to_string(count));
    return values;
  };
  Ints inAxes = list("scan_input_axes", size_t(scanInputs));
  Ints inBack = list(n.opset < 9 ? "directions" : "scan_input_directions", size_t(scanInputs));
  Ints outAxes = list("scan_output_axes", scanOutputs), outBack = list("scan_output_directions", scanOutputs);
  Items state(n.items.begin(), n.items.begin() + carried);
  std::optional<int64_t> length;
  for (size_t k = 0; k < size_t(scanInputs); ++k) {
    Value v = n.in(unsigned(carried + k));
    inAxes[k] = n.axis(inAxes[k], Emit::rank(v));
    int64_t size = Emit::shape(v)[inAxes[k]];
    n.require(!length || *length == size, "scans over sequences of " + std::to_string(length.value_or(0)) + " and " +
                                              std::to_string(size) + " elements");
    length = size;
  }
  if (importRolledScan(n, body, *length, {inAxes, inBack, outAxes, outBack})) return;
  if (*length > n.state.limits.loopIterations)
    n.unsupported("scans over " + std::to_string(*length) + " elements; loops are unrolled up to " +
                  std::to_string(n.state.limits.loopIterations));
  std::vector<Values> scans(scanOutputs);
  for (int64_t i = 0; i < *length; ++i) {
    Items inputs(state);
    for (size_t k = 0; k < size_t(scanInputs); ++k) {
      int64_t at = inBack[k] != 0 ? *length - 1 - i : i;
      inputs.push_back(Item(n.squeeze(n.sliceAxis(n.in(unsigned(carried + k)), inAxes[k], at, 1), inAxes[k])));
    }
    int64_t before = n.importer.importedNodes();
    Items results = n.importer.runBody(body, inputs, n);
    if (i == 0) n.importer.checkRepeats(n, before, *length);
    for (size_t k = 0; k < carried; ++k) state[k] = results[k];
    for (size_t k = 0; k < scanOutputs; ++k) {
      n.require(bool(results[carried + k].value), "collects something that is no tensor");
      scans[k].push_back(results[carried + k].value);
    }
  }
  for (size_t k = 0; k < carried; ++k) n.outItem(state[k], unsigned(k));
  if (*length == 0) {
    llvm::SmallVector<Type> slices;
    for (size_t k = 0; k < size_t(scanInputs); ++k) {
      Value sequence = n.in(unsigned(carried + k));
      Ints shape(Emit::shape(sequence));
      shape.erase(shape.begin() + inAxes[k]);
      slices.push_back(n.tensor(shape, Emit::elem(sequence)));
    }
    Values nothing = collectNothing(
        n, body, slices,
        [&](ValueRange arguments) {
          Items inputs(state);
          inputs.insert(inputs.end(), arguments.begin(), arguments.end());
          return inputs;
        },
        carried, outAxes);
    for (size_t k = 0; k < scanOutputs; ++k) n.out(nothing[k], unsigned(carried + k));
    return;
  }
  for (size_t k = 0; k < scanOutputs; ++k) {
    if (outBack[k] != 0) std::reverse(scans[k].begin(), scans[k].end());
    int64_t axis = n.axis(outAxes[k], Emit::rank(scans[k][0]) + 1);
    n.out(stacked(n, scans[k], axis, "output " + std::to_string(carried + k)), unsigned(carried + k));
  }
}

/// Scan of opset 8: the lengths of sequences come first, and all else has a batch dimension: a scan for each element.
void importScan(Node &n) {
  if (n.opset >= 9) return scanOver(n);
  Items given(n.items.begin() + std::min<size_t>(1, n.items.size()), n.items.end());
  std::optional<int64_t> batch;
  for (unsigned i = 1; i < n.inputs(); ++i) {
    Value v = n.in(i);
    n.require(Emit::rank(v) >= 1 && (!batch || *batch == Emit::shape(v)[0]),
              "has input " + std::to_string(i) + " " + typeText(v) + "; expected " +
                  (batch ? std::to_string(*batch) + " elements" : "a dimension") + " of the batch first");
    batch = Emit::shape(v)[0];
  }
  n.require(batch.value_or(0) > 0, "runs over a batch of no elements");
  if (*batch > n.state.limits.loopIterations)
    n.unsupported("runs over a batch of " + std::to_string(*batch) + " elements; the limit is " +
                  std::to_string(n.state.limits.loopIterations));
  if (n.has(0)) {
    Value last = given.back().value;
    int64_t length = Emit::rank(last) > 1 ? Emit::shape(last)[1] : 0;
    for (int64_t each : n.knownInts(0))
      if (each != length)
        n.unsupported("has a sequence of " + std::to_string(each) + " elements among " + std::to_string(length) +
                      "; Sprig has those of one length here");
  }
  if (*batch == 0) n.unsupported("has a batch of no elements");
  std::vector<Values> results(n.outputs.size());
  Items all = std::exchange(n.items, {});
  for (int64_t b = 0; b < *batch; ++b) {
    n.items.clear();
    for (const Item &item : given) n.items.push_back(Item(n.squeeze(n.sliceAxis(item.value, 0, b, 1), 0)));
    scanOver(n);
    for (size_t i = 0; i < results.size(); ++i)
      if (n.outputs[i].value) results[i].push_back(n.outputs[i].value);
  }
  n.items = std::move(all);
  for (size_t i = 0; i < results.size(); ++i)
    if (n.wants(unsigned(i))) n.out(stacked(n, results[i], 0, "output " + std::to_string(i)), unsigned(i));
}

} // namespace

void addControlFlow(Table &t) {
  t.add("If", {1, 11, 13, 16, 19, 21, 23, 24, 25}, importIf);
  t.add("Loop", {1, 11, 13, 16, 19, 21, 23, 24, 25}, importLoop);
  t.add("Scan", {8, 9, 11, 16, 19, 21, 23, 24, 25}, importScan);
}

} // namespace sprig::onnximport
