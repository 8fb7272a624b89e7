#include "report/report_page.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "format/json_text.h"
#include "format/page_parts.h"
#include "report/page.h"
#include "train/loop/options.h"
#include "train/loop/run_line.h"
#include "train/loop/stored_options.h"

namespace tril::train {
namespace {

using Json = nlohmann::ordered_json;

// A parsed line of a run; null if malformed.
Json parsed(const std::string& line) {
  Json j = run_line(line);
  return j.contains("type") ? j : Json();
}

std::vector<Json> parsed(const std::vector<std::string>& lines) {
  std::vector<Json> list;
  for (const std::string& line : lines)
    if (Json j = parsed(line); !j.is_null()) list.push_back(std::move(j));
  return list;
}

std::vector<Json> of_type(const std::vector<Json>& lines, const char* type) {
  std::vector<Json> list;
  for (const Json& line : lines)
    if (line["type"] == type) list.push_back(line);
  return list;
}

// Totals since the run began: when lines are merged, the last total counts, and the mean of everything else.
bool is_a_count(const std::string& key) {
  return key == "update" || key == "epoch" || key == "seconds" || key == "target_tokens" || key == "skipped";
}

// The numbers of a line; those of a nested object are named by both keys: {"norms": {"encoder": 1}} has "norms.encoder".
std::map<std::string, double> numbers_of(const Json& line) {
  std::map<std::string, double> numbers;
  for (const auto& [key, value] : line.items()) {
    if (value.is_number()) numbers[key] = value.get<double>();
    if (value.is_boolean()) numbers[key] = value.get<bool>() ? 1 : 0;
    if (!value.is_object()) continue;
    for (const auto& [inner, v] : value.items())
      if (v.is_number()) numbers[key + "." + inner] = v.get<double>();
  }
  return numbers;
}

// A curve shows no more than six digits; counts keep all of theirs.
Json shown(double x) {
  if (!std::isfinite(x)) return {};
  if (x == std::floor(x) && std::abs(x) < 9e15) return static_cast<std::int64_t>(x);
  return Json::parse(fmt::format("{:.6g}", x));
}

// {"update": [...], "loss": [...], ...}: a column for each key; null where a line lacks it. If there are more lines
// than a curve can show, neighbours are merged.
Json columns(const std::vector<Json>& lines, std::size_t most) {
  std::vector<std::map<std::string, double>> rows;
  std::set<std::string> keys;
  for (const Json& line : lines) {
    rows.push_back(numbers_of(line));
    for (const auto& [key, value] : rows.back()) keys.insert(key);
  }
  const std::size_t together = std::max<std::size_t>(1, (rows.size() + most - 1) / most);
  Json table = Json::object();
  for (const std::string& key : keys) {
    Json column = Json::array();
    for (std::size_t begin = 0; begin < rows.size(); begin += together) {
      double sum = 0, last = 0;
      int n = 0;
      for (std::size_t i = begin; i < std::min(rows.size(), begin + together); ++i)
        if (const auto found = rows[i].find(key); found != rows[i].end()) sum += last = found->second, ++n;
      column.push_back(n == 0 ? Json() : shown(is_a_count(key) ? last : sum / n));
    }
    table[key] = std::move(column);
  }
  return table;
}

// At most n evenly spaced indices below `size`, including the first and the last.
std::set<std::size_t> spread(std::size_t size, std::size_t n) {
  std::set<std::size_t> kept;
  if (n == 0 || size == 0) return kept;
  if (n == 1) return {size - 1};
  for (std::size_t i = 0; i < n; ++i) kept.insert(i * (size - 1) / (n - 1));
  return kept;
}

std::size_t attention_bytes(const Json& line) {
  std::size_t bytes = 0;
  for (const Json& s : line.value("samples", Json::array()))
    if (s.contains("attention")) bytes += s["attention"].dump().size();
  return bytes;
}

// Parses only the lines that are shown: maps make them long, and a running training makes the page anew at each validation.
Json samples_of(const std::vector<std::string>& lines, const PageLimits& limits) {
  Json list = Json::array();
  for (std::size_t i : spread(lines.size(), limits.sample_lines))
    if (Json line = parsed(lines[i]); !line.is_null() && line["type"] == "samples") list.push_back(std::move(line));
  std::vector<std::size_t> with;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < list.size(); ++i)
    if (const std::size_t n = attention_bytes(list[i]); n > 0) with.push_back(i), bytes += n;
  if (bytes <= limits.attention_bytes) return list;
  const std::set<std::size_t> kept =
      spread(with.size(), std::max<std::size_t>(1, with.size() * limits.attention_bytes / bytes));
  for (std::size_t k = 0; k < with.size(); ++k)
    if (!kept.contains(k))
      for (Json& s : list[with[k]]["samples"]) s.erase("attention");
  return list;
}

std::string base_name(const std::string& directory) {
  const auto path = std::filesystem::path(directory).lexically_normal();
  const std::string name = path.filename().string();
  return name.empty() ? path.parent_path().filename().string() : name;
}

// The directory's name; if two runs share it, the whole path.
std::vector<std::string> names_of(std::span<const RunLines> runs) {
  std::vector<std::string> names;
  for (const RunLines& run : runs) names.push_back(base_name(run.directory));
  std::vector<std::string> unique = names;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i].empty() || names[i] == "." || std::count(names.begin(), names.end(), names[i]) > 1)
      unique[i] = runs[i].directory;
  return unique;
}

Json latest_run_line(const std::vector<Json>& lines) {
  const std::vector<Json> list = of_type(lines, "run");
  return list.empty() ? Json::object() : list.back();
}

Json run_of(const std::string& name, const RunLines& run, const PageLimits& limits) {
  const std::vector<Json> figures = parsed(run.figures);
  Json resumed = Json::array();
  for (const Json& line : of_type(figures, "run")) resumed.push_back(line.value("update", Json(0)));
  const Json about = latest_run_line(figures);
  return {{"name", name},
          {"options", about.value("options", Json::object())},
          {"parameters", about.value("parameters", Json())},
          {"threads", about.value("threads", Json())},
          {"version", about.value("version", Json())},
          {"begun", resumed},
          {"train", columns(of_type(figures, "train"), limits.points)},
          {"valid", columns(of_type(figures, "valid"), limits.points)},
          {"samples", samples_of(run.samples, limits)}};
}

// The options that differ between runs, with each run's value. An option that a run of an older version lacks has its
// default.
Json differing_options(const std::vector<Json>& options) {
  std::deque<TrainOptions> values(options.size());  // fields point into them
  std::vector<Fields> fields;
  for (std::size_t i = 0; i < options.size(); ++i) {
    fields.push_back(fields_of(values[i]));
    try {
      fields_from_json(fields.back(), options[i].is_object() ? options[i].dump() : "{}", "options");
    } catch (const Error&) {
      fields.back() = fields_of(values[i] = {});  // written by a newer version with unknown values; the page shows them
    }
  }
  std::set<std::string> differing;
  for (const Fields& f : fields)
    for (const FieldDifference& d : differences(fields[0], f)) differing.insert(d.name);
  differing.erase("model");  // shown by the runs' names
  differing.erase("overwrite");
  Json table = Json::array();
  for (const Field& field : fields[0]) {
    if (!differing.contains(field.name())) continue;
    Json row = Json::array();
    for (const Fields& f : fields) row.push_back(f.find(field.name())->text());
    table.push_back({{"name", field.name()}, {"help", field.help()}, {"values", row}});
  }
  return table;
}

}  // namespace

RunLines read_run(const std::string& directory) {
  const std::string figures = directory + "/train.jsonl", samples = directory + "/samples.jsonl";
  if (!std::filesystem::exists(figures))
    fail(directory, "holds no train.jsonl, so it is not a run of tril train",
         "pass the directory that a run of `tril train` writes");
  RunLines run{directory, read_run_lines(figures), {}};
  const auto is_none = [](const std::string& line) { return parsed(line).is_null(); };
  const bool just_begun = run.figures.size() == 1 && run.figures[0].starts_with("{\"type\":");  // still being written
  if (!run.figures.empty() && !just_begun && std::ranges::all_of(run.figures, is_none))
    fail(figures, fmt::format("none of its {} lines belongs to a run", run.figures.size()),
         "pass the directory that a run of `tril train` writes");
  if (std::filesystem::exists(samples)) run.samples = read_run_lines(samples);
  return run;
}

std::string report_data(std::span<const RunLines> runs, const PageLimits& limits) {
  const std::vector<std::string> names = names_of(runs);
  Json data{{"runs", Json::array()}, {"differing", Json::array()}};
  std::vector<Json> options;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    data["runs"].push_back(run_of(names[i], runs[i], limits));
    options.push_back(data["runs"].back()["options"]);
  }
  if (runs.size() > 1) data["differing"] = differing_options(options);
  return json_text(data);
}

std::string report_page(std::span<const RunLines> runs) {
  return assembled_page(
      "page.html", {"page.css"},
      {"chinese.js", "text.js", "chart.js", "tables.js", "samples.js", "maps.js", "attention.js", "page.js"},
      report_data(runs));
}

// The policy in the page's head allows no connection: the server's page may fetch from its server alone.
std::string live_page(const std::string& directory) {
  const RunLines none{directory, {}, {}};
  std::string page = assembled_page(
      "page.html", {"page.css"},
      {"chinese.js", "text.js", "chart.js", "tables.js", "samples.js", "maps.js", "attention.js", "page.js", "live.js"},
      report_data({&none, 1}));
  put_part(page, "img-src data:", "img-src data:; connect-src 'self'");
  return page;
}

}  // namespace tril::train
