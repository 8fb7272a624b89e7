#include "cli/app/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/version.h"
#include "cli/app/usage.h"
#include "cli/options/general_options.h"
#include "cli/options/option_names.h"

namespace tril::cli {
namespace {

constexpr std::size_t help_column = 32, help_width = 100;

// Wraps `text` to help_width, indenting every line after the first to `column`, where the first starts.
std::string wrapped(const std::string& text, std::size_t column) {
  std::string out;
  std::size_t at = column;
  std::istringstream words(text);
  for (std::string word; words >> word; at += word.size()) {
    if (at > column && at + 1 + word.size() > help_width) {
      out += "\n" + std::string(column, ' ');
      at = column;
    } else if (at > column) {
      out += ' ';
      ++at;
    }
    out += word;
  }
  return out;
}

std::string in_table(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

// "`tril vocab`, `tril train`": the commands for which `has` is true.
template <class Has>
std::string listed(const App& app, Has has) {
  std::string list;
  for (const Command& command : app.commands())
    if (has(command.traits())) list += fmt::format("{}`tril {}`", list.empty() ? "" : ", ", command.name);
  return list;
}

void add_tables(std::string& out, const Fields& fields) {
  each_option(
      fields,
      [&](const std::string& group) {
        out += fmt::format("\n### {}\n\n| Option | Default | Meaning |\n|---|---|---|\n", group);
      },
      [&](const Field& field) {
        const std::string& value = field.default_text();
        out += fmt::format("| `{}` | {} | {} |\n", in_table(flag_text(field)),
                           value.empty() || field.is_flag() ? (field.is_flag() && value == "true" ? "on" : "")
                                                            : "`" + in_table(value) + "`",
                           in_table(meaning_of(field, fields)));
      });
}

}  // namespace

std::string overview(const App& app) {
  std::string out = fmt::format(
      "tril {}: trains, runs and serves Transformer decoders\n\nusage: tril COMMAND [options]\n\n", version);
  for (const Command& command : app.commands()) out += fmt::format("  {:<17}{}\n", command.name, command.summary);
  return out + "\n`tril COMMAND --help` explains a command; `tril --version` prints the version.\n";
}

std::string help_text(const Command& command) {
  std::string out = fmt::format("tril {}: {}\n\nusage: {}\n", command.name, command.summary, usage_of(command));
  if (!command.description.empty()) out += "\n" + wrapped(command.description, 0) + "\n";

  GeneralOptions general;
  const Fields general_fields = fields_of(general, command.traits());
  for (const Fields* fields : {&command.fields, &general_fields})
    each_option(
        *fields, [&](const std::string& group) { out += fmt::format("\n{}\n", group); },
        [&](const Field& field) {
          std::string flags = (field.short_name() || field.is_positional() ? "  " : "      ") + flag_text(field);
          out += flags.size() + 2 > help_column ? flags + "\n" + std::string(help_column, ' ')
                                                : fmt::format("{:<{}}", flags, help_column);
          out += wrapped(described(field, *fields), help_column) + "\n";
        });

  if (!command.examples.empty()) out += "\nExamples\n";
  for (const Example& example : command.examples)
    out += fmt::format("  {}\n      {}\n", example.line, wrapped(example.does, 6));
  return out;
}

std::string markdown_reference(const App& app) {
  std::string out =
      "# Options\n\nEvery command with every option, as `tril help --markdown` prints it. A command with `--config` "
      "reads "
      "options from a\nYAML file, under the same names.\n";
  for (const Command& command : app.commands()) {
    out += fmt::format("\n## tril {}\n\n{}.\n", command.name, capitalised(command.summary));
    if (!command.description.empty()) out += "\n" + command.description + "\n";
    out += fmt::format("\n```\n{}\n```\n", usage_of(command));
    add_tables(out, command.fields);
    if (!command.examples.empty()) out += "\n### Examples\n";
    for (const Example& example : command.examples)
      out += fmt::format("\n{}:\n\n```\n{}\n```\n", capitalised(example.does), example.line);
  }
  GeneralOptions general;
  out += fmt::format(
      "\n## All commands\n\nOnly these commands have `--config` and `--dump-config`: {}.\n\nOnly these have `--pull`: "
      "{}.\n",
      listed(app, [](const CommandTraits& t) { return t.reads_config; }),
      listed(app, [](const CommandTraits& t) { return t.opens_models; }));
  add_tables(out, fields_of(general, {.reads_config = true, .opens_models = true}));
  return out;
}

}  // namespace tril::cli
