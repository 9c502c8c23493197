#include "lib/Target/Package/Compact.h"
#include "dialects/Kernel/FilterOrigin.h"
#include "dialects/Kernel/Winograd.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNDialect.h"
#include "lib/Target/Package/Compress.h"
#include "lib/Target/Package/ScaledForm.h"
#include "llvm/ADT/DenseSet.h"
#include <cstring>

using namespace mlir;
using namespace sprig;
using namespace sprig::rt::format;

static constexpr uint64_t kLeastSaved = 1024;

static std::span<const uint8_t> bytesOf(ArrayRef<char> bytes) {
  return {reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()};
}

static bool expandsTo(const Expansion &expansion, ArrayRef<char> from, ArrayRef<char> to) {
  if (!checkExpansion(expansion, to.size()).empty()) return false;
  std::vector<uint8_t> made(to.size());
  return expand(expansion, bytesOf(from), made) && std::memcmp(made.data(), to.data(), to.size()) == 0;
}

// A filter in frequencies, of the filter that it was made of.
static std::optional<CompactConstant> filterForm(ElementsAttr value, ArrayRef<char> bytes) {
  std::optional<kernel::FilterOrigin> origin = kernel::originOf(value);
  if (!origin) return std::nullopt;
  auto shape = cast<RankedTensorType>(origin->filter.getType()).getShape();
  auto vertical = kernel::WinogradLine::get(origin->tile[0], shape[2]),
       horizontal = kernel::WinogradLine::get(origin->tile[1], shape[3]);
  ir::ConstantView filter(origin->filter);
  if (!vertical || !horizontal || filter.isSplat() || filter.bytes().size() + kLeastSaved > bytes.size())
    return std::nullopt;
  CompactConstant compact;
  compact.source = origin->filter;
  Expansion &e = compact.expansion;
  e.form = ExpansionForm::Filter;
  e.size = filter.bytes().size();
  for (int64_t size : shape) e.shape.push_back(uint64_t(size));
  for (int64_t size :
       {vertical->frequencies(), horizontal->frequencies(), cast<RankedTensorType>(value.getType()).getShape().back()})
    e.shape.push_back(uint64_t(size));
  e.down = vertical->filterMatrix();
  e.across = horizontal->filterMatrix();
  // The compiler made it by the loader's function (WinogradFilter.cpp): to do so again would tell nothing.
  if (!checkExpansion(e, bytes.size()).empty()) return std::nullopt;
  return compact;
}

static std::optional<CompactConstant> scaledConstant(RankedTensorType type, ArrayRef<char> bytes) {
  auto scaled = scaledForm(type, bytes);
  if (!scaled) return std::nullopt;
  auto &[expansion, from] = *scaled;
  if (from.size() > bytes.size() / 2 || from.size() + kLeastSaved > bytes.size() || !expandsTo(expansion, from, bytes))
    return std::nullopt;
  return CompactConstant{std::move(expansion), std::move(from), {}};
}

// Whether some of a constant's elements are seen again near by. Learnt weights are not, and are most of all bytes.
static bool mayCompress(ArrayRef<char> bytes, unsigned width) {
  if (width < 4) return true;
  size_t count = std::min<size_t>(bytes.size() / width, 4096);
  // In the middle: what is at the edges may be padding.
  const char *first = bytes.data() + (bytes.size() / width - count) / 2 * width;
  llvm::DenseSet<uint64_t> seen;
  for (size_t i = 0; i < count; ++i) {
    uint64_t element = 0;
    std::memcpy(&element, first + i * width, width);
    seen.insert(element >> 1); // two keys are the set's own
  }
  return seen.size() <= count / 2;
}

// The elements of a constant as a stream has them.
static std::vector<char> arranged(const Expansion &e, ArrayRef<char> bytes) {
  std::vector<char> result(arrangedBytes(e, bytes.size()), 0);
  uint64_t before = 0, sign = uint64_t(1) << (8 * e.width - 1);
  for (size_t i = 0; i < bytes.size() / e.width; ++i) {
    uint64_t element = 0;
    std::memcpy(&element, bytes.data() + i * e.width, e.width);
    uint64_t given = e.arrangement == Arrangement::Differences  ? element - before
                     : e.arrangement == Arrangement::SignsApart ? element & ~sign
                                                                : element;
    std::memcpy(result.data() + i * e.width, &given, e.width);
    if (given != element && e.arrangement == Arrangement::SignsApart)
      result[bytes.size() + i / 8] |= char(1 << (i % 8));
    before = element;
  }
  return result;
}

static std::optional<CompactConstant> compressedConstant(RankedTensorType type, ArrayRef<char> bytes) {
  Type element = type.getElementType();
  unsigned width = unsigned(storageBytes(element));
  bool isCount = width >= 4 && isa<IntegerType>(element);
  if (!isCount && !mayCompress(bytes, width)) return std::nullopt;
  uint64_t most = std::min<uint64_t>(bytes.size() / 2, bytes.size() - kLeastSaved);
  // The beginning tells which arrangement is best, and mostly whether any will do.
  constexpr size_t kBeginning = 1 << 17;
  ArrayRef<char> beginning = bytes.take_front(kBeginning);
  std::optional<CompactConstant> best;
  uint64_t least = beginning.size() / 2;
  for (Arrangement arrangement : {Arrangement::Plain, Arrangement::Differences, Arrangement::SignsApart}) {
    if ((arrangement == Arrangement::Differences && !isCount) ||
        (arrangement == Arrangement::SignsApart && !isa<FloatType>(element)))
      continue;
    Expansion e;
    e.width = uint8_t(width);
    e.arrangement = arrangement;
    auto stream = compress(bytesOf(arranged(e, beginning)), width, least);
    if (!stream) continue;
    least = stream->size();
    best.emplace();
    best->expansion = e;
    best->bytes.assign(stream->begin(), stream->end());
  }
  if (!best) return std::nullopt;
  if (beginning.size() < bytes.size()) {
    auto stream = compress(bytesOf(arranged(best->expansion, bytes)), width, most);
    if (!stream) return std::nullopt;
    best->bytes.assign(stream->begin(), stream->end());
  }
  best->expansion.size = best->bytes.size();
  if (best->bytes.size() > most || !expandsTo(best->expansion, best->bytes, bytes)) return std::nullopt;
  return best;
}

std::optional<CompactConstant> sprig::compactForm(ElementsAttr value) {
  ir::ConstantView view(value);
  ArrayRef<char> bytes = view.bytes();
  constexpr size_t kLargest = size_t(1) << 30;
  if (view.isSplat() || bytes.size() < 2 * kLeastSaved || bytes.size() > kLargest) return std::nullopt;
  auto type = cast<RankedTensorType>(value.getType());
  if (auto compact = filterForm(value, bytes)) return compact;
  if (auto compact = scaledConstant(type, bytes)) return compact;
  return compressedConstant(type, bytes);
}
