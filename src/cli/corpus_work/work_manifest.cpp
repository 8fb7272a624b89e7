#include "cli/corpus_work/work_manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "format/json_text.h"

namespace tril::cli {
namespace {

using Json = nlohmann::ordered_json;
using Values = std::vector<std::pair<std::string, std::string>>;

constexpr const char* format_name = "tril translate, blocks, 1";
constexpr std::uint64_t largest_manifest = std::uint64_t{1} << 30;

Json json_of(const TextBlock& b) {
  return {{"line", b.first + 1}, {"lines", b.lines}, {"offset", b.offset}, {"hash", fmt::format("{:016x}", b.hash)}};
}

TextBlock block_of(const Json& j) {
  TextBlock b{.first = j.at("line").get<std::int64_t>() - 1, .lines = j.at("lines"), .offset = j.at("offset")};
  const std::string& hash = j.at("hash").get_ref<const std::string&>();
  std::from_chars(hash.data(), hash.data() + hash.size(), b.hash, 16);
  return b;
}

// Names are the program's own; values may be anything, including a file name that is not UTF-8.
Json json_of(const Values& values) {
  Json j = Json::object();
  for (const auto& [name, value] : values) j[name] = value;
  return j;
}

Values values_of(const Json& j) {
  Values values;
  for (const auto& [name, value] : j.items()) values.emplace_back(name, value.get<std::string>());
  return values;
}

std::string differences(const Values& was, const Values& now) {
  std::string list;
  const auto say = [&](const std::string& name, const std::string& a, const std::string& b) {
    if (a != b)
      list += fmt::format("{}{} was {}, now {}", list.empty() ? "" : "; ", name, a.empty() ? "unset" : a,
                          b.empty() ? "unset" : b);
  };
  const auto place_in = [](const Values& values, const std::string& name) {
    return std::find_if(values.begin(), values.end(), [&](const auto& v) { return v.first == name; });
  };
  for (const auto& [name, value] : was) {
    const auto found = place_in(now, name);
    say(name, value, found == now.end() ? "" : found->second);
  }
  for (const auto& [name, value] : now)
    if (place_in(was, name) == was.end()) say(name, "", value);
  return list;
}

}  // namespace

std::string block_file(std::size_t block) {
  return fmt::format("blocks/{:06}", block);
}

std::string to_json(const WorkManifest& m) {
  const Json head{{"format", format_name},
                  {"input", m.input},
                  {"output", m.output},
                  {"lines", m.lines()},
                  {"options", json_of(m.options)},
                  {"contents", json_of(m.contents)}};
  std::string text = json_text(head, 1);
  text.resize(text.size() - 2);  // removes the last line, "}"
  text += ",\n \"blocks\": [";
  for (std::size_t i = 0; i < m.blocks.size(); ++i) {  // one line each
    Json j{{"file", block_file(i)}};
    j.update(json_of(m.blocks[i]));
    if (!m.prefixes.empty()) j["prefix"] = json_of(m.prefixes[i]);
    text += (i == 0 ? "\n  " : ",\n  ") + json_text(j);
  }
  return text + (m.blocks.empty() ? "]\n}\n" : "\n ]\n}\n");
}

WorkManifest read_work_manifest(const std::string& path) {
  const std::string text = read_text(path, largest_manifest);
  try {
    const Json j = Json::parse(text);
    if (j.at("format") != format_name)
      fail(path, "was written by another version of tril",
           "continue with that version, or start over with another --work-dir");
    WorkManifest m{.input = j.at("input"),
                   .output = j.at("output"),
                   .options = values_of(j.at("options")),
                   .contents = values_of(j.at("contents"))};
    for (const Json& block : j.at("blocks")) {
      m.blocks.push_back(block_of(block));
      if (block.contains("prefix")) m.prefixes.push_back(block_of(block.at("prefix")));
    }
    return m;
  } catch (const Json::exception& problem) {
    // The library's messages begin with "[json.exception.parse_error.101] ".
    const std::string_view message = problem.what();
    fail(path,
         fmt::format("is not a manifest of `tril translate --work-dir`: {}",
                     message.substr(std::min(message.find("] ") + 2, message.size()))),
         "start over with another --work-dir");
  }
}

void check_same_work(const WorkManifest& was, const WorkManifest& now, const std::string& directory) {
  if (const std::string list = differences(was.options, now.options); !list.empty())
    fail_usage("--work-dir", fmt::format("the work in {} was started with different options: {}", directory, list),
               "pass the same, or another --work-dir");
  if (const std::string list = differences(was.contents, now.contents); !list.empty())
    fail("--work-dir", fmt::format("the work in {} was started with different files: {}", directory, list),
         "pass the same, or another --work-dir");
  if (!was.output.empty() && !now.output.empty() && was.output != now.output)
    fail_usage("--output", fmt::format("the work in {} was started for {}", directory, was.output),
               "pass the same, or another --work-dir");
}

}  // namespace tril::cli
