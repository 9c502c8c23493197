// write-events FOLDER [STEP] < LINES: writes an event file, of a run that is resumed at STEP if there is one. A line is
// `STEP TAG VALUE SECONDS`, or `flush`, which is answered by a line when it is done. Exits as sprig does.
#include "include/sprig/error.h"
#include "lib/Events/EventFile.h"
#include "runtime/base/Decimal.h"
#include <iostream>
#include <sstream>
#include <string>

namespace {

void run(const std::string &folder, std::optional<int64_t> resumeStep) {
  sprig::events::EventFile file(folder, resumeStep);
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "flush") {
      file.flush();
      std::cout << "flushed" << std::endl;
      continue;
    }
    std::istringstream words(line);
    int64_t step = 0;
    std::string tag, value, seconds;
    words >> step >> tag >> value >> seconds;
    std::optional<double> parsedValue = sprig::decimal::parse(value), parsedSeconds = sprig::decimal::parse(seconds);
    if (!words || !parsedValue || !parsedSeconds)
      sprig::badInput("'" + line + "': expected STEP TAG VALUE SECONDS or flush");
    file.add(step, tag, *parsedValue, *parsedSeconds);
  }
  file.flush();
}

} // namespace

int main(int argc, char **argv) {
  try {
    if (argc != 2 && argc != 3) sprig::badUse("expected FOLDER [STEP]");
    run(argv[1], argc == 3 ? std::optional<int64_t>(std::stoll(argv[2])) : std::nullopt);
  } catch (const sprig::Error &error) {
    std::cerr << "error: " << error.what() << "\n";
    return int(error.kind());
  }
}
