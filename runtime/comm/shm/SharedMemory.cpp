#include "runtime/comm/shm/SharedMemory.h"
#include "runtime/base/Status.h"
#include "runtime/base/Uninterrupted.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sprig::rt::comm {

using core::concat;
using core::uninterrupted;

namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW;

[[noreturn]] void failed(std::string_view what) {
  throw std::runtime_error(concat("shared memory: ", what, ": ", std::strerror(errno)));
}

// Parts that this process has.
struct Parts {
  std::mutex mutex;
  std::map<std::pair<uint64_t, size_t>, std::weak_ptr<std::byte>> mapped;
};
Parts &parts() {
  static Parts *all = new Parts; // outlives what is static in others
  return *all;
}

} // namespace

std::string ownMachine() {
  char boot[64] = "", space[64] = "";
  int fd = uninterrupted([] { return ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC); });
  if (fd < 0) return "";
  ssize_t got = uninterrupted([&] { return ::read(fd, boot, sizeof boot - 1); });
  ::close(fd);
  if (got <= 1 || ::readlink("/proc/self/ns/pid", space, sizeof space - 1) <= 0) return "";
  return concat(std::string_view(boot, size_t(got - 1)), "/", space);
}

SharedMemory::SharedMemory(size_t bytes) {
  // A file beyond the limit would end the process by a signal.
  rlimit most = {};
  if (!::getrlimit(RLIMIT_FSIZE, &most) && most.rlim_cur < bytes) {
    errno = EFBIG;
    failed(concat(bytes, " bytes").text());
  }
  fd = ::memfd_create("sprig", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) failed("no file");
  ownName = {::getpid(), fd, 0};
  // Nobody makes it smaller than what others read.
  constexpr ssize_t kToken = sizeof ownName.token;
  if (uninterrupted([&] { return ::getrandom(&ownName.token, size_t(kToken), 0); }) != kToken ||
      uninterrupted([&] { return ::ftruncate(fd, off_t(bytes)); }) || ::fcntl(fd, F_ADD_SEALS, kSeals | F_SEAL_SEAL) ||
      uninterrupted([&] { return ::pwrite(fd, &ownName.token, size_t(kToken), 0); }) != kToken) {
    ::close(fd);
    failed(concat(bytes, " bytes").text());
  }
}

SharedMemory::SharedMemory(const Name &name, size_t bytes) : ownName(name) {
  std::string path = concat("/proc/", name.process, "/fd/", name.file);
  fd = uninterrupted([&] { return ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK); });
  if (fd < 0) failed(path);
  uint64_t token = 0;
  struct stat file = {};
  if ((::fcntl(fd, F_GET_SEALS) & kSeals) != kSeals || ::fstat(fd, &file) || size_t(file.st_size) < bytes ||
      uninterrupted([&] { return ::pread(fd, &token, sizeof token, 0); }) != sizeof token || token != name.token) {
    ::close(fd);
    errno = ESTALE;
    failed(path);
  }
}

SharedMemory::~SharedMemory() { ::close(fd); }

std::byte *SharedMemory::mapAnew(size_t offset, size_t bytes) const {
  void *at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, off_t(offset));
  if (at == MAP_FAILED) failed(concat(bytes, " bytes").text());
  return static_cast<std::byte *>(at);
}

std::shared_ptr<std::byte> SharedMemory::map(size_t offset, size_t bytes) const {
  auto unmap = [bytes](std::byte *at) { ::munmap(at, bytes); };
  if (ownName.process != ::getpid()) return {mapAnew(offset, bytes), unmap};
  Parts &all = parts();
  std::lock_guard lock(all.mutex);
  std::erase_if(all.mapped, [](const auto &each) { return each.second.expired(); });
  std::weak_ptr<std::byte> &part = all.mapped[{ownName.token, offset}];
  std::shared_ptr<std::byte> mapped = part.lock();
  if (!mapped) part = mapped = {mapAnew(offset, bytes), unmap};
  return mapped;
}

} // namespace sprig::rt::comm
