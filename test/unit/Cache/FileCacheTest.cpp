// What a cache on disk must survive: damage, several processes, folders that cannot be written or trusted, full disks.
#include "lib/Cache/FileCache.h"
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using sprig::FileCache;
namespace fs = std::filesystem;

namespace {
constexpr uint64_t kRoom = uint64_t(1) << 20;

struct FileCacheTest : testing::Test {
  FileCacheTest() {
    char name[] = "/tmp/sprig-cache-XXXXXX";
    root = ::mkdtemp(name);
    folder = (root / "cache").string();
  }
  ~FileCacheTest() override { fs::remove_all(root); }

  FileCache::Report collect() {
    return [this](const std::string &line) { lines.push_back(line); };
  }
  fs::path file(const std::string &key) const { return fs::path(folder) / "kernels" / key; }
  void expectOneLine(const std::string &part) const {
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_NE(lines.front().find(part), std::string::npos) << lines.front();
  }

  static void age(const fs::path &path, time_t seconds) {
    timespec times[2] = {{seconds, 0}, {seconds, 0}};
    ::utimensat(AT_FDCWD, path.c_str(), times, 0);
  }
  uint64_t size() const {
    uint64_t total = 0;
    for (auto &entry : fs::directory_iterator(fs::path(folder) / "kernels")) total += entry.file_size();
    return total;
  }

  fs::path root;
  std::string folder;
  std::vector<std::string> lines;
};

unsigned modeOf(const fs::path &path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
}

// Runs `body` in a process of its own; it succeeds by returning true.
bool inChild(const std::function<bool()> &body) {
  pid_t child = ::fork();
  if (child == 0) ::_exit(body() ? 0 : 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
} // namespace

TEST_F(FileCacheTest, KeepsValuesForTheNextProcess) {
  std::string value("code\0code", 9);
  {
    FileCache cache(folder, "kernels", kRoom, collect());
    EXPECT_FALSE(cache.load("a"));
    cache.store("a", value);
    cache.store("empty", "");
    EXPECT_EQ(cache.counts().stored, 2u);
  }
  FileCache cache(folder, "kernels", kRoom, collect());
  EXPECT_EQ(cache.load("a"), value);
  EXPECT_EQ(cache.load("empty"), "");
  EXPECT_FALSE(cache.load("b"));
  EXPECT_EQ(cache.counts().hits, 2u);
  EXPECT_EQ(cache.counts().misses, 1u);
  EXPECT_EQ(modeOf(folder), 0700u);
  EXPECT_EQ(modeOf(file("a")), 0600u);
  EXPECT_TRUE(lines.empty());
}

TEST_F(FileCacheTest, ReplacesWhatIsDamaged) {
  using Damage = std::function<void(const fs::path &)>;
  const std::pair<const char *, Damage> damages[] = {
      {"a byte", [](const fs::path &path) { std::fstream(path).seekp(30).put('!'); }},
      {"the end", [](const fs::path &path) { fs::resize_file(path, fs::file_size(path) - 1); }},
      {"everything", [](const fs::path &path) { fs::resize_file(path, 0); }},
      {"more", [](const fs::path &path) { std::ofstream(path, std::ios::app) << "x"; }},
      {"the name",
       [this](const fs::path &path) { fs::copy_file(file("other"), path, fs::copy_options::overwrite_existing); }},
  };
  for (auto &[what, damage] : damages) {
    SCOPED_TRACE(what);
    lines.clear();
    {
      FileCache cache(folder, "kernels", kRoom);
      cache.store("a", "a value of some length");
      cache.store("other", "another value, as long");
    }
    damage(file("a"));
    FileCache cache(folder, "kernels", kRoom, collect());
    EXPECT_FALSE(cache.load("a"));
    expectOneLine("is damaged");
    EXPECT_FALSE(fs::exists(file("a")));
    cache.store("a", "new");
    EXPECT_EQ(cache.load("a"), "new");
  }
}

TEST_F(FileCacheTest, DeletesTheLeastRecentlyUsed) {
  std::string value(1000, 'v');
  {
    FileCache cache(folder, "kernels", kRoom);
    for (int i = 0; i < 8; ++i) cache.store("k" + std::to_string(i), value);
  }
  // Ages, so that the order does not hang on the clock's steps.
  for (int i = 0; i < 8; ++i) age(file("k" + std::to_string(i)), 1000 + i);
  FileCache *cache = new FileCache(folder, "kernels", 5000, collect());
  EXPECT_TRUE(cache->load("k0")); // used now
  cache->store("fresh", value);
  delete cache;
  EXPECT_TRUE(fs::exists(file("fresh")));
  EXPECT_TRUE(fs::exists(file("k0")));
  EXPECT_FALSE(fs::exists(file("k1")));
  EXPECT_FALSE(fs::exists(file("k4")));
  EXPECT_TRUE(fs::exists(file("k7")));
  EXPECT_LE(size(), 5000u);
  FileCache small(folder, "kernels", 500);
  small.store("large", value); // larger than everything may be
  EXPECT_EQ(small.counts().stored, 0u);
}

// A process does not list the folder after every object, and still keeps to the limit.
TEST_F(FileCacheTest, LooksAgainWhenItsRoomIsUsed) {
  constexpr uint64_t kLimit = 64000;
  std::string value(1000, 'v');
  FileCache(folder, "kernels", kLimit).store("first", value);
  uint64_t lists = 0, most = 0;
  const fs::path forgotten = file("tmp-forgotten");
  for (int i = 0; i < 200; ++i) {
    std::ofstream(forgotten) << "half";
    age(forgotten, 1000);
    FileCache(folder, "kernels", kLimit).store("k" + std::to_string(i), value);
    lists += !fs::exists(forgotten); // a listing removes it
    fs::remove(forgotten);
    most = std::max(most, size());
  }
  EXPECT_LE(most, kLimit + kLimit / 16 + value.size());
  EXPECT_GT(size(), kLimit * 8 / 10);
  EXPECT_GE(lists, 200u / 4);
  EXPECT_LE(lists, 200u / 2);
}

TEST_F(FileCacheTest, RemovesForgottenUnfinishedFiles) {
  FileCache(folder, "kernels", kRoom).store("a", "1");
  std::ofstream(file("tmp-1-0")) << "half";
  std::ofstream(file("tmp-2-0")) << "in the making";
  age(file("tmp-1-0"), 1000);
  FileCache(folder, "kernels", kRoom + 1).store("b", "2"); // with another limit it looks again
  EXPECT_FALSE(fs::exists(file("tmp-1-0")));
  EXPECT_TRUE(fs::exists(file("tmp-2-0")));
}

TEST_F(FileCacheTest, TrustsNoFolderThatOthersMayWrite) {
  FileCache(folder, "kernels", kRoom).store("a", "1");
  fs::permissions(folder, fs::perms::all);
  FileCache cache(folder, "kernels", kRoom, collect());
  EXPECT_FALSE(cache.load("a"));
  cache.store("b", "2");
  expectOneLine("other users may write to it (mode 0777, expected 0700)");
  EXPECT_FALSE(fs::exists(file("b")));
}

TEST_F(FileCacheTest, TrustsNoFolderOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  FileCache(folder, "kernels", kRoom).store("a", "1");
  ASSERT_EQ(::chown(folder.c_str(), 65534, 65534), 0);
  FileCache cache(folder, "kernels", kRoom, collect());
  EXPECT_FALSE(cache.load("a"));
  expectOneLine("belongs to user 65534");
}

// Others could rename a folder above the cache, and put one of their own in its place.
TEST_F(FileCacheTest, TrustsNoFolderBelowOneThatOthersMayChange) {
  fs::path above = root / "above";
  fs::create_directories(above / "home");
  folder = (above / "home" / "cache").string();
  FileCache(folder, "kernels", kRoom).store("a", "1");
  auto trusts = [&](const std::string &path) {
    lines.clear();
    return FileCache(path, "kernels", kRoom, collect()).load("a") == "1";
  };
  EXPECT_TRUE(trusts(folder));
  fs::permissions(above, fs::perms::all);
  EXPECT_FALSE(trusts(folder));
  expectOneLine("above: other users may write to it (mode 0777, expected 0755, or the sticky bit)");
  EXPECT_NE(sprig::cacheDistrust(folder), "");
  fs::permissions(above, fs::perms::all | fs::perms::sticky_bit); // as /tmp: none renames what is another's
  EXPECT_TRUE(trusts(folder));
  fs::permissions(above / "home", fs::perms::group_write, fs::perm_options::add);
  EXPECT_FALSE(trusts(folder));
  fs::permissions(above / "home", fs::perms::group_write, fs::perm_options::remove);

  fs::create_directory_symlink(folder, above / "link");
  EXPECT_TRUE(trusts(above / "link"));
  EXPECT_TRUE(trusts(above / "home" / ".." / "link"));
  fs::create_directory_symlink("round", above / "round");
  EXPECT_FALSE(trusts(above / "round"));
  expectOneLine("Too many levels of symbolic links");
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  ASSERT_EQ(::lchown((above / "link").c_str(), 65534, 65534), 0);
  EXPECT_FALSE(trusts(above / "link"));
  expectOneLine("link: belongs to user 65534");
  ASSERT_EQ(::chown((above / "home").c_str(), 65534, 65534), 0);
  EXPECT_FALSE(trusts(folder));
  expectOneLine("home: belongs to user 65534, not to 0; so they could put another folder in the place of the cache");
}

TEST_F(FileCacheTest, TrustsNoFileThatOthersMayWrite) {
  auto stored = [&] {
    FileCache(folder, "kernels", kRoom).store("a", "1");
    lines.clear();
  };
  stored();
  fs::permissions(file("a"), fs::perms::others_write, fs::perm_options::add);
  EXPECT_FALSE(FileCache(folder, "kernels", kRoom, collect()).load("a"));
  expectOneLine("kernels/a: other users may write to it (mode 0602, expected 0600); made anew");
  EXPECT_FALSE(fs::exists(file("a")));
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  stored();
  ASSERT_EQ(::chown(file("a").c_str(), 65534, 65534), 0);
  EXPECT_FALSE(FileCache(folder, "kernels", kRoom, collect()).load("a"));
  expectOneLine("kernels/a: belongs to user 65534");
}

TEST_F(FileCacheTest, WorksWithoutAFolder) {
  std::ofstream(root / "cache") << "a file";
  {
    FileCache cache(folder, "kernels", kRoom, collect());
    EXPECT_FALSE(cache.load("a"));
    cache.store("a", "1");
    cache.store("b", "2");
    expectOneLine("is no folder");
  }
  lines.clear();
  FileCache cache("/proc/sprig", "kernels", kRoom, collect());
  cache.store("a", "1");
  cache.store("b", "2");
  expectOneLine("cannot be made");
}

TEST_F(FileCacheTest, ReadsAReadOnlyFolder) {
  fs::permissions(root, fs::perms::all | fs::perms::sticky_bit);
  EXPECT_TRUE(inChild([&] {
    // Permissions do not bind root.
    if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) return false;
    FileCache(folder, "kernels", kRoom).store("a", "1");
    fs::permissions(fs::path(folder) / "kernels", fs::perms::owner_read | fs::perms::owner_exec);
    FileCache cache(folder, "kernels", kRoom, collect());
    if (cache.load("a") != "1") return false;
    cache.store("b", "2");
    cache.store("c", "3");
    bool told = lines.size() == 1 && lines[0].find("cannot be written to: Permission denied") != std::string::npos;
    fs::permissions(fs::path(folder) / "kernels", fs::perms::owner_all);
    return told && !fs::exists(file("b"));
  }));
}

TEST_F(FileCacheTest, SurvivesAFullDisk) {
  EXPECT_TRUE(inChild([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit = {4096, 4096}; // a write after it fails, as on a full disk
    ::setrlimit(RLIMIT_FSIZE, &limit);
    FileCache cache(folder, "kernels", kRoom, collect());
    cache.store("small", "1");
    cache.store("large", std::string(10000, 'x'));
    cache.store("later", "2");
    size_t files = 0;
    for ([[maybe_unused]] auto &entry : fs::directory_iterator(fs::path(folder) / "kernels")) ++files;
    return files == 1 && cache.load("small") == "1" && !cache.load("large") && lines.size() == 1 &&
           lines[0].find("File too large; nothing is kept") != std::string::npos;
  }));
}

TEST_F(FileCacheTest, ServesProcessesAndThreadsAtOnce) {
  // All write and read the same keys; a value belongs to its key or is not there.
  auto hammer = [&](int seed) {
    FileCache cache(folder, "kernels", kRoom, collect());
    for (int i = 0; i < 300; ++i) {
      std::string key = "k" + std::to_string((i * 7 + seed) % 20), value(1 + i % 5000, key.back());
      value += key;
      cache.store(key, value);
      auto found = cache.load(key);
      if (found && !found->ends_with(key)) return false;
    }
    return cache.counts().damaged == 0;
  };
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i) {
    pid_t child = ::fork();
    if (child == 0) ::_exit(hammer(i) ? 0 : 1);
    children.push_back(child);
  }
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&, i] {
      if (!hammer(10 + i)) ++failures;
    });
  for (std::thread &thread : threads) thread.join();
  for (pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(failures, 0);
  EXPECT_TRUE(lines.empty());
}

TEST_F(FileCacheTest, ReadsSizes) {
  EXPECT_EQ(sprig::parseCacheSize("1000"), 1000u);
  EXPECT_EQ(sprig::parseCacheSize("2K"), 2048u);
  EXPECT_EQ(sprig::parseCacheSize("512M"), uint64_t(512) << 20);
  EXPECT_EQ(sprig::parseCacheSize("3G"), uint64_t(3) << 30);
  for (const char *bad : {"", "M", "-1", "1T", "1.5G", "99999999999G"}) EXPECT_FALSE(sprig::parseCacheSize(bad)) << bad;
}
