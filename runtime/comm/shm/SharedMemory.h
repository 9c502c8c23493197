// Memory that processes of one machine share: an anonymous file, which is nowhere in the file system and gone with the
// last process that has it, however that ends. Others of the same user open it by the process that has made it.
#ifndef SPRIG_RUNTIME_COMM_SHM_SHAREDMEMORY_H
#define SPRIG_RUNTIME_COMM_SHM_SHAREDMEMORY_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace sprig::rt::comm {

// What of this machine sees this process by the number that it has for itself: others with the same text. Empty where
// the system does not say.
std::string ownMachine();

class SharedMemory {
public:
  struct Name {
    int64_t process = 0, file = 0;
    uint64_t token = 0; // that the memory begins with: a file of that number may be another by then
  };

  // Of zeros; throws where the system has none.
  explicit SharedMemory(size_t bytes);
  // One that another has made, of at least so many bytes; throws where it cannot be opened or is not that one.
  SharedMemory(const Name &name, size_t bytes);
  SharedMemory(SharedMemory &&) = delete;
  ~SharedMemory();

  const Name &name() const { return ownName; }
  // A part, whole pages. Stays when this goes. Of ranks in one process all have the same place, which the thread
  // sanitizer wants.
  std::shared_ptr<std::byte> map(size_t offset, size_t bytes) const;

private:
  std::byte *mapAnew(size_t offset, size_t bytes) const;
  Name ownName;
  int fd = -1;
};

} // namespace sprig::rt::comm

#endif
