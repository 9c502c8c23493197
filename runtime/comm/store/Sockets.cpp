#include "runtime/comm/store/Sockets.h"
#include "runtime/base/Uninterrupted.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace sprig::rt::comm {

using core::concat;
using core::uninterrupted;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Status resolve(const std::string &host, uint16_t port, Addresses &addresses) {
  addrinfo hints = {}, *found = nullptr;
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  if (int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found))
    return Status(SPRIG_RT_IO_ERROR, concat("no machine '", host, "' is known: ", ::gai_strerror(error)));
  addresses.reset(found);
  return {};
}

Socket socketFor(const addrinfo &address) {
  return Socket(uninterrupted(
      [&] { return ::socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC, address.ai_protocol); }));
}

void prepare(int fd) {
  int yes = 1;
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

std::string placeText(const std::string &host, uint16_t port) { return concat(host, ":", port); }

} // namespace

void Socket::close() {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

Status Socket::listen(const std::string &host, uint16_t &port, Socket &socket) {
  Addresses addresses(nullptr, ::freeaddrinfo);
  SPRIG_RETURN_IF_ERROR(resolve(host, port, addresses), "cannot listen");
  int error = 0;
  for (addrinfo *each = addresses.get(); each; each = each->ai_next) {
    Socket made = socketFor(*each);
    int yes = 1;
    sockaddr_storage bound = {};
    socklen_t size = sizeof bound;
    if (made) ::setsockopt(made.fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (!made || ::bind(made.fd, each->ai_addr, each->ai_addrlen) || ::listen(made.fd, SOMAXCONN) ||
        ::getsockname(made.fd, reinterpret_cast<sockaddr *>(&bound), &size)) {
      error = errno;
      continue;
    }
    prepare(made.fd);
    port = ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6 &>(bound).sin6_port
                                             : reinterpret_cast<sockaddr_in &>(bound).sin_port);
    socket = std::move(made);
    return {};
  }
  return Status(SPRIG_RT_IO_ERROR, concat("cannot listen at ", placeText(host, port), ": ", std::strerror(error)));
}

Status Socket::connect(const std::string &host, uint16_t port, std::chrono::nanoseconds timeout, Socket &socket) {
  Addresses addresses(nullptr, ::freeaddrinfo);
  SPRIG_RETURN_IF_ERROR(resolve(host, port, addresses));
  auto begin = Clock::now();
  for (int error = 0;;) {
    for (addrinfo *each = addresses.get(); each; each = each->ai_next) {
      Socket made = socketFor(*each);
      if (!made) {
        error = errno;
        continue;
      }
      prepare(made.fd);
      error = ::connect(made.fd, each->ai_addr, each->ai_addrlen) ? errno : 0;
      if (error == EINPROGRESS || error == EINTR) {
        pollfd entry = {made.fd, POLLOUT, 0};
        auto left = std::clamp<std::chrono::nanoseconds>(timeout - (Clock::now() - begin), 1ms, 5s);
        socklen_t size = sizeof error;
        if (uninterrupted([&] { return ::poll(&entry, 1, int(left / 1ms)); }) != 1)
          error = ETIMEDOUT;
        else
          ::getsockopt(made.fd, SOL_SOCKET, SO_ERROR, &error, &size);
      }
      if (error) continue;
      socket = std::move(made);
      return {};
    }
    if (Clock::now() - begin >= timeout && (error == EMFILE || error == ENFILE))
      return Status(SPRIG_RT_OUT_OF_MEMORY, concat("no socket: ", std::strerror(error)));
    if (Clock::now() - begin >= timeout)
      return Status(SPRIG_RT_IO_ERROR, concat("nobody answers at ", placeText(host, port), ": ", std::strerror(error)));
    std::this_thread::sleep_for(50ms);
  }
}

Socket Socket::accept() const {
  // A connection may end while it waits; the next one need not wait for it.
  int accepted;
  do accepted = uninterrupted([&] { return ::accept4(fd, nullptr, nullptr, SOCK_CLOEXEC); });
  while (accepted < 0 && errno == ECONNABORTED);
  if (accepted >= 0) prepare(accepted);
  return Socket(accepted);
}

bool Socket::receive(std::string &bytes, size_t most) const {
  char part[16384];
  for (size_t end = bytes.size() + most; bytes.size() < end;) {
    ssize_t got = uninterrupted([&] { return ::recv(fd, part, std::min(sizeof part, end - bytes.size()), 0); });
    if (got > 0)
      bytes.append(part, size_t(got));
    else
      return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }
  return true;
}

bool Socket::send(std::string &bytes) const {
  while (!bytes.empty()) {
    ssize_t put = uninterrupted([&] { return ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL); });
    if (put > 0)
      bytes.erase(0, size_t(put));
    else
      return put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }
  return true;
}

std::string Socket::ownAddress() const {
  sockaddr_storage own = {};
  socklen_t size = sizeof own;
  char text[NI_MAXHOST] = "";
  if (!::getsockname(fd, reinterpret_cast<sockaddr *>(&own), &size))
    ::getnameinfo(reinterpret_cast<sockaddr *>(&own), size, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
  return text;
}

Bell::~Bell() {
  if (fd >= 0) ::close(fd);
}

Status Bell::open() {
  fd = uninterrupted([] { return ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); });
  if (fd < 0) return Status(SPRIG_RT_IO_ERROR, concat("no event: ", std::strerror(errno)));
  return {};
}

void Bell::ring() {
  uint64_t one = 1;
  [[maybe_unused]] ssize_t put = uninterrupted([&] { return ::write(fd, &one, sizeof one); });
}

void Bell::clear() {
  uint64_t count;
  [[maybe_unused]] ssize_t got = uninterrupted([&] { return ::read(fd, &count, sizeof count); });
}

} // namespace sprig::rt::comm
