#include "tools/sprig/bench/PlainSockets.h"
#include "sprig/error.h"
#include "tools/sprig/Timing.h"
#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <functional>
#include <memory>
#include <netinet/tcp.h>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace sprig::cli {
namespace {

constexpr size_t kDatagram = 32 << 10, kAtOnce = 8; // no more than a receiver's buffer holds
constexpr int kBufferBytes = 4 << 20, kLostMs = 2000;

[[noreturn]] void failed(const char *what) {
  runtimeError(std::string("bench comm: ") + what + ": " + std::strerror(errno));
}

class Plain {
public:
  explicit Plain(int number) : fd(number) {
    if (fd < 0) failed("no socket");
  }
  Plain(Plain &&) = delete;
  ~Plain() { ::close(fd); }
  int number() const { return fd; }

private:
  int fd;
};

sockaddr_in loopback(uint16_t port) {
  sockaddr_in at = {};
  at.sin_family = AF_INET;
  at.sin_port = port;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return at;
}

sockaddr_in bindFreely(const Plain &socket) {
  sockaddr_in at = loopback(0);
  socklen_t size = sizeof at;
  if (::bind(socket.number(), reinterpret_cast<sockaddr *>(&at), sizeof at) ||
      ::getsockname(socket.number(), reinterpret_cast<sockaddr *>(&at), &size))
    failed("bind");
  return at;
}

void connectTo(const Plain &socket, const sockaddr_in &at) {
  if (::connect(socket.number(), reinterpret_cast<const sockaddr *>(&at), sizeof at)) failed("connect");
}

void prepare(const Plain &socket, Protocol protocol) {
  int yes = 1;
  if (protocol == Protocol::tcp) ::setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  if (protocol == Protocol::tcp) return;
  for (int option : {SO_RCVBUF, SO_SNDBUF})
    ::setsockopt(socket.number(), SOL_SOCKET, option, &kBufferBytes, sizeof kBufferBytes);
}

// A message by each protocol; both ends know its size.
struct End {
  const Plain &socket;
  Protocol protocol;
  std::vector<char> &bytes;

  size_t receiveSome(char *at, size_t size) const {
    pollfd entry = {socket.number(), POLLIN, 0};
    if (protocol == Protocol::udp && ::poll(&entry, 1, kLostMs) != 1) {
      errno = ETIMEDOUT;
      failed("a datagram was lost");
    }
    ssize_t got = ::recv(socket.number(), at, size, 0);
    if (got <= 0) failed("receive");
    return size_t(got);
  }
  void sendAll(const char *at, size_t size) const {
    for (size_t from = 0; from < size;) {
      ssize_t put = ::send(socket.number(), at + from, size - from, MSG_NOSIGNAL);
      if (put <= 0) failed("send");
      from += size_t(put);
    }
  }
  void send() const {
    size_t part = protocol == Protocol::udp ? kDatagram : bytes.size(), count = 0;
    for (size_t from = 0; from < bytes.size(); from += part) {
      sendAll(bytes.data() + from, std::min(part, bytes.size() - from));
      if (char confirmed; protocol == Protocol::udp && ++count % kAtOnce == 0) receiveSome(&confirmed, 1);
    }
  }
  void receive() const {
    size_t count = 0;
    for (size_t from = 0; from < bytes.size();) {
      from += receiveSome(bytes.data() + from, bytes.size() - from);
      if (protocol == Protocol::udp && ++count % kAtOnce == 0) sendAll("", 1);
    }
  }
};

// Two connected ends, one on a thread of its own.
void onPair(Protocol protocol, const std::function<void(const Plain &)> &here,
            const std::function<void(const Plain &)> &there) {
  std::string failure;
  auto run = [&](auto body) {
    try {
      body();
    } catch (const std::exception &error) {
      failure = error.what();
    }
  };
  if (protocol == Protocol::udp) {
    Plain one(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)), two(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    for (const Plain *each : {&one, &two}) prepare(*each, protocol);
    sockaddr_in atOne = bindFreely(one), atTwo = bindFreely(two);
    connectTo(one, atTwo);
    connectTo(two, atOne);
    std::jthread other([&] { run([&] { there(two); }); });
    here(one);
  } else {
    Plain listening(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in at = bindFreely(listening);
    if (::listen(listening.number(), 8)) failed("listen");
    auto one = std::make_unique<Plain>(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    prepare(*one, protocol);
    connectTo(*one, at);
    std::jthread other([&] {
      run([&] {
        Plain two(::accept4(listening.number(), nullptr, nullptr, SOCK_CLOEXEC));
        prepare(two, protocol);
        there(two);
      });
    });
    auto own = std::move(one); // ends before the other is waited for, which may read from it
    here(*own);
  }
  if (!failure.empty()) runtimeError(failure);
}

} // namespace

double pingPongSeconds(Protocol protocol, size_t bytes, int rounds) {
  std::vector<double> seconds;
  std::vector<char> own(bytes, 'a'), others(bytes);
  onPair(
      protocol,
      [&](const Plain &socket) {
        End end{socket, protocol, own};
        for (int round = 0; round < rounds; ++round) {
          auto begin = Clock::now();
          end.send();
          end.receive();
          seconds.push_back(secondsSince(begin));
        }
      },
      [&](const Plain &socket) {
        End end{socket, protocol, others};
        for (int round = 0; round < rounds; ++round) {
          end.receive();
          end.send();
        }
      });
  return median(seconds);
}

double connectionSeconds(Protocol protocol, int rounds) {
  std::vector<double> seconds;
  for (int round = 0; round < rounds; ++round) {
    auto begin = Clock::now();
    pingPongSeconds(protocol, 1, 1);
    seconds.push_back(secondsSince(begin));
  }
  return median(seconds);
}

} // namespace sprig::cli
