#include "cli/app/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/options/general_options.h"
#include "cli/options/option_names.h"

namespace tril::cli {
namespace {

// Calls use(field) for each option of a command, including the general ones.
template <class Use>
void each_field(const Command& command, Use use) {
  GeneralOptions general;
  const Fields shared = fields_of(general, command.traits());
  for (const Fields* fields : {&command.fields, &shared})
    for (const Field& field : *fields) use(field);
}

// Two-word commands by their first word: bench -> train, translate.
std::map<std::string, std::vector<std::string>> families(const App& app) {
  std::map<std::string, std::vector<std::string>> found;
  for (const std::string& name : app.names())
    if (const auto space = name.find(' '); space != std::string::npos)
      found[name.substr(0, space)].push_back(name.substr(space + 1));
  return found;
}

// "learn" is a command, and "learn check" another; "bench" alone is none.
bool is_command(const App& app, const std::string& name) {
  const std::vector<std::string> names = app.names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The words that may follow "tril": each first word once.
std::vector<std::string> first_words(const App& app) {
  std::vector<std::string> list;
  for (const std::string& name : app.names())
    if (const std::string word = name.substr(0, name.find(' ')); list.empty() || list.back() != word)
      list.push_back(word);
  return list;
}

std::vector<std::string> completions(const App& app, const Command& command, const Field& field) {
  return command.name == "help" && field.name() == "command" ? first_words(app) : field.allowed();
}

std::string words(const std::vector<std::string>& list) {
  return fmt::format("{}", fmt::join(list, " "));
}

// Escapes text for a shell's single quotes.
std::string quoted(std::string_view text, std::string_view quote_escape) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += quote_escape;
    else
      out += c;
  }
  return out + "'";
}

// Escapes brackets and colons, which zsh interprets in descriptions.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string bash_completion(const App& app) {
  std::string out = R"(# bash completion for tril: source this file, or put it into bash's completions directory.
_tril() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}
  local options="" values="" arguments=""
  if [ "$COMP_CWORD" -eq 1 ]; then
)";
  out += fmt::format("    COMPREPLY=($(compgen -W \"{} --help --version\" -- \"$word\"))\n    return\n  fi\n",
                     words(first_words(app)));
  for (const auto& [first, seconds] : families(app))
    out += fmt::format(
        "  if [ \"$command\" = {} ]; then\n"
        "    if [ \"$COMP_CWORD\" -eq 2 ]; then\n"
        "      COMPREPLY=($(compgen -W \"{}\" -- \"$word\"))\n"
        "      return\n"
        "    fi\n"
        "    case \" {} \" in *\" ${{COMP_WORDS[2]}} \"*) command=\"$command ${{COMP_WORDS[2]}}\" ;; esac\n"
        "  fi\n",
        first, words(seconds), words(seconds));
  out += "  case \"$command\" in\n";
  for (const Command& command : app.commands()) {
    std::vector<std::string> options;
    std::string cases, arguments;
    each_field(command, [&](const Field& field) {
      options.push_back("--" + field.name());
      const std::vector<std::string> allowed = completions(app, command, field);
      if (allowed.empty()) return;
      if (field.is_positional()) arguments = words(allowed);
      cases += fmt::format("        --{}) values=\"{}\" ;;\n", field.name(), words(allowed));
    });
    out += fmt::format("    \"{}\")\n      options=\"{}\"\n", command.name, words(options));
    if (!arguments.empty()) out += fmt::format("      arguments=\"{}\"\n", arguments);
    if (!cases.empty()) out += fmt::format("      case \"$before\" in\n{}      esac\n", cases);
    out += "      ;;\n";
  }
  return out + R"(  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *)
      if [ -n "$values$arguments" ]; then
        COMPREPLY=($(compgen -W "${values:-$arguments}" -- "$word"))
      else
        COMPREPLY=($(compgen -f -- "$word"))
      fi
      ;;
  esac
}
complete -o filenames -F _tril tril
)";
}

std::string zsh_completion(const App& app) {
  std::string out =
      "#compdef tril\n# zsh completion for tril: put this file as _tril into a folder of $fpath.\n_tril() {\n";
  out += "  local -a commands\n  commands=(\n";
  const auto seconds_of = families(app);
  for (const Command& command : app.commands())
    if (command.name.find(' ') == std::string::npos)
      out += fmt::format("    {}\n", quoted(command.name + ":" + zsh_text(command.summary), "'\\''"));
  for (const auto& [first, seconds] : seconds_of)
    if (!is_command(app, first)) out += fmt::format("    '{}:{}'\n", first, words(seconds));
  out += "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n";
  out += "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n";
  for (const auto& [first, seconds] : seconds_of)
    out += fmt::format(
        "  if [[ $command == {} ]]; then\n"
        "    if (( CURRENT == 2 )); then\n"
        "      compadd {}\n"
        "      return\n"
        "    fi\n"
        "    if [[ \" {} \" == *\" $words[2] \"* ]]; then\n"
        "      command=\"$command $words[2]\"\n"
        "      shift words\n"
        "      (( CURRENT-- ))\n"
        "    fi\n"
        "  fi\n",
        first, words(seconds), words(seconds));
  out += "  case $command in\n";
  for (const Command& command : app.commands()) {
    out += fmt::format("    \"{}\")\n      _arguments", command.name);
    each_field(command, [&](const Field& field) {
      const std::vector<std::string> allowed = completions(app, command, field);
      const std::string action = allowed.empty() ? "_files" : "(" + words(allowed) + ")";
      const std::string help = zsh_text(with_options(command.fields, field.help()));
      std::string spec = fmt::format("--{}[{}]", field.name(), help);
      if (!field.is_flag()) spec += fmt::format(":{}:{}", zsh_text(field.shown_value()), action);
      out += fmt::format(" \\\n        {}", quoted((field.is_list() ? "*" : "") + spec, "'\\''"));
      if (field.is_positional())
        out += fmt::format(" \\\n        {}", quoted(fmt::format("::{}:{}", help, action), "'\\''"));
    });
    out += "\n      ;;\n";
  }
  return out + "  esac\n}\n_tril \"$@\"\n";
}

std::string fish_completion(const App& app) {
  std::string out = "# fish completion for tril: put this file as tril.fish into fish's completions folder.\n";
  const auto seconds_of = families(app);
  for (const Command& command : app.commands())
    if (command.name.find(' ') == std::string::npos)
      out += fmt::format("complete -c tril -n __fish_use_subcommand -f -a {} -d {}\n", command.name,
                         quoted(command.summary, "\\'"));
  for (const auto& [first, seconds] : seconds_of) {
    if (!is_command(app, first)) out += fmt::format("complete -c tril -n __fish_use_subcommand -f -a {}\n", first);
    out += fmt::format("complete -c tril -n '__fish_seen_subcommand_from {}' -f -a '{}'\n", first, words(seconds));
  }
  for (const Command& command : app.commands()) {
    // "bench train" requires both words; "train" requires that no word that begins a longer name was seen, and "learn" that none
    // was that makes it longer.
    std::string seen = "__fish_seen_subcommand_from " + command.name;
    if (const auto space = command.name.find(' '); space != std::string::npos) {
      seen.replace(seen.find_last_of(' '), 1, "; and __fish_seen_subcommand_from ");
    } else {
      for (const auto& [first, seconds] : seconds_of)
        seen += "; and not __fish_seen_subcommand_from " + (first == command.name ? words(seconds) : first);
    }
    const std::string when = fmt::format("complete -c tril -n '{}'", seen);
    each_field(command, [&](const Field& field) {
      const std::vector<std::string> allowed = completions(app, command, field);
      out += fmt::format("{} -l {}", when, field.name());
      if (field.short_name()) out += fmt::format(" -s {}", field.short_name());
      if (!field.is_flag()) out += allowed.empty() ? " -r" : fmt::format(" -x -a {}", quoted(words(allowed), "\\'"));
      out += fmt::format(" -d {}\n", quoted(with_options(command.fields, field.help()), "\\'"));
      if (field.is_positional() && !allowed.empty())
        out += fmt::format("{} -f -a {}\n", when, quoted(words(allowed), "\\'"));
    });
  }
  return out;
}

}  // namespace tril::cli
