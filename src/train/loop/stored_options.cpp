#include "train/loop/stored_options.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.h"

namespace tril::train {
namespace {

std::vector<std::string> texts_of(const nlohmann::json& value) {
  const auto text = [](const nlohmann::json& v) { return v.is_string() ? v.get<std::string>() : v.dump(); };
  if (value.is_null()) return {};
  if (!value.is_array()) return {text(value)};
  std::vector<std::string> texts;
  for (const nlohmann::json& v : value) texts.push_back(text(v));
  return texts;
}

}  // namespace

void fields_from_json(Fields& fields, const std::string& json_text, const std::string& where) {
  const nlohmann::json json = nlohmann::json::parse(json_text, nullptr, false);
  check(json.is_object(), where, "expected the options of a run as a JSON object");
  for (const auto& [key, value] : json.items())
    if (fields.find(key)) fields.set_from_texts(key, texts_of(value), where);
}

std::string forbidden_changes(const Fields& was, const Fields& now) {
  std::vector<FieldDifference> list = differences(was, now);
  std::erase_if(list, [](const FieldDifference& d) {
    // The directory may have moved. Files are identified by name, and the corpus by its fingerprint.
    return d.free_to_change || d.name == "model";
  });
  return describe(list);
}

}  // namespace tril::train
