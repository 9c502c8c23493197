#include "runtime/comm/store/Store.h"
#include "runtime/comm/Position.h"
#include "runtime/comm/StatusCopy.h"
#include "runtime/comm/store/Frame.h"
#include "runtime/comm/store/Gate.h"
#include "runtime/comm/store/Secret.h"
#include "runtime/comm/store/Sockets.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <poll.h>
#include <set>
#include <thread>
#include <unistd.h>

namespace sprig::rt::comm {

using core::concat;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

// In which who is refused reads why.
constexpr auto kRefusedTime = 10s;
// How long who knows better why a connection has ended may take to say so, and ranks to say where they are.
constexpr std::chrono::milliseconds kGrace = 500ms, kAnswerTime = 1s;

class Server : public Store {
public:
  Server(const StoreOptions &options, Socket listening, uint16_t port)
      : options(options), ownPort(port), gate(std::move(listening)), members(size_t(options.ranks)) {}
  ~Server() override {
    isEnding = true;
    bell.ring();
    if (thread.joinable()) thread.join();
  }
  Status begin() {
    SPRIG_RETURN_IF_ERROR(bell.open());
    try {
      thread = std::thread([this] { serve(); });
    } catch (const std::exception &error) {
      return Status(SPRIG_RT_OUT_OF_MEMORY, concat("no thread for the store: ", error.what()));
    }
    return {};
  }

  uint16_t port() const override { return ownPort; }
  void fail(int rank, const Status &why) override {
    {
      std::lock_guard lock(mutex);
      breakGroup(rank, why.code(), why.message());
    }
    bell.ring();
  }
  void noteEnd(int rank) override {
    {
      std::lock_guard lock(mutex);
      members[size_t(rank)].hasEnded = true;
    }
    bell.ring();
  }
  Status failure(int &rank) const override {
    std::lock_guard lock(mutex);
    rank = brokenBy;
    return copyOf(broken);
  }
  void awaitEnd(std::chrono::nanoseconds timeout) override {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, timeout, [&] { return hasEnded || !broken.isOk(); });
  }

private:
  struct Connection {
    Socket socket;
    std::string in, out;
    int rank = -1;       // or -1: it is refused
    bool isOver = false; // when all is sent
    Clock::time_point since = Clock::now(), heard = since;
    std::set<std::string> wanted;
  };
  struct Member {
    bool hasCome = false, hasLeft = false, hasEnded = false;
    uint64_t collectives = 0;
    std::optional<Clock::time_point> goneSince;
    std::string place;
  };
  // A rank has waited too long for another; what every rank says where it is.
  struct Question {
    int rank, peer;
    std::chrono::nanoseconds waited;
    Clock::time_point until;
  };

  void put(Connection &to, const Frame &frame) { to.out += frame.bytes(); }
  void putAll(const Frame &frame) {
    for (auto &connection : connections)
      if (connection->rank >= 0) put(*connection, frame);
  }
  Frame failedFrame() const {
    return Frame(Frame::Kind::failed)
        .number(uint64_t(broken.code()))
        .number(uint64_t(brokenBy + 1))
        .text(broken.message());
  }

  // Under the mutex.
  void breakGroup(int rank, core::Code code, std::string_view text) {
    if (!broken.isOk()) return;
    broken = Status(code, std::string(text.substr(0, Frame::kMostText)));
    brokenBy = rank;
    isNews = true;
    changed.notify_all();
  }

  void serve() {
    auto tick = std::min<Clock::duration>(std::chrono::duration_cast<Clock::duration>(options.heartbeat) / 4, 200ms);
    std::optional<Clock::time_point> lingerUntil;
    auto beatAt = Clock::now(), woken = beatAt;
    for (;;) {
      std::vector<pollfd> entries = {{bell.number(), POLLIN, 0}};
      bool hasOutput = false;
      for (auto &connection : connections) {
        hasOutput |= !connection->out.empty();
        entries.push_back({connection->socket.number(), short(POLLIN | (connection->out.empty() ? 0 : POLLOUT)), 0});
      }
      gate.watch(entries);
      // At the end what others wait for is sent, to those that take it.
      if (isEnding) {
        if (!lingerUntil) lingerUntil = Clock::now() + 1s;
        if (!hasOutput || Clock::now() > *lingerUntil) return;
      }
      ::poll(entries.data(), entries.size(), int(tick / 1ms));
      auto now = Clock::now();
      // Where this process itself was held up, nobody else was silent.
      if (auto pause = now - woken - tick; pause > tick)
        for (auto &connection : connections) connection->heard += pause;
      woken = now;
      bell.clear();
      std::lock_guard lock(mutex);
      for (size_t i = 0, known = connections.size(); i < known; ++i)
        if (short events = entries[i + 1].revents) serve(*connections[i], events);
      gate.serve([this](Socket &socket, const Frame &hello, std::string &rest) { meet(socket, hello, rest); });
      check(now);
      if (isNews) putAll(failedFrame());
      isNews = false;
      if (now >= beatAt) {
        putAll(Frame(Frame::Kind::heartbeat));
        beatAt = now + std::chrono::duration_cast<Clock::duration>(options.heartbeat) / 4;
      }
      for (auto &connection : connections) send(*connection);
      std::erase_if(connections, [](auto &each) { return !each->socket || (each->isOver && each->out.empty()); });
    }
  }

  void meet(Socket &socket, const Frame &hello, std::string &rest) {
    auto connection = std::make_unique<Connection>();
    if (!greet(*connection, hello)) return;
    connection->socket = std::move(socket);
    connection->in = std::move(rest);
    takeAll(*connection);
    connections.push_back(std::move(connection));
  }

  void send(Connection &to) {
    if (!to.socket || to.out.empty()) return;
    if (!to.socket.send(to.out)) close(to);
  }

  void close(Connection &of) {
    of.socket.close();
    if (of.rank < 0) return;
    Member &member = members[size_t(of.rank)];
    if (!member.hasLeft) member.goneSince = Clock::now();
    of.rank = -1;
  }

  void serve(Connection &from, short events) {
    bool isOpen = from.socket.receive(from.in);
    from.heard = Clock::now();
    takeAll(from);
    if (!isOpen || (events & (POLLERR | POLLNVAL))) close(from);
  }

  void takeAll(Connection &from) {
    Frame frame;
    bool isBad = false;
    while (from.rank >= 0 && !isBad && Frame::takeFrom(from.in, frame, isBad)) isBad = !take(from, frame);
    if (from.rank < 0 || !isBad) return;
    breakGroup(
        from.rank, SPRIG_RT_IO_ERROR,
        concat("rank ", from.rank, " sent the store what it cannot be: a frame of kind ", int(uint8_t(frame.kind)))
            .text());
    close(from);
  }

  void refuse(Connection &from, std::string_view text) {
    put(from, Frame(Frame::Kind::refused).text(text));
    from.isOver = true;
  }

  bool greet(Connection &from, const Frame &frame) {
    FrameFields fields(frame);
    uint64_t magic = fields.number(), protocol = fields.number();
    std::string version = fields.text();
    if (!fields.isWhole() || magic != kStoreMagic) return false;
    if (protocol != kStoreProtocol || version != SPRIG_RT_VERSION) {
      refuse(from,
             concat("versions differ: the group is of Sprig ", SPRIG_RT_VERSION, ", this rank of ", version).text());
      return true;
    }
    std::string secret = fields.text();
    uint64_t rank = fields.number(), ranks = fields.number();
    if (!fields.isGood()) return false;
    if (!isSecret(secret, options.secret)) {
      refuse(from, "this rank does not know the group's secret");
      return true;
    }
    if (ranks != members.size() || rank >= ranks) {
      refuse(from, concat("the group has ", members.size(), " ranks, this one is rank ", rank, " of ", ranks).text());
      return true;
    }
    Member &member = members[rank];
    // Who was let in and has not heard it comes again.
    if (member.hasCome && !member.goneSince) {
      refuse(from, concat("rank ", rank, " has come already").text());
      return true;
    }
    member.hasCome = true;
    member.goneSince.reset();
    from.rank = int(rank);
    put(from, Frame(Frame::Kind::welcome).number(uint64_t(options.heartbeat.count())));
    if (!broken.isOk()) put(from, failedFrame());
    for (size_t other = 0; other < members.size(); ++other)
      if (members[other].hasLeft) put(from, Frame(Frame::Kind::left).number(other).number(members[other].collectives));
    return true;
  }

  bool take(Connection &from, const Frame &frame) {
    FrameFields fields(frame);
    Member &member = members[size_t(from.rank)];
    switch (frame.kind) {
    case Frame::Kind::heartbeat: return fields.isGood();
    case Frame::Kind::set: {
      std::string key = fields.text(), value = fields.text();
      if (!fields.isGood()) return false;
      for (auto &connection : connections)
        if (connection->wanted.erase(key)) put(*connection, valueFrame(key, value));
      values[key] = std::move(value);
      return true;
    }
    case Frame::Kind::get: {
      std::string key = fields.text();
      if (!fields.isGood()) return false;
      if (auto found = values.find(key); found != values.end())
        put(from, valueFrame(key, found->second));
      else
        from.wanted.insert(key);
      return true;
    }
    case Frame::Kind::fail: {
      uint64_t code = fields.number();
      std::string text = fields.text();
      if (!fields.isGood() || code == SPRIG_RT_OK || code > SPRIG_RT_DEVICE_FAULT) return false;
      breakGroup(from.rank, core::Code(code), text);
      return true;
    }
    case Frame::Kind::timedOut: {
      uint64_t peer = fields.number(), waited = fields.number();
      if (!fields.isGood() || peer >= members.size()) return false;
      if (question || !broken.isOk()) return true;
      question = Question{from.rank, int(peer), std::chrono::nanoseconds(waited), Clock::now() + kAnswerTime};
      for (Member &each : members) each.place.clear();
      putAll(Frame(Frame::Kind::where));
      return true;
    }
    case Frame::Kind::place: member.place = fields.text(); return fields.isGood();
    case Frame::Kind::leave: {
      member.collectives = fields.number();
      if (!fields.isGood()) return false;
      member.hasLeft = true;
      for (auto &connection : connections)
        if (connection->rank >= 0 && connection->rank != from.rank)
          put(*connection, Frame(Frame::Kind::left).number(uint64_t(from.rank)).number(member.collectives));
      bool haveAllLeft = true;
      for (const Member &each : members) haveAllLeft &= each.hasLeft;
      if (haveAllLeft) {
        hasEnded = true;
        changed.notify_all();
      }
      return true;
    }
    default: return false;
    }
  }

  static Frame valueFrame(std::string_view key, std::string_view value) {
    return Frame(Frame::Kind::value).text(key).text(value);
  }

  void check(Clock::time_point now) {
    for (auto &connection : connections) {
      if (!connection->socket) continue;
      if (connection->rank < 0) {
        if (now - connection->since > kRefusedTime) connection->socket.close();
      } else if (now - connection->heard > options.heartbeat && !members[size_t(connection->rank)].hasLeft) {
        breakGroup(connection->rank, SPRIG_RT_CANCELLED,
                   concat("rank ", connection->rank, " has given no sign of life for ", options.heartbeat / 1s,
                          " s: it is stopped, or its machine cannot be reached")
                       .text());
      }
    }
    bool hasAnyCome = std::any_of(members.begin(), members.end(), [](const Member &each) { return each.hasCome; });
    for (size_t rank = 0; rank < members.size(); ++rank) {
      if (auto &since = members[rank].goneSince; since && now - *since > kGrace)
        breakGroup(int(rank), SPRIG_RT_CANCELLED,
                   concat("rank ", rank, " is gone: its connection to the store has ended").text());
      // A program whose ranks never meet needs no group.
      if (hasAnyCome && members[rank].hasEnded && !members[rank].hasCome)
        breakGroup(int(rank), SPRIG_RT_CANCELLED,
                   concat("rank ", rank, " has ended, and never came to the group").text());
    }
    if (question) answer(now);
  }

  void answer(Clock::time_point now) {
    bool isWhole = true;
    std::string where;
    for (size_t rank = 0; rank < members.size(); ++rank) {
      const Member &member = members[rank];
      bool isExpected = member.hasCome && !member.hasLeft && !member.goneSince;
      isWhole &= !isExpected || !member.place.empty();
      if (rank) where += "; ";
      where += member.hasLeft          ? concat("rank ", rank, " has ended after ", member.collectives, " collectives")
               : !member.place.empty() ? member.place
               : !member.hasCome       ? concat("rank ", rank, " has not come")
                                       : concat("rank ", rank, " does not answer");
    }
    if (!isWhole && now < question->until) return;
    Status status = hasWaited(question->rank, question->peer, question->waited, where);
    breakGroup(-1, status.code(), status.message());
    question.reset();
  }

  StoreOptions options;
  uint16_t ownPort;
  Bell bell;
  std::thread thread;
  std::atomic<bool> isEnding = false;
  // Of the thread alone.
  Gate gate;
  std::vector<std::unique_ptr<Connection>> connections;
  mutable std::mutex mutex; // what follows
  std::condition_variable changed;
  std::vector<Member> members;
  std::map<std::string, std::string> values;
  std::optional<Question> question;
  Status broken;
  int brokenBy = -1;
  bool isNews = false, hasEnded = false;
};

} // namespace

Status Store::start(const StoreOptions &options, std::unique_ptr<Store> &store) {
  Socket listening;
  uint16_t port = options.port;
  SPRIG_RETURN_IF_ERROR(Socket::listen(options.host, port, listening));
  auto server = std::make_unique<Server>(options, std::move(listening), port);
  SPRIG_RETURN_IF_ERROR(server->begin());
  store = std::move(server);
  return {};
}

} // namespace sprig::rt::comm
