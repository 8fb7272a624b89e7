// tril help: the overview, one command's help, the whole reference, or the manual pages.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/file.h"
#include "cli/app/help.h"
#include "cli/app/manual.h"
#include "cli/commands/commands.h"
#include "cli/io/ending_signal.h"
#include "cli/io/standard_output.h"

namespace tril::cli {
namespace {

struct HelpOptions {
  std::vector<std::string> command;  // its words: {"bench", "train"}
  bool markdown = false;
  std::string man;
};

void write_manual(const App& app, const std::string& directory) {
  const EndingSignal ending;
  std::error_code failed;
  std::filesystem::create_directories(directory, failed);
  if (failed) fail(directory, failed.message(), "name a directory that can be written");
  for (const ManualPage& page : manual_pages(app)) {
    AtomicFile file((std::filesystem::path(directory) / page.name).string());
    file.write(page.text);
    file.commit();
  }
}

}  // namespace

void add_help(App& app) {
  auto o = std::make_shared<HelpOptions>();
  Fields f;
  f.add("command", &o->command, "the command to explain").positional().value_name("COMMAND");
  f.add("markdown", &o->markdown, "print the reference of all commands as Markdown");
  f.add("man", &o->man, "write the manual pages, tril.1 and one for each command, to this directory").value_name("DIR");
  f.excludes("command", "markdown", "the reference covers every command");
  f.excludes("command", "man", "a page is written for every command");
  f.excludes("markdown", "man", "one call writes one form");

  app.add({.name = "help",
           .summary = "explain tril or one of its commands",
           .description = "",
           .examples = {{"tril help eval", "all options of `tril eval`, with examples"},
                        {"tril help --markdown > docs/options.md", "the reference in the documentation"},
                        {"tril help --man ~/.local/share/man/man1", "manual pages for `man tril-eval`"}},
           .fields = f,
           .apply_preset = {},
           .run = [o](const Invocation& invocation) {
             const App& all = invocation.app;
             if (!o->man.empty()) {
               write_manual(all, o->man);
               return exit_success;
             }
             write_stdout(o->markdown          ? markdown_reference(all)
                          : o->command.empty() ? overview(all)
                                               : help_text(all.at(fmt::format("{}", fmt::join(o->command, " ")))));
             return exit_success;
           }});
}

}  // namespace tril::cli
