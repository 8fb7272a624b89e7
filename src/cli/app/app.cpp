#include "cli/app/app.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <new>
#include <system_error>
#include <thread>

#include "base/log.h"
#include "base/message_text.h"
#include "base/printable.h"
#include "base/streams.h"
#include "base/version.h"
#include "cli/app/help.h"
#include "cli/io/standard_output.h"
#include "cli/options/environment.h"
#include "cli/options/file_conflicts.h"
#include "cli/options/find_models.h"
#include "cli/options/general_options.h"
#include "cli/options/option_names.h"
#include "cli/options/parse.h"
#include "cli/options/yaml_options.h"
#include "dist/launch.h"

namespace tril::cli {
namespace {

// File and flags override a preset, so it is read first wherever it is given, together with the family that it
// applies to.
void apply_preset(Command& command, const std::vector<std::vector<GivenValue>>& sources) {
  if (!command.apply_preset) return;
  for (const auto& source : sources)
    for (const GivenValue& value : source)
      if (value.name == "preset" || value.name == "arch")
        command.fields.at(value.name, value.where).set(value.texts, value.where);
  command.apply_preset();
}

void apply_flags(Fields& fields, const std::vector<GivenValue>& values) {
  for (const GivenValue& value : values) fields.at(value.name, value.where).set(value.texts, value.where);
}

// A line of a dumped file that repeats the current value is not a choice by the user, and contradicts nothing.
void apply_file(Fields& fields, const std::vector<GivenValue>& values) {
  for (const GivenValue& value : values)
    if (Field& field = fields.at(value.name, value.where); field.texts() != value.texts)
      field.set(value.texts, value.where);
}

// How many of the arguments name a command: two of "bench translate", one of "train", zero if there is no such command.
std::size_t words_of_name(const App& app, const std::vector<std::string>& args) {
  const std::vector<std::string> known = app.names();
  const auto is_command = [&](const std::string& name) {
    return std::find(known.begin(), known.end(), name) != known.end();
  };
  if (args.size() > 1 && is_command(args[0] + " " + args[1])) return 2;
  return !args.empty() && is_command(args[0]) ? 1 : 0;
}

// Removes the command's name from an error's place: the printed line begins with it already.
Error without_command(const std::string& command, const Error& error) {
  return error.where() == command ? Error(error.kind(), "", error.message(), error.hint()) : error;
}

}  // namespace

void App::add(Command command) {
  for (const Command& other : commands_) check(other.name != command.name, command.name, "a command added twice");
  commands_.push_back(std::move(command));
}

std::vector<std::string> App::names() const {
  std::vector<std::string> all;
  for (const Command& command : commands_) all.push_back(command.name);
  return all;
}

const Command& App::at(std::string_view name) const {
  for (const Command& command : commands_)
    if (command.name == name) return command;
  std::vector<std::string> longer;  // "bench" is a prefix of "bench train" and "bench translate"
  for (const std::string& other : names())
    if (other.starts_with(std::string(name) + " ")) longer.push_back(other);
  if (!longer.empty()) fail_usage("", fmt::format("expected one of {}, got {} alone", fmt::join(longer, ", "), name));
  std::string hint = did_you_mean(name, names());
  fail_usage("", fmt::format("{} is not a command", name.empty() ? "\"\"" : printable(name)),
             hint.empty() ? "`tril help` lists them" : hint);
}

int App::run_command(Command& command, const std::vector<std::string>& args) {
  GeneralOptions general;
  Fields general_fields = fields_of(general, command.traits());

  const std::vector<GivenValue> all = parse_arguments({&command.fields, &general_fields}, args);
  std::vector<GivenValue> own, shared;
  for (const GivenValue& value : all) (command.fields.find(value.name) ? own : shared).push_back(value);
  apply_flags(general_fields, shared);
  if (general.help) {
    write_stdout(help_text(command));
    return exit_success;
  }
  try {
    general_fields.check_complete();
  } catch (const Error& error) {
    throw with_options(general_fields, error);
  }
  set_up_log(general.log);

  const std::vector<GivenValue> file =
      general.config.empty() ? std::vector<GivenValue>{} : read_yaml(general.config, command.fields);
  apply_preset(command, {file, own});
  apply_file(command.fields, file);
  if (command.reads_environment) {
    for (const std::string& text : unknown_settings(command.fields, settings_of_process())) spdlog::warn("{}", text);
    apply_flags(command.fields, read_environment(command.fields));
  }
  apply_flags(command.fields, own);
  if (general.dump_config) {
    write_stdout(to_yaml(command.fields));
    return exit_success;
  }
  try {
    command.fields.check_complete();
    find_models(command.fields, command.models, {.pull = general.pull, .quiet = general.log.quiet});
    check_file_conflicts(command.fields, {command.models, command.outputs});
    return command.run({*this, command.fields, general.log.quiet});
  } catch (const ReaderGone&) {
    throw;
  } catch (const Error& error) {
    throw without_command(command.name, with_options(command.fields, error));
  }
}

int App::dispatch(const std::vector<std::string>& args) {
  if (args.empty()) {
    std::cerr << overview(*this);
    return exit_usage;
  }
  const std::string& first = args.front();
  const bool stands_alone = first == "--version" || first == "-V" || first == "--help" || first == "-h";
  if (stands_alone && args.size() > 1)
    fail_usage(fmt::format("\"{}\"", printable(args[1])),
               fmt::format("{} takes no further arguments", printable(first)),
               "`tril help COMMAND` explains a command");
  if (first == "--version" || first == "-V") {
    print_stdout("tril {}\n", version);
    return exit_success;
  }
  if (first == "--help" || first == "-h") {
    write_stdout(overview(*this));
    return exit_success;
  }
  if (first.starts_with("-"))
    fail_usage("", first + " is not an option here", did_you_mean(first, {"--help", "--version"}));

  const std::size_t words = words_of_name(*this, args);
  const std::string name = words == 2 ? first + " " + args[1] : first;
  at(name);  // throws with the nearest name
  Command& command =
      *std::find_if(commands_.begin(), commands_.end(), [&](const Command& c) { return c.name == name; });
  return run_command(command, {args.begin() + static_cast<std::ptrdiff_t>(words), args.end()});
}

int App::run(const std::vector<std::string>& args) {
  std::string who = "tril";
  for (std::size_t i = 0; i < words_of_name(*this, args); ++i) who += " " + args[i];
  // An error that all ranks share is printed by the first only: the others wait a second or two for the launcher to end
  // them, and print it if they are not ended, since then the error is theirs alone.
  const auto report = [&](std::string_view text) {
    const dist::Launch launch = dist::launch_of_environment();
    const bool other = launch.rank > 0;
    if (other) std::this_thread::sleep_for(std::chrono::seconds(3));
    std::cerr << who << ": " << (other ? dist::name_of(launch) + ": " : "") << message_text(text) << std::endl;
  };

  try {
    return dispatch(args);
  } catch (const ReaderGone&) {
    return exit_reader_gone;
  } catch (const Error& error) {
    report(error.what());
    return error.kind() == ErrorKind::usage ? exit_usage : exit_failure;
  } catch (const std::bad_alloc&) {
    report("out of memory; try smaller batches, fewer threads or a smaller model");
  } catch (const std::filesystem::filesystem_error& error) {
    report(fmt::format("{}: {}", printable(error.path1().string(), 400), error.code().message()));
  } catch (const std::system_error& error) {  // a thread could not be started
    report(fmt::format("the system refused a resource: {}; try fewer --threads, or raise ulimit -u and -v",
                       error.code().message()));
  } catch (const std::exception& error) {
    report(fmt::format("internal error: {}", error.what()));
  }
  return exit_failure;
}

}  // namespace tril::cli
