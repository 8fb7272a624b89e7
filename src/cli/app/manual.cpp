#include "cli/app/manual.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/version.h"
#include "cli/app/usage.h"
#include "cli/options/general_options.h"

namespace tril::cli {
namespace {

// Escapes text for roff. A plain - would become a hyphen, which cannot be copied into a shell; a line that starts with
// . or ' would be a request.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool begins_line = out.empty() || out.back() == '\n';
    if (begins_line && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

// The same for an argument of a macro, where quotes join words.
std::string roff_argument(std::string_view text) {
  std::string out;
  for (const char c : roff(text)) {
    if (c == '"')
      out += "\\(dq";
    else
      out += c;
  }
  return out;
}

// "bench train" -> "tril-bench-train"
std::string page_of(std::string command) {
  std::replace(command.begin(), command.end(), ' ', '-');
  return "tril-" + command;
}

std::string upper(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

std::string beginning(const std::string& page, const std::string& summary) {
  return fmt::format(".TH \"{0}\" 1 \"\" \"tril {1}\" \"tril\"\n.SH NAME\n{2} \\- {3}\n", roff_argument(upper(page)),
                     version, roff(page), roff(summary));
}

constexpr std::string_view exit_status =
    ".SH EXIT STATUS\n.TP\n0\nsuccess\n.TP\n1\na failure of files, of the system or of the network\n.TP\n2\n"
    "invalid options or settings\n";

void add_options(std::string& out, const Fields& fields) {
  each_option(
      fields, [&](const std::string& group) { out += fmt::format(".SS \"{}\"\n", roff_argument(group)); },
      [&](const Field& field) {
        out += fmt::format(".TP\n.B {}\n{}\n", roff_argument(flag_text(field)), roff(described(field, fields)));
      });
}

std::string page_text(const Command& command) {
  std::string out = beginning(page_of(command.name), command.summary);
  out += fmt::format(".SH SYNOPSIS\n.B {}\n", roff_argument(usage_of(command)));
  if (!command.description.empty()) out += fmt::format(".SH DESCRIPTION\n{}\n", roff(command.description));
  GeneralOptions general;
  out += ".SH OPTIONS\n";
  add_options(out, command.fields);
  add_options(out, fields_of(general, command.traits()));
  if (command.reads_environment)
    out += fmt::format(
        ".SH ENVIRONMENT\nEach option of this command can be set by a variable with its name: TRIL_QUEUE_SIZE sets "
        "{}. The values of a list are separated by white space.\n",
        roff("--queue-size"));
  if (!command.examples.empty()) out += ".SH EXAMPLES\n";
  for (const Example& example : command.examples)
    out +=
        fmt::format(".PP\n{}:\n.PP\n.RS 4\n.nf\n{}\n.fi\n.RE\n", roff(capitalised(example.does)), roff(example.line));
  return out + std::string(exit_status) + ".SH SEE ALSO\n.BR tril (1)\n";
}

std::string overview_page(const App& app) {
  std::string out = beginning("tril", "train, run and serve Transformer decoders");
  out += ".SH SYNOPSIS\n.B tril\n.I COMMAND\n[options]\n.SH COMMANDS\n";
  for (const Command& command : app.commands())
    out += fmt::format(".TP\n.B {}\n{}; see\n.BR {} (1)\n", roff_argument("tril " + command.name),
                       roff(command.summary), roff_argument(page_of(command.name)));
  out += fmt::format(".SH OPTIONS\n.TP\n.B {}\nprint all commands\n.TP\n.B {}\nprint the version\n", roff("-h, --help"),
                     roff("-V, --version"));
  return out + std::string(exit_status);
}

}  // namespace

std::vector<ManualPage> manual_pages(const App& app) {
  std::vector<ManualPage> pages{{"tril.1", overview_page(app)}};
  for (const Command& command : app.commands()) pages.push_back({page_of(command.name) + ".1", page_text(command)});
  return pages;
}

}  // namespace tril::cli
