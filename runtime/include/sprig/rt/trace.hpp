// Writes a profile as a trace in Chrome's JSON form, for Perfetto (ui.perfetto.dev) and chrome://tracing. Header-only.
//
//   sprig::rt::Profile profile;  profile.start(context);  context.invoke(...);
//   std::ofstream file("run.json");
//   sprig::rt::writeTrace(file, profile, profile.read(), sprig::rt::TraceNames(context.package().raw()));
//
// Tracks: a process "threads" with what each thread did, a process "lanes" with each lane's commands, where there are
// GPUs "streams" with what each of their streams did, copies of the caller's arrays among it. Arrows lead from a
// submission to its run and from a recorded event to who waited for it. A counter shows the arena's bytes in use. What
// else a caller knows of the same time (devices, links) are processes of its own.
#ifndef SPRIG_RT_TRACE_HPP
#define SPRIG_RT_TRACE_HPP

#include "sprig/rt/profile.hpp"
#include "sprig/rt/utf8.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <locale>
#include <map>
#include <ostream>
#include <set>

namespace sprig::rt {

inline std::string jsonString(const std::string &text) {
  std::string quoted = "\"";
  for (char c : validUtf8(text)) {
    char code[8];
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::snprintf(code, sizeof code, "\\u%04x", unsigned(c));
      quoted += code;
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

// Bytes that ranges hold in all, each once.
inline uint64_t bytesIn(const std::multiset<std::pair<uint64_t, uint64_t>> &ranges) {
  uint64_t bytes = 0, end = 0;
  for (auto &[from, to] : ranges) {
    if (to > end) bytes += to - std::max(from, end);
    end = std::max(end, to);
  }
  return bytes;
}

// What a trace calls the commands of one package's entries, and what it tells of them.
class TraceNames {
public:
  struct Label {
    std::string name;
    std::string args;       // members of a JSON object
    int64_t arenaBytes = 0; // in use while the command runs
    int32_t kind = 0;       // sprig_rt_command_kind
    uint32_t event = 0;
  };

  explicit TraceNames(sprig_rt_package *package) : package(package) {}

  const Label &of(const sprig_rt_profile_event &event) {
    Entry &entry = entryOf(event.entry);
    static const Label unknown;
    bool known = event.lane < entry.lanes.size() && event.command < entry.lanes[event.lane].size();
    return known ? entry.lanes[event.lane][event.command] : unknown;
  }
  const std::string &entryName(uint32_t index) { return entryOf(index).name; }
  // Of an upload or a download: "upload 'x'".
  std::string transferName(const sprig_rt_profile_event &event) const {
    bool isUpload = event.kind == SPRIG_RT_PROFILE_UPLOAD;
    sprig_rt_tensor_info tensor;
    check((isUpload ? sprig_rt_package_input : sprig_rt_package_output)(package, event.entry, event.command, &tensor));
    return std::string(isUpload ? "upload '" : "download '") + tensor.name + "'";
  }

private:
  struct Entry {
    bool isRead = false;
    std::string name;
    std::vector<std::vector<Label>> lanes;
  };
  struct Life {
    uint64_t begin, end; // bytes of the arena
    size_t first, last;  // commands
  };

  Entry &entryOf(uint32_t index) {
    Entry &entry = entries[index];
    if (entry.isRead) return entry;
    entry.isRead = true;
    sprig_rt_entry_info info;
    check(sprig_rt_package_entry(package, index, &info));
    entry.name = info.name;
    std::map<uint32_t, Life> lives; // by buffer
    size_t at = 0;
    for (uint32_t lane = 0; lane < info.lane_count; ++lane) {
      uint32_t count = 0;
      check(sprig_rt_package_lane(package, index, lane, &count));
      entry.lanes.emplace_back();
      for (uint32_t i = 0; i < count; ++i, ++at) {
        sprig_rt_command_info command;
        check(sprig_rt_package_command(package, index, lane, i, &command));
        entry.lanes.back().push_back(label(index, lane, i, command));
        for (uint32_t b = 0; b < command.buffer_count; ++b) {
          sprig_rt_buffer_info buffer;
          check(sprig_rt_package_buffer(package, index, command.buffers[b], &buffer));
          if (std::string(buffer.kind) != "arena") continue;
          lives.try_emplace(command.buffers[b], Life{buffer.offset, buffer.offset + buffer.size, at, at})
              .first->second.last = at;
        }
      }
    }
    countLive(lives, entry);
    return entry;
  }

  Label label(uint32_t entry, uint32_t lane, uint32_t index, const sprig_rt_command_info &command) {
    Label result;
    result.kind = command.kind;
    result.event = command.event;
    result.name = command.name && *command.name ? command.name : commandKindName(command.kind);
    result.args = "\"flops\":" + std::to_string(command.flops) + ",\"bytes\":" + std::to_string(command.bytes) +
                  ",\"tiles\":" + std::to_string(command.tiles);
    uint32_t parts = 0;
    check(sprig_rt_package_part_count(package, entry, lane, index, &parts));
    std::string ops;
    for (uint32_t i = 0; i < parts; ++i) {
      sprig_rt_part_info part;
      check(sprig_rt_package_part(package, entry, lane, index, i, &part));
      std::string source = *part.source ? " (" + std::string(part.source) + ")" : "";
      ops += (i ? "," : "") + jsonString(std::string(part.kind) + " " + part.name + " -> " + part.shape + source);
    }
    result.args += ",\"ops\":[" + ops + "]";
    return result;
  }

  // Command by command, with what is in use there. Buffers may share bytes; those count once.
  static void countLive(const std::map<uint32_t, Life> &lives, Entry &entry) {
    std::multimap<size_t, const Life *> begins, ends;
    for (auto &[index, life] : lives) {
      begins.emplace(life.first, &life);
      ends.emplace(life.last, &life);
    }
    std::multiset<std::pair<uint64_t, uint64_t>> live;
    size_t at = 0;
    for (auto &lane : entry.lanes)
      for (Label &command : lane) {
        for (auto [life, behind] = begins.equal_range(at); life != behind; ++life)
          live.emplace(life->second->begin, life->second->end);
        command.arenaBytes = int64_t(bytesIn(live));
        for (auto [life, behind] = ends.equal_range(at); life != behind; ++life)
          live.erase(live.find({life->second->begin, life->second->end}));
        ++at;
      }
  }

  sprig_rt_package *package;
  std::map<uint32_t, Entry> entries;
};

// For programs with several contexts: the names for the number of a context, or null for none.
using TraceNamesOf = std::function<TraceNames *(uint32_t context)>;

// A process with tracks of spans that lie beside each other.
struct TraceProcess {
  struct Span {
    std::string name;
    uint64_t beginNs, endNs; // of the clock of the events
  };
  struct Track {
    std::string name;
    std::vector<Span> spans;
  };
  std::string name;
  std::vector<Track> tracks;
};

// What events name by its number: a thread, or a GPU's stream.
struct TraceThread {
  std::string name;
  bool isStream = false;
};

class TraceWriter {
public:
  TraceWriter(std::ostream &out, TraceNamesOf namesOf) : out(out), namesOf(std::move(namesOf)) {}

  void write(const Profile &profile, const sprig_rt_profile_data &data) { write(threadsOf(profile), data, {}); }

  static std::vector<TraceThread> threadsOf(const Profile &profile) {
    std::vector<TraceThread> threads;
    for (uint32_t thread = 0; thread < profile.threadCount(); ++thread)
      threads.push_back({profile.threadName(thread), profile.isStream(thread)});
    return threads;
  }

  // Events that no profile recorded, of threads by their numbers, and whatever else went on.
  void write(const std::vector<TraceThread> &threads, const sprig_rt_profile_data &data,
             const std::vector<TraceProcess> &others) {
    const std::locale given = out.imbue(std::locale::classic()); // another's may group digits
    out << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
    for (uint64_t i = 0; i < data.count; ++i) {
      origin = std::min(origin, data.events[i].begin_ns);
      if (data.events[i].kind == SPRIG_RT_PROFILE_SUBMIT) submitted.insert(data.events[i].call);
    }
    meta("process_name", kThreads, 0, "threads");
    meta("process_name", kLanes, 0, "lanes");
    for (uint32_t thread = 0; thread < threads.size(); ++thread) {
      if (threads[thread].isStream && streams.empty()) meta("process_name", kStreams, 0, "streams");
      if (threads[thread].isStream) streams.insert(thread);
      meta("thread_name", trackOf(thread), thread, threads[thread].name);
    }
    for (uint64_t i = 0; i < data.count; ++i) add(data.events[i]);
    queueDepth();
    for (size_t i = 0; i < others.size(); ++i) add(others[i], Track(kOthers + i));
    out << "\n]}\n";
    out.imbue(given);
  }

private:
  enum Track { kThreads = 1, kLanes, kStreams, kOthers };
  Track trackOf(uint32_t thread) const { return streams.count(thread) ? kStreams : kThreads; }

  void add(const TraceProcess &process, Track number) {
    meta("process_name", number, 0, process.name);
    for (uint32_t i = 0; i < process.tracks.size(); ++i) {
      meta("thread_name", number, i, process.tracks[i].name);
      for (const TraceProcess::Span &span : process.tracks[i].spans)
        this->span(number, i, span.name, process.name.c_str(), span.beginNs, span.endNs, "");
    }
  }

  void add(const sprig_rt_profile_event &event) {
    TraceNames *names = namesOf ? namesOf(event.context) : nullptr;
    std::string common = "\"call\":" + std::to_string(event.call) + ",\"context\":" + std::to_string(event.context);
    auto entry = [&] { return names ? names->entryName(event.entry) : "entry " + std::to_string(event.entry); };
    switch (event.kind) {
    case SPRIG_RT_PROFILE_CALL:
      span(kThreads, event.thread, "call " + entry(), "call", event, common);
      if (submitted.count(event.call)) {
        flow('f', "submit", event.call, event.thread, event.begin_ns, kThreads);
        changes.emplace_back(event.begin_ns, -1);
      }
      return;
    case SPRIG_RT_PROFILE_BIND: return span(kThreads, event.thread, "bind arrays", "overhead", event, common);
    case SPRIG_RT_PROFILE_FINISH: return span(kThreads, event.thread, "finish outputs", "overhead", event, common);
    case SPRIG_RT_PROFILE_RANGE: return span(kThreads, event.thread, event.name ? event.name : "", "range", event, "");
    case SPRIG_RT_PROFILE_SUBMIT:
      span(kThreads, event.thread, "submit " + entry(), "queue", event, common);
      flow('s', "submit", event.call, event.thread, event.begin_ns, kThreads);
      changes.emplace_back(event.begin_ns, 1);
      return;
    case SPRIG_RT_PROFILE_UPLOAD:
    case SPRIG_RT_PROFILE_DOWNLOAD: {
      bool isUpload = event.kind == SPRIG_RT_PROFILE_UPLOAD;
      std::string name = names ? names->transferName(event) : isUpload ? "upload" : "download";
      return span(trackOf(event.thread), event.thread, name, "copy", event, common);
    }
    default: return addCommand(event, names, common);
    }
  }

  void addCommand(const sprig_rt_profile_event &event, TraceNames *names, const std::string &common) {
    TraceNames::Label label;
    if (names) label = names->of(event);
    if (label.name.empty()) label.name = "command " + std::to_string(event.command);
    std::string args = common + (label.args.empty() ? "" : "," + label.args);
    if (event.kind == SPRIG_RT_PROFILE_SLICE) {
      args += ",\"tile_begin\":" + std::to_string(event.tile_begin) + ",\"tile_end\":" + std::to_string(event.tile_end);
      return span(kThreads, event.thread, label.name, "slice", event, args);
    }
    bool isEvent = event.kind == SPRIG_RT_PROFILE_RECORD || event.kind == SPRIG_RT_PROFILE_WAIT;
    bool isOfRanks = event.kind >= SPRIG_RT_PROFILE_ALL_REDUCE && event.kind <= SPRIG_RT_PROFILE_PART;
    const char *category = isOfRanks ? commandKindName(event.kind - SPRIG_RT_PROFILE_ALL_REDUCE + SPRIG_RT_ALL_REDUCE)
                           : isEvent ? "event"
                           : event.kind == SPRIG_RT_PROFILE_COPY ? "copy"
                                                                 : "dispatch";
    span(trackOf(event.thread), event.thread, label.name, category, event, args);
    if (lanesSeen.insert(event.lane).second)
      meta("thread_name", kLanes, event.lane, "lane " + std::to_string(event.lane));
    span(kLanes, event.lane, label.name, category, event, args);
    uint64_t arrow = event.call << 20 | label.event;
    if (event.kind == SPRIG_RT_PROFILE_RECORD) flow('s', "event", arrow, event.lane, event.begin_ns, kLanes);
    if (event.kind == SPRIG_RT_PROFILE_WAIT) flow('f', "event", arrow, event.lane, event.begin_ns, kLanes);
    if (names && label.kind <= SPRIG_RT_COPY) counter("arena bytes in use", event.begin_ns, label.arenaBytes);
  }

  // How many submitted runs have not begun.
  void queueDepth() {
    std::sort(changes.begin(), changes.end());
    int64_t depth = 0;
    for (auto &[ns, change] : changes) counter("queue", ns, depth += change);
  }

  std::string time(uint64_t ns) const { return micros(ns - origin); }
  static std::string micros(uint64_t ns) {
    char text[40];
    std::snprintf(text, sizeof text, "%llu.%03u", static_cast<unsigned long long>(ns / 1000), unsigned(ns % 1000));
    return text;
  }

  void begin() {
    out << (first ? "" : ",\n");
    first = false;
  }
  void meta(const char *what, Track track, uint32_t id, const std::string &name) {
    begin();
    out << "{\"ph\":\"M\",\"name\":\"" << what << "\",\"pid\":" << track << ",\"tid\":" << id
        << ",\"args\":{\"name\":" << jsonString(name) << "}}";
  }
  void span(Track track, uint32_t id, const std::string &name, const char *category,
            const sprig_rt_profile_event &event, const std::string &args) {
    span(track, id, name, category, event.begin_ns, event.end_ns, args);
  }
  void span(Track track, uint32_t id, const std::string &name, const char *category, uint64_t beginNs, uint64_t endNs,
            const std::string &args) {
    begin();
    out << "{\"ph\":\"X\",\"name\":" << jsonString(name) << ",\"cat\":\"" << category << "\",\"ts\":" << time(beginNs)
        << ",\"dur\":" << micros(endNs - beginNs) << ",\"pid\":" << track << ",\"tid\":" << id << ",\"args\":{" << args
        << "}}";
  }
  void flow(char phase, const char *name, uint64_t id, uint32_t thread, uint64_t ns, Track track) {
    begin();
    out << "{\"ph\":\"" << phase << "\",\"name\":\"" << name << "\",\"cat\":\"" << name << "\",\"id\":" << id
        << (phase == 'f' ? ",\"bp\":\"e\"" : "") << ",\"ts\":" << time(ns) << ",\"pid\":" << track
        << ",\"tid\":" << thread << "}";
  }
  void counter(const char *name, uint64_t ns, int64_t value) {
    begin();
    out << "{\"ph\":\"C\",\"name\":\"" << name << "\",\"ts\":" << time(ns) << ",\"pid\":" << kThreads
        << ",\"args\":{\"value\":" << value << "}}";
  }

  std::ostream &out;
  TraceNamesOf namesOf;
  bool first = true;
  uint64_t origin = UINT64_MAX;
  std::set<uint32_t> streams;
  std::set<uint32_t> lanesSeen;
  std::set<uint64_t> submitted;
  std::vector<std::pair<uint64_t, int>> changes; // of the number of waiting runs
};

inline void writeTrace(std::ostream &out, const Profile &profile, const sprig_rt_profile_data &data, TraceNames names) {
  TraceWriter(out, [&](uint32_t) { return &names; }).write(profile, data);
}

} // namespace sprig::rt

#endif
