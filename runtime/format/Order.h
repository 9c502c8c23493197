// The order that lanes and events give the commands of a program, and the proof that it orders all that touch the same
// bytes. For the compiler's passes that make or move commands and for the loader; knows neither IR nor packages.
//
// Commands of a lane happen one after the other; what is behind a wait happens after what is before the record of its
// event (Lamport 1978). Lanes are played with vector clocks, and each stretch of bytes remembers its last write and the
// reads since (the adaptive representation of FastTrack, Flanagan and Freund, PLDI 2009). As events are recorded once,
// one play stands for all: the result does not depend on which lane goes first.
#ifndef SPRIG_RUNTIME_FORMAT_ORDER_H
#define SPRIG_RUNTIME_FORMAT_ORDER_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace sprig::rt::order {

// Bytes from begin up to end of a space: an arena, an output, a state.
struct Region {
  uint32_t space;
  uint64_t begin;
  uint64_t end;
};

struct Access {
  uint32_t region; // index into Schedule.regions
  bool writes;
};

enum class Kind : uint8_t { Work, Record, Wait };

struct Command {
  Kind kind;
  uint32_t event;       // of Record and Wait
  uint32_t firstAccess; // of Work: a range of Schedule.accesses
  uint32_t accessCount;
};

// Commands lane by lane: lane i has those up to laneEnds[i], from the end of the lane before on. Each event below
// `events` is recorded at most once.
struct Schedule {
  std::vector<Command> commands;
  std::vector<uint32_t> laneEnds;
  uint32_t events = 0;
  std::vector<Region> regions;
  std::vector<Access> accesses;

  void endLane() { laneEnds.push_back(uint32_t(commands.size())); }
  void work() { commands.push_back({Kind::Work, 0, uint32_t(accesses.size()), 0}); }
  // Of the last command.
  void access(uint32_t region, bool writes) {
    accesses.push_back({region, writes});
    ++commands.back().accessCount;
  }
};

// A command by its lane and its index there.
struct Place {
  uint32_t lane = 0;
  uint32_t index = 0;
};

enum class Verdict : uint8_t {
  Ordered,
  Stuck,    // `second` waits for an event that no command can record before it
  Race,     // `first` and `second` touch `shared`, one of them writes, and either may come first
  TooLarge, // more lanes, events and bytes than are looked at
};

struct Finding {
  Verdict verdict = Verdict::Ordered;
  Place first, second;
  bool firstWrites = false, secondWrites = false;
  Region shared = {};
};

// What each tile touches of an operand: tile t at most `size` bytes from first + t / per * step on.
struct TileBytes {
  int64_t first;
  int64_t step;
  uint64_t size;
  uint64_t per = 1;
};

// The bytes that tiles from firstTile up to endTile touch of an operand of `size` bytes, and what lies between them.
// Clipped to the operand; without an order of begin and end where nothing is left.
struct ByteRange {
  uint64_t begin;
  uint64_t end;
};
ByteRange bytesOfTiles(const TileBytes &tiles, int64_t firstTile, int64_t endTile, uint64_t size);

Finding checkOrder(const Schedule &schedule);

// Which work of a schedule happens before which, whatever it touches.
class HappensBefore {
public:
  // Of a schedule that is not stuck; of one that is too large, nothing is known to be in order.
  explicit HappensBefore(const Schedule &schedule);

  // All work in one order in which it can run, by its indices in Schedule.commands.
  const std::vector<uint32_t> &order() const { return played; }
  // Of two commands that are work, whether `first` is over before `second` begins, in whatever order lanes run.
  bool isBefore(Place first, Place second) const {
    if (first.lane == second.lane) return first.index < second.index;
    return clocks[(size_t(second.lane ? laneEnds[second.lane - 1] : 0) + second.index) * laneEnds.size() + first.lane] >
           first.index;
  }

private:
  std::vector<uint32_t> laneEnds;
  std::vector<uint32_t> played;
  std::vector<uint32_t> clocks; // of each command: how many of each lane are over before it
};

// Of some of the work (by index in Schedule.commands) the first two that follow one another in an order in which they
// can run, and that no event orders; nothing where they have one order whatever lane goes first. Of a schedule that is
// not stuck.
std::optional<std::pair<Place, Place>> findUnordered(const Schedule &schedule, const std::vector<bool> &isAsked);

} // namespace sprig::rt::order

#endif
