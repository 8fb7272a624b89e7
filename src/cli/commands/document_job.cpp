#include "cli/commands/document_job.h"

#include <spdlog/spdlog.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>

#include "base/content_hash.h"
#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/progress.h"
#include "cli/io/partial_output.h"
#include "decode/texts/sentence_links.h"
#include "document/formats/formats.h"
#include "format/json_text.h"
#include "language/match.h"
#include "tokenizer/files/language_tag.h"
#include "unicode/one_line.h"

namespace tril::cli {
namespace {

// [source begin, end, target begin, end, weight]
nlohmann::json links_json(const std::vector<document::Link>& links) {
  nlohmann::json list = nlohmann::json::array();
  for (const document::Link& l : links)
    list.push_back({l.source.begin, l.source.end, l.target.begin, l.target.end, l.weight});
  return list;
}

std::vector<document::Link> links_of(const nlohmann::json& list, std::size_t source, std::size_t target) {
  std::vector<document::Link> links;
  for (const nlohmann::json& l : list) {
    const document::Link link{{l.at(0).get<std::size_t>(), l.at(1).get<std::size_t>()},
                              {l.at(2).get<std::size_t>(), l.at(3).get<std::size_t>()},
                              l.at(4).get<float>()};
    if (link.source.begin > link.source.end || link.source.end > source || link.target.begin > link.target.end ||
        link.target.end > target)
      throw std::out_of_range("link");
    links.push_back(link);
  }
  return links;
}

}  // namespace

DocumentJob::DocumentJob(DocumentPlan plan, const SegmentOptions& options)
    : plan_(std::move(plan)),
      bytes_(read_text(plan_.input, most_document_bytes)),
      document_(document::read_document(bytes_, {.where = plan_.input,
                                                 .source_language = plan_.source_language,
                                                 .target_language = plan_.target_language,
                                                 .columns = plan_.columns,
                                                 .separator = plan_.separator})),
      sentences_(*document_, options) {}

std::string DocumentJob::header(const std::string& work) const {
  const std::uint64_t input = content_hash(std::as_bytes(std::span(bytes_.data(), bytes_.size())));
  const std::uint64_t by = content_hash(std::as_bytes(std::span(work.data(), work.size())));
  return json_text(nlohmann::ordered_json{{"input", input}, {"work", by}, {"sentences", sentences_.size()}});
}

// Takes over the sentences of an earlier run, up to the first line that a kill has cut.
void DocumentJob::read_part(const std::string& header) {
  std::ifstream file(part_path());
  std::string line;
  if (!std::getline(file, line) || line != header) return;
  while (done_.size() < sentences_.size() && std::getline(file, line)) {
    const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
    try {
      const std::string text = json.at("text").get<std::string>();
      done_.push_back({text, links_of(json.at("links"), sentences_.text(done_.size()).size(), text.size())});
    } catch (const std::exception&) {
      return;
    }
  }
}

bool DocumentJob::run(const Run& run, const StopSignal& stop) {
  const std::string first_line = header(run.work);
  read_part(first_line);
  if (!done_.empty())
    spdlog::info("{}: continued after sentence {} of {}", plan_.output, format_count(std::ssize(done_)),
                 format_count(static_cast<std::int64_t>(sentences_.size())));
  std::ofstream part(part_path(), std::ios::trunc | std::ios::binary);
  const auto keep = [&](const document::Translated& t) {
    part << json_text(nlohmann::ordered_json{{"text", t.text}, {"links", links_json(t.links)}}) << "\n";
  };
  part << first_line << "\n";
  for (const document::Translated& t : done_) keep(t);
  if (!part.flush()) fail(part_path(), "cannot be written", "pass --output FILE in another directory");
  Progress progress({.label = "sentence",
                     .rate_unit = "sentences",
                     .total = static_cast<std::int64_t>(sentences_.size()),
                     .first = std::ssize(done_),
                     .enabled = run.progress,
                     .seconds = {},
                     .write = {}});
  std::vector<std::string> earlier;
  for (std::size_t s = 0; s < done_.size(); ++s) earlier.push_back(sentences_.text(s));
  run.continue_after(earlier);
  while (done_.size() < sentences_.size() && !stop.came()) {
    const std::size_t first = done_.size(), count = std::min(run.window, sentences_.size() - first);
    std::vector<std::string> texts;
    for (std::size_t s = first; s < first + count; ++s) texts.push_back(sentences_.text(s));
    const std::vector<search::Translation> list = run.translate(texts, static_cast<std::int64_t>(first));
    for (std::size_t s = 0; s < list.size(); ++s) {
      done_.push_back({one_line(list[s].text), {}});
      if (sentences_.has_marks(first + s))
        done_.back().links = search::sentence_links(list[s], texts[s], run.tokenizer);
      keep(done_.back());
    }
    if (!part.flush()) fail(part_path(), "cannot be written", "is the disk full?");
    progress.update(std::ssize(done_));
  }
  progress.finish();
  if (done_.size() < sentences_.size()) {
    spdlog::warn("stopped; sentences in {}: {} of {}; the same command continues from there", part_path(),
                 format_count(std::ssize(done_)), format_count(static_cast<std::int64_t>(sentences_.size())));
    return false;
  }
  write_file_atomic(plan_.output, sentences_.write(plan_.target_language, [&](std::size_t s) { return done_[s]; }));
  part.close();
  std::error_code left;  // the translation is complete, whether or not its .part file can be removed
  std::filesystem::remove(part_path(), left);
  return true;
}

DocumentPlan checked(DocumentPlan plan) {
  if (plan.output == "-" && plan.target_language.empty())
    fail_usage("document", "the name of its translation is not known", "pass --to LANGUAGE or --output FILE");
  document::format_of(plan.input);
  if (plan.output == "-") plan.output = document::translated_path(plan.input, plan.target_language);
  if (same_file(plan.input, plan.output))
    fail_usage("--output", fmt::format("{} is the document to translate", plan.output), "pass another output file");
  check_output(plan.output);
  return plan;
}

std::string target_in_vocabulary(const std::string& to, const Tokenizer& tokenizer, const std::string& stated) {
  if (!tokenizer.languages().empty() || !tagged_languages(tokenizer).empty()) return to;
  if (!stated.empty() && !KnownLanguages({stated}).find(to))
    fail_usage("--to", fmt::format("the model translates into \"{}\", not into \"{}\"", stated, printable(to)),
               "pass another model, or another language");
  return "";
}

}  // namespace tril::cli
