#include "serve/api/warnings.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/printable.h"
#include "serve/http/http_error.h"

namespace tril::serve {
namespace {

constexpr std::size_t most_told = 16;
constexpr std::size_t longest_told_name = 64;  // bytes; enough for any misspelling

}  // namespace

const std::vector<std::pair<std::string, UnknownFields>>& unknown_fields_names() {
  static const std::vector<std::pair<std::string, UnknownFields>> names{
      {"refuse", UnknownFields::refuse}, {"warn", UnknownFields::warn}, {"ignore", UnknownFields::ignore}};
  return names;
}

void Warnings::pass_over(const std::string& parameter, const std::string& message) {
  if (on_unknown_ == UnknownFields::ignore) return;
  if (on_unknown_ == UnknownFields::refuse) throw HttpError(400, message).of_field(parameter);
  tell(message + "; it was ignored");
}

void Warnings::tell(const std::string& message) {
  if (std::find(messages_.begin(), messages_.end(), message) != messages_.end()) return;
  if (messages_.size() < most_told)
    messages_.push_back(message);
  else
    ++left_out_;
}

void Warnings::add(const Warnings& others) {
  for (const std::string& message : others.messages_) tell(message);
  left_out_ += others.left_out_;
}

void Warnings::check_keys(const Json& object, const std::vector<std::string>& known, const std::string& within) {
  if (on_unknown_ == UnknownFields::ignore) return;
  for (const auto& [key, value] : object.items()) {
    if (value.is_null() || key == "api_key" || std::find(known.begin(), known.end(), key) != known.end()) continue;
    if (messages_.size() >= most_told) {
      ++left_out_;
      continue;
    }
    const std::string meant = key.size() > longest_told_name ? "" : nearest(key, known);
    if (key.empty()) {
      pass_over("", within + "\"\": there is no field with an empty name");
      continue;
    }
    const std::string name = within + printable(key, longest_told_name);
    pass_over(name, fmt::format("{}: there is no such field{}", name,
                                meant.empty() ? "" : fmt::format(" (did you mean {}?)", within + meant)));
  }
}

Json Warnings::list() const {
  Json all = messages_;
  if (left_out_ > 0) all.push_back(fmt::format("and {} more", left_out_));
  return all;
}

void Warnings::put_into(Json& answer) const {
  if (!messages_.empty() && answer.is_object()) answer["warnings"] = list();
}

std::string Warnings::header() const {
  return messages_.empty() ? "" : list().dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace tril::serve
