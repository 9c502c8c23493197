#include "lib/Import/ONNX/SchemaTable.h"
#include "lib/Import/ONNX/MicrosoftSchemas.h"
#include "onnx/defs/operator_sets.h"
#include <algorithm>
#include <array>
#include <map>
#include <mutex>

using namespace sprig::onnximport;

namespace {
using Schemas = std::map<std::string, onnx::OpSchema>;

// The operators that came or changed in one version of the default domain.
template <typename Set> void makeSet(Schemas &schemas) {
  Set::ForEachSchema([&](onnx::OpSchema &&schema) {
    schema.Finalize();
    std::string name = schema.Name();
    schemas.emplace(std::move(name), std::move(schema));
  });
}

constexpr std::array<void (*)(Schemas &), 28> kSets = {
    makeSet<onnx::OpSet_Onnx_ver1>,  makeSet<onnx::OpSet_Onnx_ver2>,  makeSet<onnx::OpSet_Onnx_ver3>,
    makeSet<onnx::OpSet_Onnx_ver4>,  makeSet<onnx::OpSet_Onnx_ver5>,  makeSet<onnx::OpSet_Onnx_ver6>,
    makeSet<onnx::OpSet_Onnx_ver7>,  makeSet<onnx::OpSet_Onnx_ver8>,  makeSet<onnx::OpSet_Onnx_ver9>,
    makeSet<onnx::OpSet_Onnx_ver10>, makeSet<onnx::OpSet_Onnx_ver11>, makeSet<onnx::OpSet_Onnx_ver12>,
    makeSet<onnx::OpSet_Onnx_ver13>, makeSet<onnx::OpSet_Onnx_ver14>, makeSet<onnx::OpSet_Onnx_ver15>,
    makeSet<onnx::OpSet_Onnx_ver16>, makeSet<onnx::OpSet_Onnx_ver17>, makeSet<onnx::OpSet_Onnx_ver18>,
    makeSet<onnx::OpSet_Onnx_ver19>, makeSet<onnx::OpSet_Onnx_ver20>, makeSet<onnx::OpSet_Onnx_ver21>,
    makeSet<onnx::OpSet_Onnx_ver22>, makeSet<onnx::OpSet_Onnx_ver23>, makeSet<onnx::OpSet_Onnx_ver24>,
    makeSet<onnx::OpSet_Onnx_ver25>, makeSet<onnx::OpSet_Onnx_ver26>, makeSet<onnx::OpSet_Onnx_ver27>,
    makeSet<onnx::OpSet_Onnx_ver28>};

struct SchemaSets {
  std::mutex mutex;
  std::array<bool, kSets.size()> made{};
  std::array<Schemas, kSets.size()> sets;
};
} // namespace

const onnx::OpSchema *sprig::onnximport::findSchema(const std::string &op, int opset, const std::string &domain) {
  if (domain == kMicrosoftDomain) return opset < 1 ? nullptr : findMicrosoftSchema(op, domain);
  if (!domain.empty()) return onnx::OpSchemaRegistry::Schema(op, opset, domain);
  static SchemaSets &table = *new SchemaSets; // never taken down: that too would take longer than a small model
  std::lock_guard lock(table.mutex);
  for (int version = std::min(opset, int(kSets.size())); version >= 1; --version) {
    Schemas &set = table.sets[size_t(version - 1)];
    if (!table.made[size_t(version - 1)]) {
      kSets[size_t(version - 1)](set);
      table.made[size_t(version - 1)] = true;
    }
    if (auto found = set.find(op); found != set.end()) return &found->second;
  }
  return findMicrosoftSchema(op, domain);
}

bool sprig::onnximport::isKnownDomain(const std::string &domain) {
  return domain == kMicrosoftDomain || onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map().count(domain);
}
