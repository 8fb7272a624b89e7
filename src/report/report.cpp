#include "report/report.h"

#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "base/file.h"
#include "base/version.h"
#include "format/base64.h"
#include "format/json_text.h"
#include "report/page.h"
#include "report/report_page.h"
#include "train/loop/run_line.h"
#include "train/loop/samples.h"

namespace tril::train {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* unfinished = "unfinished";

bool is_unfinished(const std::string& line) {
  // Avoids parsing most lines.
  return line.find(unfinished) != std::string::npos && run_line(line).value("interval", Json()) == unfinished;
}

// JSON has no NaN: it becomes null.
Json number(double x) {
  return std::isfinite(x) ? Json(x) : Json();
}

Json head(const char* type, const Position& at) {
  return {{"type", type},
          {"update", at.updates},
          {"epoch", at.epochs},
          {"seconds", std::round(at.minutes * 60e3) / 1e3},
          {"target_tokens", at.tokens}};
}

// Invalid UTF-8, which a model may write, becomes U+FFFD.
std::string one_line(const Json& j) {
  return json_text(j);
}

Json json_of(const search::AttentionMaps& maps) {
  Json layers = Json::array();
  for (const search::AttentionMaps::Layer& l : maps.layers) {
    layers.push_back({{"name", l.name}, {"heads", l.heads}, {"codes", to_base64(l.codes())}});
    if (!l.masked.empty()) layers.back()["masked"] = to_base64(l.masked_bits());
  }
  return {{"kind", maps.kind == search::AttentionMaps::Kind::cross ? "cross" : "self"},
          {"queries", maps.queries},
          {"keys", maps.keys},
          {"layers", layers}};
}

bool is_of_validation(const Json& line) {
  const auto type = line.find("type");
  return type != line.end() && (*type == "valid" || *type == "samples");
}

// The options in the latest "run" line; null if there is none.
Json latest_options(std::span<const std::string> lines) {
  for (auto line = lines.rbegin(); line != lines.rend(); ++line)
    if (const Json j = run_line(*line); j.is_object() && j.value("type", Json()) == "run")
      return j.value("options", Json());
  return {};
}

// The number of lines up to the one of this type and update; 0 if there is none.
std::size_t lines_until(const std::vector<std::string>& lines, const char* type, std::int64_t update) {
  for (std::size_t n = lines.size(); n > 0; --n) {
    const Json j = run_line(lines[n - 1]);
    if (j.value("type", Json()) == type && j.value("update", Json()) == update) return n;
  }
  return 0;
}

}  // namespace

std::string json_line(const RunRecord& r) {
  return one_line({{"type", "run"},
                   {"update", r.update},
                   {"version", version},
                   {"parameters", r.parameters},
                   {"threads", r.threads},
                   {"ranks", r.ranks},
                   {"options", Json::parse(r.options, nullptr, false)}});
}

std::string json_line(const TrainingReport& r) {
  Json j = head("train", r.position);
  j["loss"] = number(r.loss);
  j["learning_rate"] = r.rate;
  j["gradient_norm"] = number(r.gradient_norm);
  j["tokens_per_second"] = std::round(r.tokens_per_second);
  j["skipped"] = r.skipped;
  if (r.noise_scale) j["gradient_noise_scale"] = std::round(*r.noise_scale);
  if (r.unfinished)
    j["interval"] = unfinished;
  else if (r.since)
    j["interval"] = fmt::format("since update {}", *r.since);
  for (const GroupNorm& g : r.group_norms) j["gradient_norms"][g.group] = number(g.norm);
  return one_line(j);
}

std::string json_line(const RollbackReport& r) {
  Json j = head("rollback", r.position);
  j["from"] = r.from;
  j["loss"] = number(r.loss);
  j["gradient_norm"] = number(r.gradient_norm);
  j["rollbacks"] = r.rollbacks;
  return j.dump();
}

std::string json_line(const ValidationReport& r) {
  Json j = head("valid", r.position);
  j["cross_entropy"] = number(r.scores.cross_entropy);
  j["perplexity"] = number(r.scores.perplexity);
  if (r.scores.bleu) j["bleu"] = *r.scores.bleu;
  if (r.scores.chrf) j["chrf"] = *r.scores.chrf;
  j["best"] = r.best;
  return one_line(j);
}

std::string samples_line(const ValidationReport& r, bool attention) {
  Json j = head("samples", r.position);
  j["kind"] = r.samples.kind;
  j["samples"] = Json::array();
  for (const Sample& s : r.samples.list) {
    Json one{{"line", s.text.line},
             {"source", s.text.source},
             {"reference", s.text.reference},
             {"hypothesis", s.hypothesis}};
    if (attention && s.attention && !s.attention->layers.empty()) one["attention"] = json_of(*s.attention);
    j["samples"].push_back(std::move(one));
  }
  return one_line(j);
}

bool keeps_attention(std::int64_t n) {
  const int doublings = std::max(0, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n))) - 5);
  return n % (std::int64_t{1} << doublings) == 0;
}

void JsonLines::keep_until(std::int64_t update, std::int64_t validated) {
  lines_.clear();
  std::string text;
  if (std::filesystem::exists(path_)) {
    for (std::string& line : read_run_lines(path_)) {
      const Json j = run_line(line);
      if (!j.contains("update") || !j["update"].is_number_integer()) continue;
      if (j["update"].get<std::int64_t>() > (is_of_validation(j) ? validated : update)) continue;
      text += line + "\n";
      lines_.push_back(std::move(line));
    }
  }
  write_file_atomic(path_, text);
}

void JsonLines::add(const std::string& line) {
  const std::string text = line + "\n";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path_.c_str(), "ab"), std::fclose);
  if (!file || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() || std::fflush(file.get()) != 0)
    fail(path_, fmt::format("cannot be written ({})", std::strerror(errno)), "is there room on the disk?");
  lines_.push_back(line);
}

void JsonLines::forget(const std::function<bool(const std::string& line)>& is_so) {
  if (std::erase_if(lines_, is_so) == 0) return;
  std::string text;
  for (const std::string& line : lines_) text += line + "\n";
  write_file_atomic(path_, text);
}

RunLog::RunLog(std::string directory)
    : directory_(std::move(directory)),
      figures_(directory_ + "/train.jsonl"),
      samples_(directory_ + "/samples.jsonl") {}

void RunLog::keep_until(std::int64_t update, std::int64_t validated) {
  may_be_unfinished_ = true;
  figures_.keep_until(update, validated);
  samples_.keep_until(update, validated);
}

std::vector<std::string> RunLog::lost_lines(const TrainingState& state, const TrainOptions& options) const {
  const bool validates = !options.data.valid_sets.empty();
  const std::vector<std::string>& figures = figures_.lines();
  std::vector<std::string> lost;
  const auto lacks = [&](const char* file, const std::string& what) {
    lost.push_back(fmt::format("{}/{}: {}; the report lacks that part", directory_, file, what));
  };
  // It is not known when a skipped update was reported.
  const bool known = state.skipped == 0 && !state.sums.since;
  const std::int64_t reported = known ? state.position.updates - state.sums.updates : 0;
  const std::size_t validated = validates ? lines_until(figures, "valid", state.shown_update) : 0;
  if (figures.empty())
    lacks("train.jsonl", "is empty or missing");
  else if (run_line(figures.front()).value("type", Json()) != "run")
    lacks("train.jsonl", "its first lines are missing");
  else if (reported > 0 && lines_until(figures, "train", reported) == 0)
    lacks("train.jsonl", fmt::format("its line of update {} is missing", reported));
  else if (validates && state.shown_update >= 0 && validated == 0)
    lacks("train.jsonl", fmt::format("its validation of update {} is missing", state.shown_update));
  if (validated == 0) return lost;
  const Json then = latest_options(std::span(figures).first(validated));
  const bool samples = then.is_object() && then.value("valid-samples", Json(0)) != 0;
  if (samples && lines_until(samples_.lines(), "samples", state.shown_update) == 0 && !read_samples(options).empty())
    lacks("samples.jsonl", fmt::format("its samples of update {} are missing", state.shown_update));
  return lost;
}

void RunLog::begin(const RunRecord& r) {
  const std::string line = json_line(r);
  if (Json::parse(line)["options"] != latest_options(figures_.lines())) opening_ = line;
}

void RunLog::updated() {
  if (std::exchange(may_be_unfinished_, false)) figures_.forget(is_unfinished);
  open();
}

void RunLog::open() {
  if (const std::string opening = std::exchange(opening_, {}); !opening.empty()) figures_.add(opening);
}

void RunLog::add_figures(const std::string& line) {
  open();
  figures_.add(line);
}

void RunLog::add(const TrainingReport& r) {
  add_figures(json_line(r));
}

void RunLog::add(const ValidationReport& r) {
  add_figures(json_line(r));
  if (r.samples.list.empty()) return;
  samples_.add(samples_line(r, keeps_attention(std::ssize(samples_.lines()) + 1)));
}

void RunLog::add(const RollbackReport& r) {
  keep_until(r.position.updates, r.shown_update);
  add_figures(json_line(r));
}

void RunLog::write_html() const {
  const RunLines run{directory_, figures_.lines(), samples_.lines()};
  write_file_atomic(directory_ + "/report.html", report_page({&run, 1}));
}

}  // namespace tril::train
