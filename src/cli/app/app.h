// The program's subcommands: each is one file NAME_command.cpp that adds one Command, and commands.cpp lists them all.
// Parsing, help, completion and the reference in docs/ come from this registry and from nothing else.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"

namespace tril::cli {

constexpr int exit_success = 0, exit_failure = 1, exit_usage = 2;

class App;

/// What a command may want to know besides its own options.
struct Invocation {
  const App& app;
  const Fields& fields;  ///< the command's own; they know what was given: fields.given("vocab")
  bool quiet;            ///< --quiet: no progress line
};

struct Example {
  std::string line;  ///< "tril eval --reference test.de -i out.de"
  std::string does;  ///< "BLEU and chrF of one file"
};

/// One subcommand. `fields` point into an options struct that `run` keeps alive:
///
///   void add_eval(App& app) {
///     auto o = std::make_shared<EvalOptions>();
///     app.add({.name = "eval", ..., .fields = fields_of(*o), .run = [o](const Invocation&) { return evaluate(*o); }});
///   }
struct Command {
  std::string name;         ///< "train"; two words where commands form a family: "bench train"
  std::string summary;      ///< one line, no full stop
  std::string description;  ///< a paragraph for --help; may be empty
  std::vector<Example> examples;
  Fields fields;
  bool reads_config = false;  ///< takes --config FILE (YAML, the same names) and --dump-config
  /// Whether options may stand in the environment as well: --queue-size is TRIL_QUEUE_SIZE there, a list's values apart by
  /// white space. Flags win over it, it over the file.
  bool reads_environment = false;
  /// Where there is a field "preset": called once its value stands, before any other value is set, so that flags and
  /// file both win over the preset.
  std::function<void()> apply_preset;
  /// Does the work and returns the exit code.
  std::function<int(const Invocation& invocation)> run;
};

class App {
 public:
  void add(Command command);

  const std::vector<Command>& commands() const { return commands_; }
  std::vector<std::string> names() const;
  /// @throws Error(usage) that names the nearest subcommand
  const Command& at(std::string_view name) const;

  /// Runs `args` (without the program's name): prints errors to stderr and returns the exit code. Throws nothing.
  int run(const std::vector<std::string>& args);

 private:
  int dispatch(const std::vector<std::string>& args);
  int run_command(Command& command, const std::vector<std::string>& args);

  std::vector<Command> commands_;
};

/// Every subcommand of the program.
App make_app();

}  // namespace tril::cli
