#include "runtime/comm/Library.h"

#include <dlfcn.h>

namespace sprig::rt::comm {

using core::concat;

Status findFunction(const char *name, const char *function, const char *needs, void *&address) {
  std::string prefix = concat("sprig_rt_", name), file = concat("lib", prefix, ".so");
  // Beside the library or the program that this is in, then where the system looks.
  void *library = nullptr;
  Dl_info own = {};
  if (::dladdr(reinterpret_cast<void *>(&findFunction), &own) && own.dli_fname)
    if (std::string_view path = own.dli_fname; path.rfind('/') != path.npos)
      for (const char *folder : {"/", "/../lib/"}) {
        if (library) break;
        library =
            ::dlopen((std::string(path.substr(0, path.rfind('/'))) + folder + file).c_str(), RTLD_NOW | RTLD_LOCAL);
      }
  if (!library) library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return Status(SPRIG_RT_UNSUPPORTED, concat(needs, " need ", file, ": ", ::dlerror()));
  address = ::dlsym(library, concat(prefix, "_", function).text().c_str());
  auto *version = reinterpret_cast<const char *(*)()>(::dlsym(library, concat(prefix, "_version").text().c_str()));
  if (!address || !version || std::string_view(version()) != SPRIG_RT_VERSION)
    return Status(SPRIG_RT_UNSUPPORTED, concat(file, " is of Sprig ", version ? version() : "another version",
                                               ", expected ", SPRIG_RT_VERSION));
  return {};
}

} // namespace sprig::rt::comm
