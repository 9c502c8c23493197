// The cache that the options of a compilation name. For the phases that keep results.
#pragma once
#include "lib/Cache/FileCache.h"
#include "sprig/options.h"
#include <functional>
#include <memory>
#include <string>

namespace sprig {

/// Null where the options name none. `report` hears of a folder that is not trusted, and where details are asked for,
/// of all else.
inline std::unique_ptr<FileCache> openCache(const CompileOptions &options, const std::string &kind,
                                            const std::function<void(const std::string &)> &report) {
  if (options.cacheFolder.empty()) return nullptr;
  auto cache = std::make_unique<FileCache>(options.cacheFolder, kind, options.cacheBytes,
                                           options.reportDetails ? FileCache::Report(report) : nullptr);
  if (report && !options.reportDetails && !cache->distrust().empty())
    report("warning: cache: " + cache->distrust() + "; compiling without it");
  return cache;
}

} // namespace sprig
