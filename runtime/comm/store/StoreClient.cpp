#include "runtime/comm/store/StoreClient.h"
#include "runtime/comm/StatusCopy.h"
#include "runtime/comm/store/Frame.h"
#include "runtime/comm/store/Sockets.h"

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <poll.h>
#include <thread>

namespace sprig::rt::comm {

using core::concat;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

constexpr auto kFailureAnswerTime = 3s; // in which the store tells all of a failure
constexpr auto kFirstAnswerTime = 30s;  // in which it answers a hello
constexpr auto kNoLimit = std::chrono::hours(24 * 365 * 100);

class Client : public StoreClient {
public:
  explicit Client(const StoreClientOptions &options)
      : options(options), leftAfter(size_t(options.ranks)),
        timeout(options.timeout.count() ? std::chrono::nanoseconds(options.timeout) : kNoLimit) {}
  ~Client() override {
    isEnding = true;
    bell.ring();
    if (thread.joinable()) thread.join();
  }

  Status begin() {
    std::string where = concat("the store at ", options.host, ":", options.port);
    SPRIG_RETURN_IF_ERROR(bell.open());
    Frame answer;
    SPRIG_RETURN_IF_ERROR(greet(where, answer));
    FrameFields fields(answer);
    if (answer.kind == Frame::Kind::refused)
      return Status(SPRIG_RT_INVALID_ARGUMENT, concat(where, " refuses rank ", options.rank, ": ", fields.text()));
    heartbeat = std::chrono::nanoseconds(int64_t(fields.number()));
    if (answer.kind != Frame::Kind::welcome || !fields.isGood() || heartbeat <= 0ns)
      return Status(SPRIG_RT_IO_ERROR, concat(where, " is no store of Sprig"));
    try {
      thread = std::thread([this] { serve(); });
    } catch (const std::exception &error) {
      return Status(SPRIG_RT_OUT_OF_MEMORY, concat("no thread for the ranks' store: ", error.what()));
    }
    return {};
  }

  void set(std::string_view key, std::string_view value) override {
    put(Frame(Frame::Kind::set).text(key).text(value));
  }

  Status get(std::string_view key, int peer, std::string &value) override {
    put(Frame(Frame::Kind::get).text(key));
    {
      std::unique_lock lock(mutex);
      auto found = values.end();
      changed.wait_for(lock, timeout, [&] {
        found = values.find(std::string(key));
        return found != values.end() || !broken.isOk();
      });
      if (!broken.isOk()) return copyOf(broken);
      if (found != values.end()) {
        value = found->second;
        return {};
      }
    }
    failWaiting(peer, timeout);
    return failure();
  }

  void fail(const Status &why) override {
    if (hasFailed()) return;
    put(Frame(Frame::Kind::fail).number(uint64_t(why.code())).text(why.message().substr(0, Frame::kMostText)));
    awaitFailure(why);
  }

  void failWaiting(int peer, std::chrono::nanoseconds waited) override {
    put(Frame(Frame::Kind::timedOut).number(uint64_t(peer)).number(uint64_t(waited.count())));
    awaitFailure(
        Status(SPRIG_RT_TIMEOUT, concat("rank ", options.rank, " has waited ", waited / 1s, " s for rank ", peer)));
  }

  bool hasFailed() const override { return isBroken; }
  Status failure() const override {
    std::lock_guard lock(mutex);
    return copyOf(broken);
  }
  bool hasLeft(int rank, uint64_t &collectives) const override {
    std::lock_guard lock(mutex);
    const std::optional<uint64_t> &after = leftAfter[size_t(rank)];
    collectives = after.value_or(0);
    return after.has_value();
  }
  void leave(uint64_t collectives) override { put(Frame(Frame::Kind::leave).number(collectives)); }
  std::string ownAddress() const override { return socket.ownAddress(); }

private:
  // Before there is a thread. A connection that ends without a word may have made room for others at the store's gate:
  // it is made again.
  Status greet(const std::string &where, Frame &answer) {
    for (auto begin = Clock::now();; std::this_thread::sleep_for(10ms)) {
      SPRIG_RETURN_IF_ERROR(Socket::connect(options.host, options.port, timeout, socket), "the ranks' store");
      auto within = std::min<std::chrono::nanoseconds>(timeout, kFirstAnswerTime);
      out = Frame(Frame::Kind::hello)
                .number(kStoreMagic)
                .number(kStoreProtocol)
                .text(SPRIG_RT_VERSION)
                .text(options.secret)
                .number(uint64_t(options.rank))
                .number(uint64_t(options.ranks))
                .bytes();
      for (bool isBad = false, isOpen = true;; isOpen = socket.send(out) && socket.receive(in)) {
        if (Frame::takeFrom(in, answer, isBad)) return {};
        bool isLate = Clock::now() - begin > within;
        if (isBad || (!isOpen && (isLate || !in.empty())))
          return Status(SPRIG_RT_IO_ERROR, concat(where, " is no store of Sprig"));
        if (isLate) return Status(SPRIG_RT_IO_ERROR, concat(where, " does not answer"));
        if (!isOpen) break;
        pollfd entry = {socket.number(), short(POLLIN | (out.empty() ? 0 : POLLOUT)), 0};
        ::poll(&entry, 1, 100);
      }
    }
  }

  void put(const Frame &frame) {
    {
      std::lock_guard lock(mutex);
      out += frame.bytes();
    }
    bell.ring();
  }

  void breakGroup(Status why) {
    {
      std::lock_guard lock(mutex);
      if (!broken.isOk()) return;
      broken = std::move(why);
      isBroken = true;
    }
    changed.notify_all();
    options.news();
  }

  // Until the store has told all of what was first; where it does not, this rank knows at least of its own.
  void awaitFailure(const Status &own) {
    {
      std::unique_lock lock(mutex);
      changed.wait_for(lock, kFailureAnswerTime, [&] { return !broken.isOk(); });
    }
    breakGroup(copyOf(own));
  }

  void serve() {
    auto tick = std::min<Clock::duration>(std::chrono::duration_cast<Clock::duration>(heartbeat) / 4, 500ms);
    auto heard = Clock::now(), woken = heard, beatAt = heard;
    bool isOpen = true;
    for (;;) {
      bool hasOutput;
      {
        std::lock_guard lock(mutex);
        hasOutput = !out.empty();
      }
      if (isEnding && (!isOpen || !hasOutput || Clock::now() - heard > 1s)) return;
      pollfd entries[] = {{bell.number(), POLLIN, 0}, {socket.number(), short(POLLIN | (hasOutput ? POLLOUT : 0)), 0}};
      ::poll(entries, isOpen ? 2 : 1, int(tick / 1ms));
      auto now = Clock::now();
      // Where this process itself was held up, the store was not silent.
      if (auto pause = now - woken - tick; pause > tick) heard += pause;
      woken = now;
      bell.clear();
      if (!isOpen) continue;
      if (now >= beatAt) {
        std::lock_guard lock(mutex);
        out += Frame(Frame::Kind::heartbeat).bytes();
        beatAt = now + std::chrono::duration_cast<Clock::duration>(heartbeat) / 4;
      }
      size_t before = in.size();
      {
        std::lock_guard lock(mutex);
        isOpen = socket.send(out);
      }
      isOpen &= socket.receive(in);
      if (in.size() != before) heard = now;
      Frame frame;
      bool isBad = false;
      while (Frame::takeFrom(in, frame, isBad))
        if (!take(frame)) isBad = true;
      if (isBad) breakGroup(Status(SPRIG_RT_IO_ERROR, "the ranks' store has sent what it cannot mean"));
      if (!isOpen && !isEnding)
        breakGroup(Status(SPRIG_RT_CANCELLED, options.firstHasStore
                                                  ? "rank 0 is gone, and with it the ranks' store"
                                                  : "the ranks' store is gone: what had started the ranks has ended"));
      if (now - heard > heartbeat)
        breakGroup(Status(SPRIG_RT_CANCELLED,
                          concat(options.firstHasStore ? "rank 0, which has the ranks' store," : "the ranks' store",
                                 " has given no sign of life for ", heartbeat / 1s, " s")));
    }
  }

  bool take(const Frame &frame) {
    FrameFields fields(frame);
    switch (frame.kind) {
    case Frame::Kind::heartbeat: return fields.isGood();
    case Frame::Kind::value: {
      std::string key = fields.text(), value = fields.text();
      if (!fields.isGood()) return false;
      std::lock_guard lock(mutex);
      values[key] = std::move(value);
      changed.notify_all();
      return true;
    }
    case Frame::Kind::where: put(Frame(Frame::Kind::place).text(options.place())); return fields.isGood();
    case Frame::Kind::failed: {
      uint64_t code = fields.number();
      fields.number(); // whose fault it is
      std::string text = fields.text();
      if (!fields.isGood() || code == SPRIG_RT_OK || code > SPRIG_RT_DEVICE_FAULT) return false;
      breakGroup(Status(core::Code(code), std::move(text)));
      return true;
    }
    case Frame::Kind::left: {
      uint64_t rank = fields.number(), collectives = fields.number();
      if (!fields.isGood() || rank >= leftAfter.size()) return false;
      {
        std::lock_guard lock(mutex);
        leftAfter[rank] = collectives;
      }
      options.news();
      return true;
    }
    default: return false;
    }
  }

  StoreClientOptions options;
  Socket socket;
  Bell bell;
  std::thread thread;
  std::atomic<bool> isEnding = false, isBroken = false;
  std::string in;           // of the thread alone
  mutable std::mutex mutex; // what follows
  std::condition_variable changed;
  std::string out;
  std::map<std::string, std::string> values;
  std::vector<std::optional<uint64_t>> leftAfter;
  Status broken;
  std::chrono::nanoseconds timeout, heartbeat = 0ns;
};

} // namespace

Status StoreClient::connect(const StoreClientOptions &options, std::unique_ptr<StoreClient> &client) {
  auto made = std::make_unique<Client>(options);
  SPRIG_RETURN_IF_ERROR(made->begin());
  client = std::move(made);
  return {};
}

} // namespace sprig::rt::comm
