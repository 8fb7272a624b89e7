// The program's subcommands: each is a file NAME_command.cpp that adds one Command; commands.cpp lists them all.
// Parsing, help, completion and the reference in docs/ are all generated from this registry.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "cli/options/general_options.h"

namespace tril::cli {

constexpr int exit_success = 0, exit_failure = 1, exit_usage = 2;

class App;

/// What a command may use besides its own options.
struct Invocation {
  const App& app;
  const Fields& fields;  ///< the command's own, including what was given: fields.given("vocab")
  bool quiet;            ///< --quiet: no progress line
};

struct Example {
  std::string line;  ///< "tril eval --reference test.de -i out.de"
  std::string does;  ///< "BLEU and chrF of one file"
};

/// A subcommand. `fields` point into an options struct that `run` keeps alive:
///
///   void add_eval(App& app) {
///     auto o = std::make_shared<EvalOptions>();
///     app.add({.name = "eval", ..., .fields = fields_of(*o), .run = [o](const Invocation&) { return evaluate(*o); }});
///   }
struct Command {
  std::string name;         ///< "train"; two words in a family of commands: "bench train"
  std::string summary;      ///< one line, no full stop
  std::string description;  ///< a paragraph for --help; may be empty
  std::vector<Example> examples;
  Fields fields;
  bool reads_config = false;  ///< takes --config FILE (YAML, the same names) and --dump-config
  /// Whether options can also be set by environment variables: TRIL_QUEUE_SIZE for --queue-size, with a list's values
  /// separated by white space. Flags override the environment, which overrides the file.
  bool reads_environment = false;
  /// The fields whose values name models: paths, or names on a hub, which become paths in the cache before `run`.
  /// With any, the command takes --pull.
  std::vector<std::string> models = {};
  /// The fields whose values are files that the command writes. They must not be files that it reads.
  std::vector<std::string> outputs = {};
  /// With a field "preset": called when its value is set, before any other value, so that flags and file override the
  /// preset.
  std::function<void()> apply_preset;
  /// Does the work. @return the exit code
  std::function<int(const Invocation& invocation)> run;

  CommandTraits traits() const { return {.reads_config = reads_config, .opens_models = !models.empty()}; }
};

class App {
 public:
  void add(Command command);

  const std::vector<Command>& commands() const { return commands_; }
  std::vector<std::string> names() const;
  /// @throws Error(usage) naming the nearest subcommand
  const Command& at(std::string_view name) const;

  /// Runs `args` (without the program's name): prints errors to stderr and returns the exit code. Never throws.
  int run(const std::vector<std::string>& args);

 private:
  int dispatch(const std::vector<std::string>& args);
  int run_command(Command& command, const std::vector<std::string>& args);

  std::vector<Command> commands_;
};

/// Every subcommand of the program.
App make_app();

}  // namespace tril::cli
