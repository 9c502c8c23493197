// Stands in for a header of Gloo's that Debian's package leaves out: what the layout of Gloo's connections needs of it.
// Gloo passes pointers to its buffers around that do not keep them alive.
#ifndef SPRIG_RUNTIME_COMM_GLOO_HEADERS_MEMORY_H
#define SPRIG_RUNTIME_COMM_GLOO_HEADERS_MEMORY_H

#include <memory>

namespace gloo {

template <typename T> class NonOwningPtr;
template <typename T> class WeakNonOwningPtr {
  std::weak_ptr<T> pointer;
};

} // namespace gloo

#endif
