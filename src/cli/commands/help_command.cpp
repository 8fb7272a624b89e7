// tril help: the overview, one command's help, or the whole reference.
#include <fmt/format.h>

#include <memory>

#include "cli/app/help.h"
#include "cli/commands/commands.h"
#include "cli/io/standard_output.h"

namespace tril::cli {
namespace {

struct HelpOptions {
  std::vector<std::string> command;  // its words: {"bench", "train"}
  bool markdown = false;
};

}  // namespace

void add_help(App& app) {
  auto o = std::make_shared<HelpOptions>();
  Fields f;
  f.add("command", &o->command, "the command to explain").positional().value_name("COMMAND");
  f.add("markdown", &o->markdown, "print the reference of all commands as Markdown");
  f.excludes("command", "markdown", "the reference covers every command");

  app.add({.name = "help",
           .summary = "explain tril or one of its commands",
           .description = "",
           .examples = {{"tril help eval", "all options of `tril eval`, with examples"},
                        {"tril help --markdown > docs/options.md", "the reference in the documentation"}},
           .fields = f,
           .apply_preset = {},
           .run = [o](const Invocation& invocation) {
             const App& all = invocation.app;
             write_stdout(o->markdown          ? markdown_reference(all)
                          : o->command.empty() ? overview(all)
                                               : help_text(all.at(fmt::format("{}", fmt::join(o->command, " ")))));
             return exit_success;
           }});
}

}  // namespace tril::cli
