// A port that anybody may connect to. Strangers are connections that have not said who they are: they are kept apart
// from those that have, are few, and the oldest makes room for the newest, so none of them keeps a rank out.
#ifndef SPRIG_RUNTIME_COMM_STORE_GATE_H
#define SPRIG_RUNTIME_COMM_STORE_GATE_H

#include "runtime/comm/store/Frame.h"
#include "runtime/comm/store/Sockets.h"

#include <deque>
#include <functional>
#include <optional>
#include <poll.h>
#include <vector>

namespace sprig::rt::comm {

// Of one thread.
class Gate {
public:
  explicit Gate(Socket listening) : listening(std::move(listening)) {}

  // Adds what has to be polled before `serve`.
  void watch(std::vector<pollfd> &entries) const;
  // Takes a connection whose first frame, a hello, has come, and the bytes after it. A connection that it leaves in
  // place is closed.
  using Take = std::function<void(Socket &socket, const Frame &hello, std::string &rest)>;
  // Lets in who asks, and gives `take` those who have said who they are.
  void serve(const Take &take);
  // An error where the system has had no descriptor for who asks, also without strangers, for so long.
  Status failure(std::chrono::nanoseconds least) const;

private:
  using Clock = std::chrono::steady_clock;
  struct Stranger {
    Socket socket;
    std::string in;
    Clock::time_point since = Clock::now();
  };
  bool accept();
  void read(const Take &take);

  Socket listening;
  std::deque<Stranger> strangers; // the oldest first
  Clock::time_point acceptsAt = {};
  std::optional<Clock::time_point> fullSince; // without a descriptor
  int error = 0;                              // that said so
};

} // namespace sprig::rt::comm

#endif
