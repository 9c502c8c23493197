// sprig: compile, run, check, inspect and time small neural networks. docs/cli.md is the contract.
#include "lib/Data/File.h"
#include "lib/Target/SignalStack.h"
#include "tools/StandardDescriptors.h"
#include "tools/sprig/Command.h"
#include "tools/sprig/compile/CompilerLibrary.h"
#include "tools/sprig/Interrupt.h"
#include "tools/sprig/MemoryLimit.h"
#include "tools/sprig/TextStream.h"
#include "tools/sprig/Version.h"
#include "tools/sprig/WrongUse.h"
#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <unistd.h>

namespace sprig::cli {
namespace {

// No file is left half written: an unfinished one lies aside and is removed.
void onInterrupt(int signal) {
  data::removeUnfinishedFile();
  _exit(exitCodeOf(signal));
}

void onOutOfMemory() {
  constexpr char text[] = "error: out of memory (--max-memory, the machine's or this process's limit)\n";
  [[maybe_unused]] ssize_t written = ::write(2, text, sizeof text - 1);
  data::removeUnfinishedFile();
  _exit(int(ErrorKind::runtime));
}

// Before static objects are made, which allocate, those of shared libraries among them.
[[gnu::section(".preinit_array"), gnu::used]] void (*const handleMemoryFirst)() = [] {
  std::set_new_handler(onOutOfMemory);
};

// A bug all the same, but one with a text and without a half-written file; not under a sanitizer, which has its own.
void onCrash(int signal, siginfo_t *info, void *) {
  // MLIR writes to what malloc gives without a look at it.
  constexpr uintptr_t kNullPages = 1 << 16;
  if (signal == SIGSEGV && errno == ENOMEM && reinterpret_cast<uintptr_t>(info->si_addr) < kNullPages) onOutOfMemory();
  constexpr char text[] = "error: internal error: the program crashed\nThis is a bug of Sprig: please report it with "
                          "the model and the command.\n";
  [[maybe_unused]] ssize_t written = ::write(2, text, sizeof text - 1);
  data::removeUnfinishedFile();
  _exit(int(ErrorKind::internal));
}

// On a stack of its own, since the thread's may be what ran out.
void handleCrashes() {
  static const SignalStack stack;
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    struct sigaction old = {}, action = {};
    if (::sigaction(signal, nullptr, &old) != 0 || old.sa_handler != SIG_DFL) continue;
    action.sa_sigaction = onCrash;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | int(SA_RESETHAND);
    ::sigaction(signal, &action, nullptr);
  }
}

void onFatalError(void *, const char *reason, bool) {
  std::fprintf(stderr,
               "error: internal error: %s\nThis is a bug of Sprig: please report it with the model and the command.\n",
               reason);
  data::removeUnfinishedFile();
  _exit(int(ErrorKind::internal));
}

int fail(const std::string &text, int code) {
  std::cout.flush();
  // One write: a process that is ended meanwhile leaves a whole line or none.
  std::cerr << (text.starts_with("error:") ? "" : "error: ") + text + (text.ends_with('\n') ? "" : "\n");
  return code;
}

int runCommand(const std::function<int()> &command) {
  try {
    int code = command();
    std::cout.flush();
    if (std::cout || isInterrupted(code)) return code;
    return fail("standard output: cannot write", int(ErrorKind::runtime));
  } catch (const Error &error) {
    std::string text = error.what();
    if (error.kind() == ErrorKind::internal)
      text = "internal error: " + text + "\nThis is a bug of Sprig: please report it with the model and the command.";
    return fail(text, int(error.kind()));
  } catch (const std::bad_alloc &) {
    return fail("out of memory", int(ErrorKind::runtime));
  } catch (const std::system_error &error) {
    // What the system refuses: a thread, a folder.
    return fail(error.what(), int(ErrorKind::runtime));
  } catch (const std::exception &error) {
    return fail(std::string("internal error: ") + error.what(), int(ErrorKind::internal));
  }
}

} // namespace

CLI::App *addCommand(CLI::App &app, const std::string &name, const std::string &summary, const std::string &examples,
                     CommonOptions &common) {
  CLI::App *command = app.add_subcommand(name, summary);
  command->footer("Examples:\n" + examples);
  command
      ->add_option_function<std::string>(
          "--max-memory", [](const std::string &size) { limitMemory(parseBytes("--max-memory", size)); },
          "most memory to take, as 512MB or 2GiB: what needs more is an error (default: the machine's; 4GiB for "
          "constants that a package has one element of)")
      ->type_name("SIZE")
      ->trigger_on_parse();
  addChoice(*command, "--format", common.format, {"text", "json"}, "how to print results: text or json");
  command->add_flag_callback("-q,--quiet", [] { setQuiet(true); }, "say nothing but results and errors");
  command->add_flag_callback(
      "-v,--verbose", [] { setVerbose(true); }, "say more: entry, instruction set, padding, times");
  return command;
}

void onRun(CLI::App &command, Invocation &invocation, std::function<int()> body) {
  command.callback([&invocation, body = std::move(body)] { invocation.run = body; });
}

} // namespace sprig::cli

int main(int argc, char **argv) {
  using namespace sprig::cli;
  if (!sprig::openStandardDescriptors()) return int(sprig::ErrorKind::runtime);
  TextStream output(std::cout), errors(std::cerr);
  handleCrashes();
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) handleInterrupt(signal, onInterrupt);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN); // a file over the limit is an error of the write
  limitMemoryToMachine();
  compilerHost.fatalError = onFatalError;
  compilerHost.outOfMemory = [](void *, const char *, bool) { onOutOfMemory(); };

  CLI::App app("Sprig compiles small neural networks to machine code and runs them.", "sprig");
  app.set_version_flag("--version", kVersionText);
  app.require_subcommand(1);
  std::span<const char *const> words(argv + 1, argv + std::max(argc, 1));
  app.failure_message(
      [words](const CLI::App *app, const CLI::Error &error) { return "error: " + textOf(*app, error, words) + "\n"; });
  Invocation invocation;
  for (auto add : {addRun, addCompile, addCheck, addInspect, addDevices, addOps, addBench, addProfile, addShard,
                   addSimulate, addTrain, addQuantize, addLaunch})
    add(app, invocation);
  if (argc > 1)
    if (std::optional<std::string> wrong = wrongFirstWord(app, argv[1]))
      return fail(*wrong + "\nRun 'sprig --help' for what is there.", int(sprig::ErrorKind::usage));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    int code = app.exit(error);
    if (code) return int(sprig::ErrorKind::usage);
    return runCommand([] { return 0; }); // help, which may not be written
  } catch (const sprig::Error &error) {
    return fail(error.what(), int(error.kind()));
  }
  if (std::optional<std::string> wrong = emptyValue(app)) return fail(*wrong, int(sprig::ErrorKind::usage));
  // Everything is written; taking down what LLVM and ONNX keep would take milliseconds.
  int code = runCommand(invocation.run);
  std::cerr.flush();
  std::fflush(nullptr);
  std::_Exit(code);
}
