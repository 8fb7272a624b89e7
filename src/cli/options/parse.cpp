#include "cli/options/parse.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace tril::cli {
namespace {

std::string dashed(const Field& field) {
  return "--" + field.name();
}

CLI::Option* add_option(CLI::App& parser, const Field& field) {
  std::string names = dashed(field);
  if (field.short_name()) names += std::string(",-") + field.short_name();
  CLI::Option* option = nullptr;
  if (field.is_flag()) {
    option = parser.add_flag(names + ",!--no-" + field.name());
  } else {
    if (field.is_positional()) names += "," + field.name();
    option = parser.add_option(names);
    if (field.is_list())
      option->allow_extra_args()->expected(1, field.exact_values() ? static_cast<int>(field.exact_values()) : -1);
  }
  // A repeated option reaches Field::set as two values, whose error is in our words.
  return option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

// CLI11 splits a list's "[a]" as if it were "a"; after this byte brackets are plain text.
constexpr char shield = '\x01';

// The arguments in reverse, as CLI11 expects them, with an empty value for `--input=` (CLI11 would take the next
// argument) and brackets shielded.
std::vector<std::string> prepared(const std::vector<std::string>& args) {
  std::vector<std::string> reversed;
  for (auto arg = args.rbegin(); arg != args.rend(); ++arg) {
    const std::size_t equals = arg->starts_with("--") ? arg->find('=') : std::string::npos;
    std::string value = equals == std::string::npos ? *arg : arg->substr(equals + 1);
    if (value.starts_with('[')) value.insert(0, 1, shield);
    if (equals == std::string::npos || !value.empty())
      reversed.push_back(equals == std::string::npos ? value : arg->substr(0, equals + 1) + value);
    else
      reversed.insert(reversed.end(), {"", arg->substr(0, equals)});
  }
  return reversed;
}

std::vector<std::string> unshielded(std::vector<std::string> texts) {
  for (std::string& text : texts)
    if (text.starts_with(shield)) text.erase(0, 1);
  return texts;
}

const Field* named_by(const std::string& arg, const std::vector<const Fields*>& fields) {
  const std::string name = arg.substr(0, arg.find('='));
  for (const Fields* list : fields)
    for (const Field& field : *list)
      if (name == dashed(field) || (field.is_flag() && name == "--no-" + field.name()) ||
          (field.short_name() && arg == std::string("-") + field.short_name()))
        return &field;
  return nullptr;
}

// In "--input --json" a value is missing; the next option is not its value. In "--json=" the value is empty, and CLI11
// would take it for an argument of its own.
void check_values(const std::vector<std::string>& args, const std::vector<const Fields*>& fields) {
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (args[i] == "--") return;
    const Field* const option = named_by(args[i], fields);
    if (option && option->is_flag() && args[i].ends_with('='))
      fail_usage(args[i].substr(0, args[i].size() - 1), "expected true or false after =, got nothing",
                 "the option alone means true");
    if (!option || option->is_flag() || args[i].find('=') != std::string::npos) continue;
    if (i + 1 == args.size() || !named_by(args[i + 1], fields)) continue;
    fail_usage(dashed(*option),
               fmt::format("needs a value ({}), but {} is an option", option->shown_value(), args[i + 1]),
               fmt::format("write {}={} if you mean it", dashed(*option), args[i + 1]));
  }
}

// Explains an argument that no option took by the most probable mistake.
[[noreturn]] void fail_on_extra(const std::vector<std::string>& extras, const std::vector<const Fields*>& fields) {
  const auto dash = std::find_if(extras.begin(), extras.end(), [](const std::string& e) { return e.starts_with("-"); });
  if (dash == extras.end()) fail_usage("\"" + extras.front() + "\"", "this argument does not belong to an option");

  std::vector<std::string> names;
  for (const Fields* list : fields)
    for (const Field& field : *list) {
      names.push_back(dashed(field));
      if (field.is_flag()) names.push_back("--no-" + field.name());
    }
  const std::string option = dash->substr(0, dash->find('='));
  const std::string near = did_you_mean(option, names);
  fail_usage("", option + " is not an option", near.empty() ? "--help lists the options" : near);
}

}  // namespace

std::vector<GivenValue> parse_arguments(const std::vector<const Fields*>& fields,
                                        const std::vector<std::string>& args) {
  check_values(args, fields);
  CLI::App parser;
  parser.set_help_flag("");
  parser.allow_extras();
  std::vector<std::pair<const Field*, CLI::Option*>> options;
  for (const Fields* list : fields)
    for (const Field& field : *list) options.emplace_back(&field, add_option(parser, field));

  try {
    parser.parse(prepared(args));
  } catch (const CLI::ParseError& problem) {
    // CLI11's text begins with the option: "--size: 1 required TEXT".
    const std::string text = problem.what();
    for (const auto& [field, option] : options)
      if (text.starts_with(dashed(*field) + ":") || text.starts_with(dashed(*field) + " "))
        fail_usage(dashed(*field),
                   field->is_flag() ? "takes no value but true or false" : "needs a value, " + field->shown_value());
    fail_usage("", text);
  }
  if (const auto extras = unshielded(parser.remaining()); !extras.empty()) fail_on_extra(extras, fields);

  std::vector<GivenValue> given;
  for (const auto& [field, option] : options) {
    if (option->count() == 0) continue;
    given.push_back({field->name(), unshielded(option->results()), dashed(*field)});
    // "--regex $UNSET" is a mistake; options with the placeholder TEXT may be empty.
    const std::vector<std::string>& texts = given.back().texts;
    const bool may_be_empty =
        !field->names_files() && (field->kind() != FieldKind::text || field->shown_value() == "TEXT");
    if (!may_be_empty && std::find(texts.begin(), texts.end(), "") != texts.end())
      fail_usage(dashed(*field), fmt::format("its value is empty, expected {}", field->shown_value()),
                 "leave the option out if you do not need it");
  }
  return given;
}

}  // namespace tril::cli
