#include "cli/app/usage.h"

#include <fmt/format.h>

#include "cli/options/option_names.h"

namespace tril::cli {
namespace {

// What follows a field's help: its choices, its limits, and whether it is required.
std::vector<std::string> notes_of(const Field& field) {
  std::vector<std::string> notes;
  if (const auto allowed = field.allowed(); !allowed.empty())
    notes.push_back(fmt::format("{}", fmt::join(allowed, ", ")));
  if (const std::string limits = field.range(); !limits.empty()) notes.push_back(limits);
  if (field.is_required()) notes.emplace_back("required");
  return notes;
}

std::string with_notes(const std::string& help, const std::vector<std::string>& notes) {
  return notes.empty() ? help : fmt::format("{} ({})", help, fmt::join(notes, "; "));
}

// The name of a value in usage and help: "FILE", "FILE...".
std::string value_text(const Field& field) {
  const std::string& shown = field.shown_value();
  const bool speaks_for_itself = shown.find(' ') != std::string::npos || shown.ends_with("...");
  return field.is_list() && !speaks_for_itself ? shown + "..." : shown;
}

}  // namespace

std::string usage_of(const Command& command) {
  std::string line = "tril " + command.name;
  for (const Field& field : command.fields) {
    if (field.is_positional())
      line += field.is_required() ? " " + value_text(field) : fmt::format(" [{}]", value_text(field));
    else if (field.is_required())
      line += fmt::format(" --{} {}", field.name(), value_text(field));
  }
  return line + " [options]";
}

std::string flag_text(const Field& field) {
  std::string text = field.short_name() ? fmt::format("-{}, ", field.short_name()) : "";
  if (field.is_flag()) return text + (field.default_text() == "true" ? "--[no-]" : "--") + field.name();
  if (field.is_positional())
    return fmt::format("{}{}, --{} {}", text, value_text(field), field.name(), value_text(field));
  return fmt::format("{}--{} {}", text, field.name(), value_text(field));
}

std::string meaning_of(const Field& field, const Fields& fields) {
  return with_notes(with_options(fields, field.help()), notes_of(field));
}

std::string described(const Field& field, const Fields& fields) {
  std::vector<std::string> notes = notes_of(field);
  if (field.is_flag() ? field.default_text() == "true" : !field.default_text().empty())
    notes.push_back("default " + (field.is_flag() ? "on" : field.default_text()));
  return with_notes(with_options(fields, field.help()), notes);
}

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

}  // namespace tril::cli
