#include "train/report.h"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "text/reader.h"

namespace tril::train {
namespace {

using Json = nlohmann::ordered_json;

// JSON knows no NaN: it is null.
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

std::string log_path(const std::string& directory) {
  return directory + "/train.jsonl";
}

}  // namespace

std::string json_line(const TrainingReport& r) {
  Json j = head("train", r.position);
  j["loss"] = number(r.loss);
  j["learning_rate"] = r.rate;
  j["gradient_norm"] = number(r.gradient_norm);
  j["tokens_per_second"] = std::round(r.tokens_per_second);
  j["skipped"] = r.skipped;
  if (r.noise_scale) j["gradient_noise_scale"] = std::round(*r.noise_scale);
  for (const GroupNorm& g : r.group_norms) j["gradient_norms"][g.group] = number(g.norm);
  return j.dump();
}

std::string json_line(const ValidationReport& r) {
  Json j = head("valid", r.position);
  j["cross_entropy"] = number(r.scores.cross_entropy);
  j["perplexity"] = number(r.scores.perplexity);
  if (r.scores.bleu) j["bleu"] = *r.scores.bleu;
  if (r.scores.chrf) j["chrf"] = *r.scores.chrf;
  j["best"] = r.best;
  return j.dump();
}

RunLog::RunLog(std::string directory, std::string options)
    : directory_(std::move(directory)), options_(std::move(options)) {}

void RunLog::keep_until(std::int64_t update, std::int64_t validated) {
  const std::string path = log_path(directory_);
  lines_.clear();
  std::string text;
  if (std::filesystem::exists(path)) {
    for (std::string& line : read_lines(path, {.skip_invalid = true})) {
      const Json j = Json::parse(line, nullptr, false);  // the last line may be cut where the process was killed
      if (!j.is_object() || !j.contains("update") || !j["update"].is_number_integer()) continue;
      const bool validation = j.value("type", "") == "valid";
      if (j["update"].get<std::int64_t>() > (validation ? validated : update)) continue;
      text += line + "\n";
      lines_.push_back(std::move(line));
    }
  }
  write_file_atomic(path, text);
}

void RunLog::add(const std::string& line) {
  const std::string path = log_path(directory_), text = line + "\n";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "ab"), std::fclose);
  if (!file || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() || std::fflush(file.get()) != 0)
    fail(path, fmt::format("cannot be written ({})", std::strerror(errno)), "is there room on the disk?");
  lines_.push_back(line);
}

void RunLog::write_html() const {
  std::string title = std::filesystem::path(directory_).lexically_normal().filename().string();
  if (title.empty()) title = std::filesystem::path(directory_).lexically_normal().parent_path().filename().string();
  write_file_atomic(directory_ + "/report.html", report_html(title, lines_, options_));
}

}  // namespace tril::train
