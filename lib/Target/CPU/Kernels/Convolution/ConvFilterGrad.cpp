// nn.conv_filter_grad with an epilogue: for each piece of the positions, register tiles of rows (a channel at a tap)
// times vectors of outputs run over its lines; the sums of the pieces grow in scratch memory, which is then turned to
// the model's layout. Nothing is copied: taps in the padding are left out by loop bounds. kernel.conv_filter_grad_parts
// is the same for one piece a tile.
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/Kernel/KernelContraction.h"
#include "lib/Target/CPU/Kernels/Convolution/FilterGradient.h"
#include "lib/Target/CPU/Kernels/Contraction/PanelPacking.h"
#include "lib/Target/CPU/Kernels/Contraction/RegisterTile.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

namespace {
class FilterGradientKernel {
public:
  FilterGradientKernel(KernelBuilder &kernel, const FilterGradient &gradient, const Epilogue &epilogue, Value input,
                       Value cotangent)
      : k(kernel), f(gradient), g(gradient.geometry), epilogue(epilogue), input(k.flat(input)),
        cotangent(k.flat(cotangent)), type(computeType(f.elementType)) {
    stride = f.tileColumns();
    sums = k.scratchBuffer(0, MemRefType::get({f.scratchBytes() / storageBytes(type)}, type));
  }

  void emit() {
    if (f.depthwise) return emitDepthwise();
    int64_t lastColumns = f.outputs - (f.panels - 1) * stride;
    int64_t lastChannels = f.channels - (f.blocks - 1) * f.blockChannels;
    k.forTiles([&](Value tile) {
      SmallVector<Value> at = k.delinearize(tile, {f.pieces, f.groups, f.panels, f.blocks});
      piece = at[0];
      at.erase(at.begin());
      Value firstColumn = k.mul(at[1], stride), firstChannel = k.mul(at[2], f.blockChannels);
      inputOffset = k.add(k.mul(at[0], f.channels), firstChannel);
      cotangentOffset = k.add(k.mul(at[0], f.outputs), firstColumn);
      k.ifLast(at[1], f.panels, lastColumns != stride, [&](bool lastPanel) {
        k.ifLast(at[2], f.blocks, lastChannels != f.blockChannels, [&](bool lastBlock) {
          columns = lastPanel ? lastColumns : stride;
          int64_t channels = lastBlock ? lastChannels : f.blockChannels;
          int64_t rows = channels * f.taps();
          clear(rows);
          forPieces([&] {
            for (int64_t j = 0, step; j < vectors(); j += step) {
              step = std::min<int64_t>(chooseTileVectors(k.target, f.elementType, f.flat ? rows : channels),
                                       vectors() - j);
              f.flat ? flatRows(rows, j, step) : tapRows(channels, j, step);
            }
          });
          storeTurned(rows, columns, cotangentOffset, k.mul(firstChannel, f.taps()));
        });
      });
    });
  }

private:
  int64_t vectors() const { return llvm::divideCeil(columns, kLanes); }

  void clear(int64_t rows) {
    Value zero = k.zero(type, kLanes);
    k.loop(k.index(0), k.index(rows), 1, [&](Value row) {
      for (int64_t j = 0; j < vectors(); ++j)
        vector::StoreOp::create(k.b, k.loc, zero, sums, k.add(k.mul(row, stride), j * kLanes));
    });
  }

  // The tile's pieces of the positions, in ascending order.
  void forPieces(llvm::function_ref<void()> body) {
    if (!f.isCut()) {
      begin = k.index(0), end = k.index(f.positions());
      return body();
    }
    auto pieceFrom = [&](Value first) {
      begin = first;
      end = k.min(k.add(first, kChainPart), k.index(f.positions()));
      body();
    };
    if (f.inParts) return pieceFrom(k.mul(piece, kChainPart));
    k.loop(k.index(0), k.index(f.positions()), kChainPart, pieceFrom);
  }

  // Rows of one tap: channels.
  void tapRows(int64_t channels, int64_t firstVector, int64_t count) {
    k.loop(k.index(0), k.index(f.taps()), 1, [&](Value tap) {
      SmallVector<Value> at = k.delinearize(tap, g.window);
      int64_t most = maxTileRows(k.target, f.elementType, count, 1);
      forRowTiles(k, k.index(0), splitRows(channels, most), [&](Value channel, int64_t rows) {
        SmallVector<int64_t> offsets;
        for (int64_t i = 0; i < rows; ++i) offsets.push_back(i);
        Value first = k.add(k.mul(channel, f.taps()), tap);
        registerTile(at, k.add(inputOffset, channel), offsets, first, f.taps(), firstVector, count);
      });
    });
  }

  // Rows of all taps, unrolled: each has a distance of its own.
  void flatRows(int64_t rows, int64_t firstVector, int64_t count) {
    RowSplit split = splitRows(rows, maxTileRows(k.target, f.elementType, count, 1));
    SmallVector<Value> origin{k.index(0), k.index(0), k.index(0)};
    for (int64_t i = 0, first = 0; i < split.count + split.smallerCount; ++i) {
      int64_t size = i < split.count ? split.rows : split.rows - 1;
      SmallVector<int64_t> offsets;
      for (int64_t row = first; row < first + size; ++row) {
        int64_t channel = row / f.taps(), tap = row % f.taps(), kw = tap % g.window[2];
        int64_t kh = tap / g.window[2] % g.window[1], kd = tap / g.window[2] / g.window[1];
        int64_t place = (kd * g.dilation[0] * g.in[1] + kh * g.dilation[1]) * g.in[2] + kw * g.dilation[2];
        offsets.push_back(place * g.inputChannels + channel);
      }
      registerTile(origin, inputOffset, offsets, k.index(first), 1, firstVector, count);
      first += size;
    }
  }

  /// Adds one piece's chains: row i reads `offsets[i]` beyond the input at `tap` and `channel`, its sums are those of
  /// row `firstRow + i * rowStep`.
  void registerTile(ArrayRef<Value> tap, Value channel, ArrayRef<int64_t> offsets, Value firstRow, int64_t rowStep,
                    int64_t firstVector, int64_t count) {
    int64_t tileColumns = std::min(columns - firstVector * kLanes, count * kLanes);
    SmallVector<int64_t> lanes = vectorLanes(tileColumns);
    SmallVector<Value> masks;
    for (int64_t j = 0; j < count; ++j) masks.push_back(laneMask(k, tileColumns - j * kLanes, lanes[j]));
    SmallVector<Value> chains =
        overLines(tap, zeroTile(k, f.elementType, offsets.size(), lanes), [&](Value x, Value y, ValueRange carried) {
          SmallVector<Value> columnValues, results;
          for (int64_t j = 0; j < count; ++j)
            columnValues.push_back(k.loadVector(cotangent, k.add(k.add(y, cotangentOffset), (firstVector + j) * kLanes),
                                                f.elementType, masks[j], lanes[j]));
          Value base = k.add(x, channel);
          for (auto [i, offset] : llvm::enumerate(offsets)) {
            Value scalar = k.load(input, k.add(base, offset), f.elementType);
            for (int64_t j = 0; j < count; ++j)
              results.push_back(k.multiplyAdd(k.splat(scalar, lanes[j]), columnValues[j], carried[i * count + j]));
          }
          return results;
        });
    for (size_t i = 0; i < offsets.size(); ++i)
      for (int64_t j = 0; j < count; ++j)
        addTo(k.add(k.mul(k.add(firstRow, static_cast<int64_t>(i) * rowStep), stride), (firstVector + j) * kLanes),
              chains[i * count + j]);
  }

  void addTo(Value at, Value chain) {
    auto vectorType = cast<VectorType>(chain.getType());
    if (f.isCut() && !f.inParts) {
      Value sum = vector::LoadOp::create(k.b, k.loc, vectorType, sums, at);
      chain = arith::AddFOp::create(k.b, k.loc, sum, chain);
    }
    vector::StoreOp::create(k.b, k.loc, chain, sums, at);
  }

  /// The input index of a tap at output index `o`, and whether it is inside.
  std::pair<Value, Value> place(int d, Value o, Value tap) {
    Value at = k.sub(k.add(k.mul(o, g.stride[d]), k.mul(tap, g.dilation[d])), k.index(g.low[d]));
    if (!g.hasPadding(d)) return {at, Value()};
    return {at, arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::ult, at, k.index(g.in[d]))};
  }

  /// The output columns [first, second) at which a tap is inside in width.
  std::pair<Value, Value> columnsOf(Value tap) {
    if (!g.hasPadding(2)) return {k.index(0), k.index(g.out[2])};
    Value start = k.sub(k.mul(tap, g.dilation[2]), k.index(g.low[2]));
    auto firstFrom = [&](Value distance) {
      return k.div(k.add(k.max(distance, k.index(0)), g.stride[2] - 1), g.stride[2]);
    };
    Value upper = k.min(firstFrom(k.sub(k.index(g.in[2]), start)), k.index(g.out[2]));
    return {firstFrom(k.sub(k.index(0), start)), upper};
  }

  using StepBody = llvm::function_ref<SmallVector<Value>(Value x, Value y, ValueRange carried)>;

  /// Runs over the positions of the piece at which `tap` is inside; `body` gets the linear positions of the tap's input
  /// and of the cotangent, times their channels.
  SmallVector<Value> overLines(ArrayRef<Value> tap, ValueRange initial, StepBody body) {
    auto [firstColumn, endColumn] = columnsOf(tap[2]);
    return overLines(tap, initial, firstColumn, endColumn, body);
  }
  SmallVector<Value> overLines(ArrayRef<Value> tap, ValueRange initial, Value firstColumn, Value endColumn,
                               StepBody body) {
    int64_t width = std::max<int64_t>(g.out[2], 1);
    Value firstLine = k.div(begin, width), endLine = k.div(k.add(end, width - 1), width);
    return k.loop(firstLine, endLine, 1, initial, [&](Value line, ValueRange carried) {
      SmallVector<Value> at = k.delinearize(line, {g.batch, g.out[0], g.out[1]});
      auto [depth, hasDepth] = place(0, at[1], tap[0]);
      auto [height, hasHeight] = place(1, at[2], tap[1]);
      Value lower = firstColumn, upper = endColumn;
      if (f.isCut()) {
        Value origin = k.mul(line, width);
        lower = k.max(lower, k.sub(begin, origin));
        upper = k.min(upper, k.sub(end, origin));
      }
      for (Value inside : {hasDepth, hasHeight})
        if (inside) upper = arith::SelectOp::create(k.b, k.loc, inside, upper, lower);
      Value row = k.linearize({at[0], depth, height}, {g.batch, g.in[0], g.in[1]});
      Value left = k.add(k.mul(row, g.in[2]), k.sub(k.mul(tap[2], g.dilation[2]), k.index(g.low[2])));
      Value x = k.mul(left, g.inputChannels), y = k.mul(k.mul(line, width), cotangentChannels());
      return k.loop(lower, upper, 1, carried, [&](Value column, ValueRange inner) {
        return body(k.add(x, k.mul(column, g.stride[2] * g.inputChannels)),
                    k.add(y, k.mul(column, cotangentChannels())), inner);
      });
    });
  }
  int64_t cotangentChannels() const { return f.groups * f.outputs; }

  // Lanes are channels; the taps of a window's row share what is read of the cotangent where all of them are inside.
  void emitDepthwise() {
    int64_t lastColumns = f.groups - (f.panels - 1) * stride;
    k.forTiles([&](Value tile) {
      SmallVector<Value> at = k.delinearize(tile, {f.pieces, f.panels});
      piece = at[0];
      inputOffset = cotangentOffset = k.mul(at[1], stride);
      k.ifLast(at[1], f.panels, lastColumns != stride, [&](bool last) {
        columns = last ? lastColumns : stride;
        clear(f.taps());
        forPieces([&] {
          k.loop(k.index(0), k.index(f.taps() / g.window[2]), 1, [&](Value row) {
            SmallVector<Value> at = k.delinearize(row, {g.window[0], g.window[1]});
            depthwiseRow(at[0], at[1], k.mul(row, g.window[2]));
          });
        });
        storeTurned(f.taps(), columns, cotangentOffset, k.index(0));
      });
    });
  }

  void depthwiseRow(Value depth, Value height, Value firstTap) {
    // As many taps and vectors at once as leave registers for what is read.
    int64_t wide = k.target.vectorBytes >= 64 || storageBytes(type) > 4 ? 1 : 2,
            most = (k.target.vectorRegisters - 4) / wide;
    int64_t together = std::clamp<int64_t>(most, 1, g.window[2]);
    int64_t atOnce = std::clamp<int64_t>(most / together, 1, vectors());
    for (int64_t j = 0; j < vectors(); j += atOnce)
      for (int64_t kw = 0; kw < g.window[2]; kw += together)
        depthwiseTile(depth, height, firstTap, kw, std::min(together, g.window[2] - kw), j,
                      std::min(atOnce, vectors() - j));
  }

  void depthwiseTile(Value depth, Value height, Value firstTap, int64_t kw, int64_t taps, int64_t firstVector,
                     int64_t count) {
    SmallVector<int64_t> lanes;
    SmallVector<Value> masks;
    for (int64_t j = 0; j < count; ++j) {
      int64_t valid = std::min<int64_t>(kLanes, columns - (firstVector + j) * kLanes);
      lanes.push_back(kLanes);
      masks.push_back(laneMask(k, valid, kLanes));
    }
    SmallVector<Value> chains = zeroTile(k, f.elementType, taps, lanes);
    // Where all of the taps are inside, in one pass; what is left of each before, and of each after.
    auto inside = [&](int64_t tap) -> std::pair<int64_t, int64_t> {
      int64_t first = 0, end = g.out[2], shift = tap * g.dilation[2] - g.low[2];
      while (first < end && first * g.stride[2] + shift < 0) ++first;
      while (end > first && (end - 1) * g.stride[2] + shift >= g.in[2]) --end;
      return {first, end};
    };
    int64_t first = 0, last = g.out[2];
    for (int64_t t = 0; t < taps; ++t) {
      first = std::max(first, inside(kw + t).first);
      last = std::min(last, inside(kw + t).second);
    }
    last = std::max(first, last);
    // Chains go along the lines: each line has its columns before, inside and after.
    int64_t width = std::max<int64_t>(g.out[2], 1);
    Value firstLine = k.div(begin, width), endLine = k.div(k.add(end, width - 1), width);
    chains = k.loop(firstLine, endLine, 1, chains, [&](Value line, ValueRange initial) {
      SmallVector<Value> at = k.delinearize(line, {g.batch, g.out[0], g.out[1]}), carried(initial);
      auto [placeDepth, hasDepth] = place(0, at[1], depth);
      auto [placeHeight, hasHeight] = place(1, at[2], height);
      Value origin = k.mul(line, width);
      Value row = k.linearize({at[0], placeDepth, placeHeight}, {g.batch, g.in[0], g.in[1]});
      Value left = k.add(k.mul(row, g.in[2]), kw * g.dilation[2] - g.low[2]);
      Value x = k.add(k.mul(left, g.inputChannels), inputOffset);
      Value y = k.add(k.mul(origin, cotangentChannels()), cotangentOffset);
      auto columnsFrom = [&](int64_t from, int64_t to, ArrayRef<int64_t> members) {
        if (from >= to || members.empty()) return;
        Value lower = k.index(from), upper = k.index(to);
        if (f.isCut()) {
          lower = k.max(lower, k.sub(begin, origin));
          upper = k.min(upper, k.sub(end, origin));
        }
        for (Value has : {hasDepth, hasHeight})
          if (has) upper = arith::SelectOp::create(k.b, k.loc, has, upper, lower);
        SmallVector<Value> part;
        for (int64_t t : members)
          for (int64_t j = 0; j < count; ++j) part.push_back(carried[t * count + j]);
        part = k.loop(lower, upper, 1, part, [&](Value column, ValueRange inner) {
          SmallVector<Value> results(inner);
          Value from = k.add(y, k.mul(column, cotangentChannels()));
          Value source = k.add(x, k.mul(column, g.stride[2] * g.inputChannels));
          for (int64_t j = 0; j < count; ++j) {
            int64_t shift = (firstVector + j) * kLanes;
            Value weights = k.loadVector(cotangent, k.add(from, shift), f.elementType, masks[j], kLanes);
            for (auto [i, t] : llvm::enumerate(members)) {
              Value value = k.loadVector(input, k.add(source, t * g.dilation[2] * g.inputChannels + shift),
                                         f.elementType, masks[j], kLanes);
              results[i * count + j] = k.multiplyAdd(value, weights, inner[i * count + j]);
            }
          }
          return results;
        });
        for (auto [i, t] : llvm::enumerate(members))
          for (int64_t j = 0; j < count; ++j) carried[t * count + j] = part[i * count + j];
      };
      SmallVector<int64_t> all;
      for (int64_t t = 0; t < taps; ++t) all.push_back(t);
      // Each chain is in ascending order: columns before those of all taps, then these, then the rest.
      for (int64_t t : all) columnsFrom(inside(kw + t).first, std::min(first, inside(kw + t).second), t);
      columnsFrom(first, last, all);
      for (int64_t t : all) columnsFrom(std::max(last, inside(kw + t).first), inside(kw + t).second, t);
      return carried;
    });
    for (int64_t t = 0; t < taps; ++t)
      for (int64_t j = 0; j < count; ++j)
        addTo(k.add(k.mul(k.add(firstTap, kw + t), stride), (firstVector + j) * kLanes), chains[t * count + j]);
  }

  // Sums [rows, columns] to the tile's piece of the result [pieces * outputs, channels * taps]: blocks of 16 by 16 turn
  // in registers.
  void storeTurned(int64_t rows, int64_t columns, Value firstOutput, Value firstRow) {
    firstOutput = k.add(k.mul(piece, f.groups * f.outputs), firstOutput);
    auto block = [&](Value row, int64_t count) {
      for (int64_t j = 0; j < columns; j += kLanes) {
        SmallVector<Value> lines;
        auto vectorType = VectorType::get({kLanes}, type);
        for (int64_t i = 0; i < kLanes; ++i)
          lines.push_back(i < count ? Value(vector::LoadOp::create(k.b, k.loc, vectorType, sums,
                                                                   k.add(k.mul(k.add(row, i), stride), j)))
                                    : k.zero(type, kLanes));
        turnLines(k, lines);
        Value column = k.add(firstRow, row), mask = laneMask(k, count, kLanes);
        for (int64_t i = 0; i < std::min(kLanes, columns - j); ++i)
          epilogue.store(k, lines[i], k.add(firstOutput, j + i), column, mask);
      }
    };
    int64_t whole = rows / kLanes * kLanes;
    k.loop(k.index(0), k.index(whole), kLanes, [&](Value row) { block(row, kLanes); });
    if (whole < rows) block(k.index(whole), rows - whole);
  }

  KernelBuilder &k;
  const FilterGradient &f;
  const ConvGeometry &g;
  const Epilogue &epilogue;
  Value input, cotangent, sums;
  Type type;
  int64_t stride;                     // of the sums' rows
  int64_t columns = 0;                // of the tile
  Value piece;                        // of the tile, 0 where it has all of them
  Value inputOffset, cotangentOffset; // of the tile's first channel and output
  Value begin, end;                   // of the piece
};

/// Whole gradients, or their parts.
template <typename OpT> struct ConvFilterGradEmitter : ContractionEmitter<OpT> {
  KernelPlan planOf(OpT op, const Epilogue &epilogue) const override {
    FilterGradient gradient(op);
    KernelPlan plan;
    plan.tiles = gradient.tiles();
    if (plan.tiles == 0) return plan;
    plan.scratchBytes = llvm::alignTo(gradient.scratchBytes(), 64);
    if (!gradient.inParts) return plan;
    // What the positions of a piece read of the input lies unevenly where there is padding.
    int64_t outputs = gradient.groups * gradient.outputs, cotangent = kChainPart * outputs;
    int64_t piece = outputs * gradient.channels * gradient.taps();
    plan.ranges = epilogue.tileRanges({gradient.pieces, plan.tiles / gradient.pieces}, {{piece, 0, piece}},
                                      [&](unsigned operand) -> SmallVector<TileStep> {
                                        if (operand == 0) return {};
                                        return {{cotangent, 0, cotangent}};
                                      });
    return plan;
  }

  void emitOp(KernelBuilder &k, OpT op, Epilogue &epilogue) const override {
    FilterGradient gradient(op);
    if (gradient.tiles())
      FilterGradientKernel(k, gradient, epilogue, k.operandBuffer(op.getInput()), k.operandBuffer(op.getCotangent()))
          .emit();
  }

  std::optional<Epilogue> analyze(kernel::DispatchOp dispatch) const override {
    auto epilogue = Epilogue::analyze(dispatch, [](Operation *op) {
      auto gradient = dyn_cast<OpT>(op);
      if constexpr (std::is_same_v<OpT, ir::ConvFilterGradOp>) return gradient && gradient.getChannelsLast();
      if constexpr (FilterGradient::kInParts<OpT>) return gradient && !gradient.getChannelsFirst();
    });
    if (epilogue) epilogue->flatten(FilterGradient::kInParts<OpT> ? 2 : 1);
    return epilogue;
  }
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::cpu::createConvFilterGradEmitter() {
  return std::make_unique<ConvFilterGradEmitter<ir::ConvFilterGradOp>>();
}
std::unique_ptr<KernelEmitter> sprig::cpu::createConvFilterGradPartsEmitter() {
  return std::make_unique<ConvFilterGradEmitter<kernel::ConvFilterGradPartsOp>>();
}
