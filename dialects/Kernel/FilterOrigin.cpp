#include "dialects/Kernel/FilterOrigin.h"
#include "dialects/Kernel/KernelDialect.h"
#include "mlir/IR/DialectInterface.h"
#include <mutex>

using namespace mlir;
using namespace sprig::kernel;

namespace {
// Equal attributes have equal bytes, so what is noted is true of whoever holds one.
class FilterOrigins : public DialectInterface::Base<FilterOrigins> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FilterOrigins)
  explicit FilterOrigins(Dialect *dialect) : Base(dialect) {}

  static const FilterOrigins *of(Attribute attribute) {
    auto *dialect = attribute.getContext()->getLoadedDialect<KernelDialect>();
    return dialect ? dialect->getRegisteredInterface<FilterOrigins>() : nullptr;
  }
  void note(Attribute transformed, const FilterOrigin &origin) const {
    std::lock_guard lock(mutex);
    origins.insert({transformed, origin});
  }
  std::optional<FilterOrigin> find(Attribute transformed) const {
    std::lock_guard lock(mutex);
    auto found = origins.find(transformed);
    return found == origins.end() ? std::nullopt : std::optional(found->second);
  }

private:
  mutable std::mutex mutex; // passes may run on several functions at once
  mutable llvm::DenseMap<Attribute, FilterOrigin> origins;
};
} // namespace

void sprig::kernel::registerFilterOrigins(Dialect &dialect) {
  dialect.addInterface(std::make_unique<FilterOrigins>(&dialect));
}

void sprig::kernel::noteOrigin(ElementsAttr transformed, const FilterOrigin &origin) {
  if (const FilterOrigins *origins = FilterOrigins::of(transformed)) origins->note(transformed, origin);
}

std::optional<FilterOrigin> sprig::kernel::originOf(ElementsAttr transformed) {
  const FilterOrigins *origins = FilterOrigins::of(transformed);
  return origins ? origins->find(transformed) : std::nullopt;
}
