#include "runtime/comm/Library.h"

#include <dlfcn.h>

namespace sprig::rt::comm {

using core::concat;

Status findFunction(const char *name, const char *function, const char *needs, void *&address) {
  std::string file = concat("lib", name, ".so"), failures;
  void *library = nullptr;
  auto load = [&](const std::string &path) {
    if (library) return;
    library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) failures += concat(failures.empty() ? ": " : "; ", ::dlerror());
  };
  // Beside the library or the program that this is in, then where the system looks.
  Dl_info own = {};
  if (::dladdr(reinterpret_cast<void *>(&findFunction), &own) && own.dli_fname)
    if (std::string_view path = own.dli_fname; path.rfind('/') != path.npos)
      for (const char *folder : {"/", "/../lib/"}) load(std::string(path.substr(0, path.rfind('/'))) + folder + file);
  load(file);
  if (!library) return Status(SPRIG_RT_UNSUPPORTED, concat(needs, " need ", file, failures));
  address = ::dlsym(library, concat(name, "_", function).text().c_str());
  auto *version = reinterpret_cast<const char *(*)()>(::dlsym(library, concat(name, "_version").text().c_str()));
  if (!address || !version || std::string_view(version()) != SPRIG_RT_VERSION)
    return Status(SPRIG_RT_UNSUPPORTED, concat(file, " is of Sprig ", version ? version() : "another version",
                                               ", expected ", SPRIG_RT_VERSION));
  return {};
}

} // namespace sprig::rt::comm
