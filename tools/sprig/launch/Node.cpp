#include "tools/sprig/launch/Node.h"
#include "runtime/comm/RankLimits.h"
#include "sprig/error.h"
#include "tools/sprig/Report.h"
#include <nlohmann/json.hpp>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <unistd.h>

namespace sprig::cli {
namespace {

constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@";

// The secret is in the job by its own name.
bool isOwn(std::string_view name) {
  return name == "SPRIG_LAUNCH_SECRET" || name == "SPRIG_LAUNCHED" || name == "SPRIG_LAUNCH_BIND";
}

// Arguments, folders and variables are bytes, of no encoding that anybody knows. JSON has characters: those of the
// bytes' numbers.
std::string encoded(std::string_view bytes) {
  std::string text;
  for (unsigned char byte : bytes)
    if (byte < 0x80)
      text += char(byte);
    else
      text += {char(0xc0 | byte >> 6), char(0x80 | (byte & 0x3f))};
  return text;
}
std::string decoded(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    auto first = static_cast<unsigned char>(text[i]);
    if (first > 0xc3) badInput("launch: --as-node: a job that no launcher gives");
    bytes += first < 0x80 ? char(first) : char((first & 3) << 6 | (text[++i] & 0x3f)); // the text is UTF-8
  }
  return bytes;
}
std::string decodedText(const Json &json) { return decoded(json.get_ref<const std::string &>()); }

} // namespace

std::vector<LaunchHost> parseHosts(const std::string &text) {
  std::vector<LaunchHost> hosts;
  std::stringstream list(text);
  for (std::string each; std::getline(list, each, ',');) {
    LaunchHost host;
    size_t colon = each.rfind(':');
    host.name = each.substr(0, colon);
    if (colon != each.npos) {
      const char *last = each.data() + each.size();
      auto [end, error] = std::from_chars(each.data() + colon + 1, last, host.ranks);
      if (error != std::errc() || end != last || host.ranks < 1 || host.ranks > rt::comm::kMostProcessRanks)
        badUse("--hosts: " + each + ": expected HOST or HOST:RANKS, with 1 to " +
               std::to_string(rt::comm::kMostProcessRanks) + " ranks");
    }
    // It stands on a command line, where it is no option.
    if (host.name.empty() || host.name[0] == '-' || host.name.find_first_not_of(kPlain) != host.name.npos)
      badUse("--hosts: '" + host.name + "' is no name of a host");
    hosts.push_back(std::move(host));
  }
  if (hosts.empty()) badUse("--hosts: expected HOST:RANKS,HOST:RANKS,...");
  return hosts;
}

std::string toLine(const NodeJob &job) {
  Json command = Json::array(), variables = Json::object();
  for (const std::string &argument : job.command) command.push_back(encoded(argument));
  for (auto &[name, value] : job.variables) variables[encoded(name)] = encoded(value);
  Json json = {{"name", encoded(job.name)},  {"command", command},     {"folder", encoded(job.folder)},
               {"first", job.first},         {"ranks", job.ranks},     {"world", job.world},
               {"host", encoded(job.host)},  {"port", job.port},       {"secret", encoded(job.secret)},
               {"heartbeat", job.heartbeat}, {"variables", variables}, {"bind", job.bindsCores}};
  if (job.timeout) json["timeout"] = *job.timeout;
  return json.dump(-1, ' ', true) + "\n";
}

std::string toLine(const NodeNews &news) {
  Json json = {{"rank", news.rank}, {"code", news.code}, {"why", encoded(news.why)}};
  return kNews + json.dump(-1, ' ', true) + "\n";
}

NodeJob parseJob(std::string_view line) {
  try {
    Json json = Json::parse(line);
    NodeJob job;
    job.name = decodedText(json.at("name"));
    for (const Json &argument : json.at("command")) job.command.push_back(decodedText(argument));
    job.folder = decodedText(json.at("folder"));
    json.at("first").get_to(job.first);
    json.at("ranks").get_to(job.ranks);
    json.at("world").get_to(job.world);
    job.host = decodedText(json.at("host"));
    json.at("port").get_to(job.port);
    job.secret = decodedText(json.at("secret"));
    json.at("heartbeat").get_to(job.heartbeat);
    for (auto &[name, value] : json.at("variables").items()) job.variables[decoded(name)] = decodedText(value);
    job.bindsCores = json.value("bind", false);
    if (json.contains("timeout")) job.timeout = json["timeout"].get<int>();
    if (job.command.empty() || job.first < 0 || job.ranks < 1 || job.world > rt::comm::kMostProcessRanks ||
        job.ranks > job.world - job.first || job.port < 1 || job.port > 65535)
      badInput("launch: --as-node: a job that no launcher gives");
    return job;
  } catch (const Json::exception &error) {
    badInput(std::string("launch: --as-node: expected a launcher's job on standard input: ") + error.what());
  }
}

// Not by a stream, which shows no character that begins news.
void tellLauncher(const NodeNews &news) {
  std::cout << std::flush;
  std::string line = toLine(news);
  [[maybe_unused]] ssize_t put = ::write(1, line.data(), line.size());
}

std::optional<NodeNews> parseNews(std::string_view line) {
  if (line.empty() || line[0] != kNews) return std::nullopt;
  try {
    Json json = Json::parse(line.substr(1));
    NodeNews news;
    json.at("rank").get_to(news.rank);
    json.at("code").get_to(news.code);
    news.why = decodedText(json.at("why"));
    return news;
  } catch (const Json::exception &) { // a rank may write what it likes
    return std::nullopt;
  } catch (const Error &) { // no bytes
    return std::nullopt;
  }
}

std::map<std::string, std::string> variablesFor(const std::vector<std::string> &names) {
  std::map<std::string, std::string> variables;
  for (char **each = environ; *each; ++each) {
    std::string_view both = *each, name = both.substr(0, both.find('='));
    if (name.starts_with("SPRIG_") && name.size() < both.size() && !isOwn(name))
      variables.emplace(name, both.substr(name.size() + 1));
  }
  for (const std::string &name : names) {
    const char *value = std::getenv(name.c_str());
    if (!value) badUse("--env " + name + ": is not set");
    variables[name] = value;
  }
  return variables;
}

std::vector<std::string> agentCommand(const std::string &agent, const std::string &host) {
  std::vector<std::string> command;
  std::stringstream words(agent);
  for (std::string word; words >> word;) command.push_back(word);
  if (command.empty()) badUse("--launch-agent: expected a command");
  std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  // A shell on the other host reads it.
  if (program.find_first_not_of(kPlain) != program.npos)
    badUse("--hosts: the path of this program, " + program + ", has characters for shells");
  for (const char *word : {host.c_str(), program.c_str(), "launch", "--as-node"}) command.push_back(word);
  return command;
}

} // namespace sprig::cli
