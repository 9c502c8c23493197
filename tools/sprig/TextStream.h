// Standard output and error as text that a terminal or a reader of UTF-8 takes, whatever names a model has.
#pragma once
#include <iosfwd>
#include <mutex>
#include <streambuf>
#include <string>
#include <string_view>

namespace sprig::cli {

/// While it lives, what is printed to the stream is UTF-8 without control characters: U+FFFD stands for what is not
/// well-formed, and for controls other than line ends, tabs and the progress line's own "\r\x1b[K". A reader that
/// closes its end of a pipe has seen enough: the rest is dropped, and the stream stays good.
class TextStream : private std::streambuf {
public:
  explicit TextStream(std::ostream &stream);
  ~TextStream() override;

private:
  std::ostream &stream;
  std::streambuf *const target;
  std::mutex mutex;      ///< of what follows: threads that compile report, too
  std::string held;      ///< the start of a sequence whose rest is still to come
  bool isUnread = false; ///< whether nobody reads any more

  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char *text, std::streamsize count) override;
  int sync() override;
  /// With the mutex held.
  bool put(std::string_view text, bool isWhole);
  /// Whether a write has succeeded, or failed, by errno, as nobody reads.
  bool written(bool succeeded);
};

} // namespace sprig::cli
