// TCP sockets that do not block, and a bell that wakes whoever polls.
#ifndef SPRIG_RUNTIME_COMM_STORE_SOCKETS_H
#define SPRIG_RUNTIME_COMM_STORE_SOCKETS_H

#include "runtime/base/Status.h"

#include <chrono>
#include <utility>

namespace sprig::rt::comm {

using core::Status;

class Socket {
public:
  Socket() = default;
  explicit Socket(int number) : fd(number) {}
  Socket(Socket &&other) noexcept : fd(std::exchange(other.fd, -1)) {}
  Socket &operator=(Socket &&other) noexcept {
    std::swap(fd, other.fd);
    return *this;
  }
  ~Socket() { close(); }

  // At a port of this machine; 0 becomes the one that was free.
  static Status listen(const std::string &host, uint16_t &port, Socket &socket);
  // Tried again where nobody listens yet, for so long, and once at least.
  static Status connect(const std::string &host, uint16_t port, std::chrono::nanoseconds timeout, Socket &socket);

  explicit operator bool() const { return fd >= 0; }
  int number() const { return fd; }
  // It is the caller's now.
  int take() { return std::exchange(fd, -1); }
  void close();
  // None where nobody asks to be let in, or the system has no descriptor left (errno).
  Socket accept() const;
  // Appends what has come, so many bytes at most; false where the other side has ended.
  bool receive(std::string &bytes, size_t most = 1 << 20) const;
  // Takes from the front what goes out now; false where the other side has ended.
  bool send(std::string &bytes) const;
  // The address of this end: "127.0.0.1".
  std::string ownAddress() const;

private:
  int fd = -1;
};

class Bell {
public:
  ~Bell();
  Status open();
  void ring();
  void clear();
  int number() const { return fd; }

private:
  int fd = -1;
};

} // namespace sprig::rt::comm

#endif
