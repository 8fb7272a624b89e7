#include "tokenizer/files/chat_template_files.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "tokenizer/files/tokenizer_config.h"

namespace tril {
namespace {

namespace fs = std::filesystem;

constexpr const char* default_file = "chat_template.jinja";
constexpr const char* named_files = "chat_templates";  // a directory

// The templates of chat_template.jinja and chat_templates/.
ChatTemplateFiles in_jinja_files(const std::string& directory) {
  ChatTemplateFiles found;
  const auto take = [&](const std::string& name, const std::string& file) {
    if (auto text = read_tokenizer_file(directory, file)) {
      found.templates.emplace_back(name, text->bytes);
      found.files.push_back(std::move(*text));
    }
  };
  take("default", default_file);
  for (const std::string& file : chat_template_files(directory)) {
    const std::string name = fs::path(file).stem().string();
    if (name == "default" && !found.templates.empty())
      fail((fs::path(directory) / file).string(), fmt::format("there is a {} too", default_file), "remove one of them");
    take(name, file);
  }
  return found;
}

// Templates of processor_config.json, as the files that they are written to.
std::vector<TokenizerFile> as_files(const ChatTemplates& templates, const std::string& where) {
  std::vector<TokenizerFile> files;
  for (const auto& [name, text] : templates) {
    if (name.empty() || name.find('/') != name.npos || name.find('\0') != name.npos)
      fail(where + ": chat_template", fmt::format("'{}' is not the name of a file", printable(name, 40)));
    files.push_back({name == "default" ? std::string(default_file) : chat_template_file(name), text});
  }
  return files;
}

}  // namespace

ChatTemplates chat_templates_in(std::string_view text, const std::string& where) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) fail(where, "is not a JSON object");
  const auto found = json.find("chat_template");
  if (found == json.end()) return {};
  if (found->is_string()) return {{"default", found->get<std::string>()}};
  ChatTemplates templates;
  if (found->is_object())
    for (const auto& [name, one] : found->items())
      if (one.is_string()) templates.emplace_back(name, one.get<std::string>());
  if (found->is_array())
    for (const nlohmann::json& one : *found)
      if (one.is_object() && one.contains("name") && one["name"].is_string() && one.contains("template") &&
          one["template"].is_string())
        templates.emplace_back(one["name"], one["template"]);
  return templates;
}

std::string chat_template_file(const std::string& name) {
  return fmt::format("{}/{}.jinja", named_files, name);
}

std::vector<std::string> chat_template_files(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (fs::directory_iterator at(fs::path(directory) / named_files, ignored);
       !ignored && at != fs::directory_iterator(); at.increment(ignored))
    if (at->path().extension() == ".jinja") names.push_back(chat_template_file(at->path().stem().string()));
  std::sort(names.begin(), names.end());
  return names;
}

ChatTemplateFiles read_chat_templates(const std::string& directory, ChatTemplates of_config) {
  if (ChatTemplateFiles found = in_jinja_files(directory); !found.templates.empty()) return found;
  if (!of_config.empty()) return {.templates = std::move(of_config), .files = {}};
  for (const char* name : {"processor_config.json", "chat_template.json"}) {
    auto file = read_tokenizer_file(directory, name);
    if (!file) continue;
    const std::string where = (fs::path(directory) / name).string();
    ChatTemplateFiles found{.templates = chat_templates_in(file->bytes, where), .files = {}};
    if (found.templates.empty()) continue;
    if (file->name == "chat_template.json")
      found.files.push_back(std::move(*file));
    else
      found.files = as_files(found.templates, where);
    return found;
  }
  return {};
}

}  // namespace tril
