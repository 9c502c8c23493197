// kernel.conv_winograd with an epilogue. A kernel's tile is a block of Winograd tiles: their inputs go to frequencies
// in scratch memory, then one matrix product a frequency, then back to outputs and through the epilogue. A block is as
// large as keeps scratch in the second-level cache, or large enough for each panel that comes from further away.
#include "dialects/Kernel/KernelContraction.h"
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "lib/Target/CPU/Kernels/Elementwise/Epilogue.h"
#include "lib/Target/CPU/Kernels/Contraction/RegisterTile.h"
#include "lib/Target/CPU/Kernels/Convolution/WinogradTransform.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

namespace {
/// A Winograd convolution and how it is cut, by its shape alone. A strip is a row of Winograd tiles of one sample, or a
/// segment of one where rows are long; a block is some strips.
struct Winograd {
  kernel::WinogradLine vertical, horizontal;
  int64_t batch, height, width, channels, outHeight, outWidth, outputs, top, left;
  int64_t tileRows, tileColumns, segmentTiles, segments;
  int64_t strips; // in one segment: batch * tileRows
  int64_t blockStrips, blocks, panels, groupPanels, groups;
  int64_t rowLength, inputStride,
      productStride; // floats of a tile's channels; of a frequency before,
                     // after products

  explicit Winograd(kernel::ConvWinogradOp op)
      : vertical(*kernel::WinogradLine::get(op.getTile()[0], op.getWindow()[0])),
        horizontal(*kernel::WinogradLine::get(op.getTile()[1], op.getWindow()[1])) {
    ArrayRef<int64_t> in = op.getInput().getType().getShape(), out = op.getType().getShape();
    batch = in[0], height = in[1], width = in[2], channels = in[3];
    outHeight = out[1], outWidth = out[2], outputs = out[3];
    top = op.getPadding()[0], left = op.getPadding()[1];
    tileRows = llvm::divideCeil(outHeight, vertical.outputs());
    tileColumns = llvm::divideCeil(outWidth, horizontal.outputs());
    constexpr int64_t kLongestStrip = 28;
    segments = std::max<int64_t>(llvm::divideCeil(tileColumns, kLongestStrip), 1);
    segmentTiles = llvm::divideCeil(tileColumns, segments);
    strips = batch * tileRows;
    panels = llvm::divideCeil(outputs, kPanelWidth);
    rowLength = llvm::alignTo(channels, kLanes / 2);

    // Few blocks: panels are shared out too, and threads that share those of a block each transform its inputs.
    auto blocksOf = [&](int64_t rows) {
      int64_t wanted = std::clamp<int64_t>(rows / std::max<int64_t>(segmentTiles, 1), 1, std::max<int64_t>(strips, 1));
      return llvm::divideCeil(strips, wanted);
    };
    int64_t bytesPerRow = frequencies() * (rowLength + panels * kPanelWidth) * 4;
    blocks = blocksOf(std::clamp<int64_t>(768 * 1024 / bytesPerRow, 28, 56));
    // Two halves of one block with one panel read that twice, but a second thread has something to do. Each must be
    // worth a register tile or so.
    constexpr int64_t kWorthTwo = 16;
    if (blocks * segments * panels == 1 && strips * segmentTiles >= kWorthTwo) blocks = 2;
    blockStrips = llvm::divideCeil(strips, std::max<int64_t>(blocks, 1));
    blocks = llvm::divideCeil(strips, std::max<int64_t>(blockStrips, 1));
    groups = std::clamp<int64_t>(llvm::divideCeil(4, std::max<int64_t>(blocks * segments, 1)), 1,
                                 std::max<int64_t>(panels, 1));
    groupPanels = llvm::divideCeil(panels, groups);
    groups = llvm::divideCeil(panels, std::max<int64_t>(groupPanels, 1));
    // A line more than needed, so that frequencies do not lie a power of two apart.
    inputStride = blockRows() * rowLength + kLanes;
    productStride = blockRows() * groupColumns() + kLanes;
  }

  int64_t frequencies() const { return vertical.frequencies() * horizontal.frequencies(); }
  int64_t groupColumns() const { return groupPanels * kPanelWidth; }
  int64_t blockRows() const { return blockStrips * segmentTiles; }
  /// Columns of the input that a strip reads, those in the padding included.
  int64_t stripColumns() const { return segmentTiles * horizontal.outputs() + horizontal.window() - 1; }
  int64_t tiles() const { return outputs == 0 ? 0 : blocks * segments * groups; }

  /// What blocks of strips touch of the input and the result; no steps where strips do not follow each other evenly
  /// from one sample to the next.
  SmallVector<TileStep> inputSteps() const {
    int64_t row = width * channels, strip = vertical.outputs() * row, block = blockStrips * strip;
    if (batch != 1 && height * row != tileRows * strip) return {};
    return ofBlocks({block, -top * row, block + (vertical.window() - 1) * row});
  }
  SmallVector<TileStep> resultSteps() const {
    int64_t strip = vertical.outputs() * outWidth * outputs, block = blockStrips * strip;
    if (batch != 1 && outHeight % vertical.outputs() != 0) return {};
    return ofBlocks({block, 0, block});
  }
  SmallVector<int64_t> space() const { return {blocks, segments, groups}; }

  // Scratch memory, in floats: frequencies of inputs, products, and one half-transformed strip or tile.
  int64_t inputsAt() const { return 0; }
  int64_t productsAt() const { return frequencies() * inputStride; }
  int64_t halfAt() const { return productsAt() + frequencies() * productStride; }
  int64_t scratchFloats() const {
    int64_t strip = stripColumns() * vertical.frequencies(), tile = vertical.outputs() * horizontal.frequencies();
    return halfAt() + std::max(strip, tile) * kLanes;
  }

private:
  static SmallVector<TileStep> ofBlocks(TileStep block) {
    TileStep part{0, block.begin, block.extent};
    return {block, part, part};
  }
};

class WinogradKernel {
public:
  WinogradKernel(KernelBuilder &kernel, const Winograd &shape, const Epilogue &epilogue, Value input, Value panels)
      : k(kernel), w(shape), epilogue(epilogue), input(k.flat(input)), panels(k.flat(panels)),
        f32(kernel.b.getF32Type()) {
    scratch = k.scratchBuffer(0, MemRefType::get({w.scratchFloats()}, f32));
  }

  void emit() {
    k.forTiles([&](Value index) {
      SmallVector<Value> at = k.delinearize(index, w.space());
      firstStrip = k.mul(at[0], w.blockStrips);
      firstTile = k.mul(at[1], w.segmentTiles);
      Value endStrip = k.add(firstStrip, w.blockStrips);
      stripCount = w.strips % w.blockStrips == 0 ? k.index(w.blockStrips)
                                                 : k.sub(k.min(endStrip, k.index(w.strips)), firstStrip);
      group = at[2];
      // The groups of a block come one after the other; what the call has transformed for one is there for the next.
      auto transform = [&] {
        forStrips([&](Value strip, Value sample, Value tileRow) { transformInputs(strip, sample, tileRow); });
      };
      if (w.groups == 1)
        transform();
      else
        k.ifThen(arith::OrIOp::create(k.b, k.loc, isEqual(index, k.tileBegin()), isEqual(group, k.index(0))),
                 transform);
      firstPanel = k.mul(group, w.groupPanels);
      int64_t lastStrips = w.strips - (w.blocks - 1) * w.blockStrips;
      k.ifLast(at[0], w.blocks, lastStrips != w.blockStrips,
               [&](bool last) { multiply((last ? lastStrips : w.blockStrips) * w.segmentTiles); });
      forStrips([&](Value strip, Value sample, Value tileRow) { transformOutputs(strip, sample, tileRow); });
    });
  }

private:
  void forStrips(llvm::function_ref<void(Value strip, Value sample, Value tileRow)> body) {
    k.loop(k.index(0), stripCount, 1, [&](Value strip) {
      SmallVector<Value> at = k.delinearize(k.add(firstStrip, strip), {w.batch, w.tileRows});
      body(strip, at[0], at[1]);
    });
  }

  /// Calls `body(first channel, mask)` for the vectors of `count` channels,
  /// whose lanes are in `lanes` meanwhile; the mask is null but for the last.
  void forVectors(int64_t count, llvm::function_ref<void(Value channel, Value mask)> body) {
    int64_t whole = count / kLanes * kLanes;
    lanes = kLanes;
    k.loop(k.index(0), k.index(whole), kLanes, [&](Value channel) { body(channel, Value()); });
    if (whole == count) return;
    lanes = vectorLanes(count - whole).front();
    body(k.index(whole), laneMask(k, count - whole, lanes));
  }

  /// The same for the output channels of the group, counted from its first one.
  void forGroupVectors(Value firstColumn, llvm::function_ref<void(Value channel, Value mask)> body) {
    int64_t whole = w.outputs / kLanes * kLanes;
    Value end = k.min(k.index(w.groupColumns()), k.sub(k.index(whole), firstColumn));
    lanes = kLanes;
    k.loop(k.index(0), end, kLanes, [&](Value channel) { body(channel, Value()); });
    if (whole == w.outputs) return;
    lanes = vectorLanes(w.outputs - whole).front();
    k.ifLast(group, w.groups, true, [&](bool last) {
      if (last) body(k.sub(k.index(whole), firstColumn), laneMask(k, w.outputs - whole, lanes));
    });
  }

  Value isEqual(Value a, Value b) { return arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::eq, a, b); }
  Value isInside(Value position, int64_t size) {
    Value low = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::sge, position, k.index(0));
    Value high = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::slt, position, k.index(size));
    return arith::AndIOp::create(k.b, k.loc, low, high);
  }

  Value read(Value at) { return k.loadVector(scratch, at, f32, {}, lanes); }
  void write(Value value, Value at) { k.store(value, scratch, at, f32); }

  // Over height first, one column of inputs at a time: neighbouring tiles share columns. Then over width.
  void transformInputs(Value strip, Value sample, Value tileRow) {
    int64_t lines = w.vertical.frequencies();
    Value firstRow = k.sub(k.mul(tileRow, w.vertical.outputs()), k.index(w.top));
    Value firstColumn = k.sub(k.mul(firstTile, w.horizontal.outputs()), k.index(w.left));
    bool padded = w.top > 0 || (w.tileRows - 1) * w.vertical.outputs() - w.top + lines > w.height;
    SmallVector<Value> rows, inside;
    for (int64_t i = 0; i < lines; ++i) {
      Value row = k.add(firstRow, i);
      inside.push_back(padded ? isInside(row, w.height) : Value());
      if (padded) row = k.min(k.max(row, k.index(0)),
                              k.index(w.height - 1)); // reads nothing there
      rows.push_back(k.mul(k.add(k.mul(sample, w.height), row), w.width * w.channels));
    }
    // Columns [begin, end) of the strip lie in the input.
    Value all = k.index(w.stripColumns());
    Value begin = k.min(k.max(k.sub(k.index(0), firstColumn), k.index(0)), all);
    Value end = k.max(k.min(k.sub(k.index(w.width), firstColumn), all), begin);
    Value half = k.index(w.halfAt());
    auto halfOf = [&](Value column, int64_t line) {
      return k.add(half, k.add(k.mul(column, lines * kLanes), line * kLanes));
    };

    forVectors(w.channels, [&](Value channel, Value mask) {
      auto clear = [&](Value column) {
        for (int64_t i = 0; i < lines; ++i) write(k.zero(f32, lanes), halfOf(column, i));
      };
      SmallVector<Value> masks;
      for (Value line : inside) {
        Value all = line ? k.splat(line, lanes) : Value();
        masks.push_back(all && mask ? Value(arith::AndIOp::create(k.b, k.loc, all, mask)) : all ? all : mask);
      }
      k.loop(k.index(0), begin, 1, clear);
      k.loop(begin, end, 1, [&](Value column) {
        Value from = k.add(k.mul(k.add(firstColumn, column), w.channels), channel);
        SmallVector<Value> values;
        for (int64_t i = 0; i < lines; ++i)
          values.push_back(k.loadVector(input, k.add(rows[i], from), f32, masks[i], lanes));
        for (auto [i, value] : llvm::enumerate(emitInputTransform(k, w.vertical, values)))
          write(value, halfOf(column, i));
      });
      k.loop(end, all, 1, clear);

      k.loop(k.index(0), k.index(w.segmentTiles), 1, [&](Value tile) {
        Value row = k.add(k.mul(strip, w.segmentTiles), tile);
        Value to = k.add(k.add(k.mul(row, w.rowLength), w.inputsAt()), channel);
        Value column = k.mul(tile, w.horizontal.outputs());
        k.loop(k.index(0), k.index(lines), 1, [&](Value i) {
          Value from = k.add(halfOf(column, 0), k.mul(i, kLanes));
          SmallVector<Value> values;
          for (int64_t j = 0; j < w.horizontal.frequencies(); ++j)
            values.push_back(read(k.add(from, j * lines * kLanes)));
          Value line = k.add(to, k.mul(i, w.horizontal.frequencies() * w.inputStride));
          for (auto [j, value] : llvm::enumerate(emitInputTransform(k, w.horizontal, values)))
            write(value, k.add(line, j * w.inputStride));
        });
      });
    });
  }

  // One matrix product for each frequency: the block's tiles, which stay in the first-level cache, times each panel.
  void multiply(int64_t rows) {
    Value end = k.min(k.add(firstPanel, w.groupPanels), k.index(w.panels));
    int64_t lastColumns = w.outputs - (w.panels - 1) * kPanelWidth, depth = w.channels * kPanelWidth;
    k.loop(k.index(0), k.index(w.frequencies()), 1, [&](Value frequency) {
      Value left = k.add(k.mul(frequency, w.inputStride), w.inputsAt());
      Value to = k.add(k.mul(frequency, w.productStride), w.productsAt());
      k.loop(firstPanel, end, 1, [&](Value panel) {
        Value right = k.mul(k.add(k.mul(panel, w.frequencies()), frequency), depth);
        Value target = k.add(to, k.mul(k.sub(panel, firstPanel), kPanelWidth));
        k.ifLast(panel, w.panels, lastColumns != kPanelWidth,
                 [&](bool last) { multiplyPanel(rows, left, right, target, last ? lastColumns : kPanelWidth); });
      });
    });
  }

  void multiplyPanel(int64_t rows, Value left, Value right, Value target, int64_t columns) {
    SmallVector<int64_t> lanesOfAll = vectorLanes(columns);
    int64_t vectors = lanesOfAll.size();
    int64_t step = std::min(chooseTileVectors(k.target, f32, rows), vectors);
    // LLVM keeps the factors of the transforms in registers throughout; where there are 32, leave them room, or the
    // accumulators are spilled in the innermost loop.
    CpuArch roomy = k.target;
    if (roomy.vectorRegisters == 32) roomy.vectorRegisters -= 13;
    for (int64_t first = 0; first < vectors; first += step) {
      ArrayRef<int64_t> tileLanes = ArrayRef(lanesOfAll).slice(first, std::min(step, vectors - first));
      int64_t count = tileLanes.size();
      forRowTiles(k, k.index(0), splitRows(rows, maxTileRows(roomy, f32, count, w.rowLength)),
                  [&](Value row, int64_t tileRows) {
                    ContractionLoop loop;
                    loop.left = scratch;
                    loop.leftBase = k.add(left, k.mul(row, w.rowLength));
                    loop.leftRowStride = w.rowLength;
                    loop.right = panels;
                    loop.rightBase = k.add(right, first * kLanes);
                    for (int64_t j = 0; j < count; ++j) loop.rightOffsets.push_back(j * kLanes);
                    loop.elementType = f32;
                    loop.count = k.index(w.channels);
                    SmallVector<Value> sums = emitContraction(k, loop, zeroTile(k, f32, tileRows, tileLanes));
                    Value tile = k.add(k.add(target, k.mul(row, w.groupColumns())), first * kLanes);
                    for (int64_t i = 0; i < tileRows; ++i)
                      for (int64_t j = 0; j < count; ++j)
                        write(sums[i * count + j], k.add(tile, i * w.groupColumns() + j * kLanes));
                  });
    }
  }

  void transformOutputs(Value strip, Value sample, Value tileRow) {
    int64_t tileHeight = w.vertical.outputs();
    Value firstRow = k.mul(tileRow, tileHeight);
    Value rows = w.outHeight % tileHeight == 0 ? k.index(tileHeight)
                                               : k.min(k.index(tileHeight), k.sub(k.index(w.outHeight), firstRow));
    Value tiles = w.tileColumns % w.segmentTiles == 0
                      ? k.index(w.segmentTiles)
                      : k.min(k.index(w.segmentTiles), k.sub(k.index(w.tileColumns), firstTile));
    Value firstOutput = k.linearize({sample, firstRow, k.index(0)}, {w.batch, w.outHeight, w.outWidth});
    int64_t lastWidth = w.outWidth - (w.tileColumns - 1) * w.horizontal.outputs();
    Value firstColumn = k.mul(firstPanel, kPanelWidth);
    forGroupVectors(firstColumn, [&](Value channel, Value mask) {
      k.loop(k.index(0), tiles, 1, [&](Value tile) {
        Value row = k.add(k.mul(strip, w.segmentTiles), tile);
        halfTransform(k.add(k.mul(row, w.groupColumns()), channel));
        Value tileColumn = k.add(firstTile, tile);
        Value first = k.add(firstOutput, k.mul(tileColumn, w.horizontal.outputs()));
        Value column = k.add(firstColumn, channel);
        k.ifLast(tileColumn, w.tileColumns, lastWidth != w.horizontal.outputs(), [&](bool last) {
          int64_t width = last ? lastWidth : w.horizontal.outputs();
          k.loop(k.index(0), rows, 1, [&](Value y) {
            Value from = k.add(k.mul(y, w.horizontal.frequencies() * kLanes), w.halfAt());
            SmallVector<Value> values, positions;
            for (int64_t j = 0; j < w.horizontal.frequencies(); ++j) values.push_back(read(k.add(from, j * kLanes)));
            SmallVector<Value> results = emitOutputTransform(k, w.horizontal, values);
            results.truncate(width);
            Value position = k.add(first, k.mul(y, w.outWidth));
            for (int64_t x = 0; x < width; ++x) positions.push_back(k.add(position, x));
            epilogue.store(k, results, positions, {column}, {mask});
          });
        });
      });
    });
  }

  /// One tile's products, over height, for the vector of channels at `offset` in a frequency's products.
  void halfTransform(Value offset) {
    int64_t across = w.horizontal.frequencies();
    k.loop(k.index(0), k.index(across), 1, [&](Value j) {
      Value from = k.add(k.add(k.mul(j, w.productStride), w.productsAt()), offset);
      SmallVector<Value> values;
      for (int64_t i = 0; i < w.vertical.frequencies(); ++i)
        values.push_back(read(k.add(from, i * across * w.productStride)));
      Value to = k.add(k.mul(j, kLanes), w.halfAt());
      for (auto [y, value] : llvm::enumerate(emitOutputTransform(k, w.vertical, values)))
        write(value, k.add(to, y * across * kLanes));
    });
  }

  KernelBuilder &k;
  const Winograd &w;
  const Epilogue &epilogue;
  Value input, panels;
  Type f32;
  Value scratch;
  Value firstStrip, stripCount, firstTile; // of the block
  Value group, firstPanel;                 // of the block's share of the panels
  int64_t lanes = kLanes;                  // of the vectors that are transformed
};

struct ConvWinogradEmitter : ContractionEmitter<kernel::ConvWinogradOp> {
  KernelPlan planOf(kernel::ConvWinogradOp op, const Epilogue &epilogue) const override {
    Winograd shape(op);
    KernelPlan plan;
    plan.tiles = shape.tiles();
    if (plan.tiles == 0) return plan;
    plan.scratchBytes = llvm::alignTo(shape.scratchFloats() * 4, 64);
    plan.ranges = epilogue.tileRanges(shape.space(), shape.resultSteps(), [&](unsigned operand) {
      return operand == 0 ? shape.inputSteps() : SmallVector<TileStep>();
    });
    return plan;
  }

  void emitOp(KernelBuilder &k, kernel::ConvWinogradOp op, Epilogue &epilogue) const override {
    Winograd shape(op);
    if (shape.tiles() == 0) return;
    WinogradKernel(k, shape, epilogue, k.operandBuffer(op.getInput()), k.operandBuffer(op.getPanels())).emit();
  }
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::cpu::createConvWinogradEmitter() {
  return std::make_unique<ConvWinogradEmitter>();
}
