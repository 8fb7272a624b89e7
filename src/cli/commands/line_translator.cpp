#include "cli/commands/line_translator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "format/json_text.h"
#include "unicode/one_line.h"
#include "unicode/segments.h"

namespace tril::cli {
namespace {

nlohmann::ordered_json json_of(const LineForm& form, const Tokenizer& tokenizer,
                               const std::vector<search::Translation>& list) {
  nlohmann::ordered_json translations = nlohmann::json::array();
  for (const search::Translation& t : list) {
    nlohmann::ordered_json one{
        {"text", t.text}, {"score", t.score}, {"log_prob", t.log_prob}, {"tokens", t.tokens.size()}};
    if (search::is_cut(t.stop_reason)) one["cut"] = search::name_of(t.stop_reason);
    if (t.at_length) one["cut"] = "length";
    for (const search::RemovedPart& part : t.removed)
      one["removed"].push_back(nlohmann::ordered_json{{"kind", search::name_of(part.kind)}, {"text", part.text}});
    if (t.recalled) one["from"] = "memory";
    if (form.terms) {
      one["terms"] = nlohmann::json::array();
      for (const search::Term& term : t.terms)
        one["terms"].push_back(nlohmann::ordered_json{{"source", term.source}, {"target", term.target}});
      one["unsatisfied"] = nlohmann::json::array();
      for (const search::Term& term : t.unsatisfied)
        one["unsatisfied"].push_back(nlohmann::ordered_json{{"source", term.source}, {"target", term.target}});
    }
    if (!form.alignment.alignment.empty()) {
      one["alignment"] = nlohmann::json::parse(alignment_json(form.alignment, t.attention, t.tokens.size()));
      one["source_pieces"] = pieces_of(t.source, tokenizer, Side::source);
      one["pieces"] = pieces_of(t.tokens, tokenizer, Side::target);
    }
    translations.push_back(std::move(one));
  }
  return translations;
}

// The alignment column after a translation's text.
std::string alignment_of(const LineForm& form, const search::Translation& t) {
  return form.alignment.alignment.empty() ? "" : " ||| " + alignment_text(form.alignment, t.attention, t.tokens.size());
}

// The detected language of a text that is translated by itself.
void tell_source(nlohmann::ordered_json& json, const LineLanguages& languages, const std::string& text) {
  if (!languages.sources) return;
  const LineSources::Source source = languages.sources->of(text);
  json["source_language"] = source.name.empty() ? nlohmann::json() : nlohmann::json(source.name);
  json["confidence"] = std::round(source.confidence);
}

// The sentences of the memory that resemble a text.
void tell_hits(nlohmann::ordered_json& json, const LineForm& form, const std::string& text) {
  if (!form.memory) return;
  json["memory"] = nlohmann::json::array();
  for (const terms::MemoryHit& hit : form.memory->find(text))
    json["memory"].push_back(
        nlohmann::ordered_json{{"source", hit.source}, {"target", hit.target}, {"score", hit.score}});
}

bool is_paragraph(const std::string& text, const search::SplitOptions& split) {
  const std::vector<Segment> segments = segments_of(text, {.language = split.source_language});
  return std::count_if(segments.begin(), segments.end(), [](const Segment& s) { return s.translated; }) >=
         sentences_of_paragraph;
}

}  // namespace

LineTranslator::LineTranslator(LineForm form, const LineLanguages& languages, search::Translator& translator,
                               std::stop_token stop)
    : form_(std::move(form)),
      languages_(languages),
      translator_(translator),
      split_(translator, form_.split),
      stop_(std::move(stop)) {}

std::string LineTranslator::json_line(std::int64_t number, const std::string& source,
                                      const std::vector<search::Translation>& list) const {
  nlohmann::ordered_json line{{"line", number}, {"source", source}};
  tell_source(line, languages_, source);
  tell_hits(line, form_, source);
  line["translations"] = json_of(form_, tokenizer(), list);
  return json_text(line) + "\n";
}

std::string LineTranslator::json_line(std::int64_t number, const std::string& source,
                                      const search::SplitTranslation& t) const {
  nlohmann::ordered_json line{
      {"line", number}, {"source", source}, {"text", t.text}, {"segments", nlohmann::json::array()}};
  for (const auto& part : t.parts) {
    nlohmann::ordered_json segment{{"source", part.source}};
    tell_source(segment, languages_, part.source);
    tell_hits(segment, form_, part.source);
    segment["translations"] = json_of(form_, tokenizer(), part.translations);
    line["segments"].push_back(std::move(segment));
  }
  return json_text(line) + "\n";
}

std::string LineTranslator::translate(const std::vector<std::string>& texts, const std::vector<std::string>& prefixes,
                                      std::int64_t first) {
  for (std::int64_t number = first; const std::string& text : texts)
    languages_.target.check_tag(text, fmt::format("line {}", ++number));
  return form_.split.split == Split::none ? translate_whole(texts, prefixes, first) : translate_split(texts, first);
}

std::vector<std::vector<search::Translation>> LineTranslator::translate_texts(const std::vector<std::string>& texts,
                                                                              const std::vector<std::string>& prefixes,
                                                                              std::int64_t first) {
  std::vector<std::string> tagged;
  if (!languages_.given.prefix.empty())
    for (const std::string& text : texts) tagged.push_back(prepend_language_tag(languages_.given.prefix, text));
  translator_.go_to(static_cast<std::uint64_t>(first));
  return translator_.translate(tagged.empty() ? texts : tagged, prefixes, {.on_partial = {}, .stop = stop_});
}

std::vector<search::Translation> LineTranslator::best(const std::vector<std::string>& texts, std::int64_t first) {
  for (std::int64_t number = first; const std::string& text : texts)
    languages_.target.check_tag(text, fmt::format("sentence {}", ++number));
  std::vector<search::Translation> list;
  for (std::vector<search::Translation>& one : translate_texts(texts, {}, first)) {
    if (one[0].stop_reason == search::StopReason::cancelled) break;
    ++lines_;
    tally_.add(one[0]);
    list.push_back(std::move(one[0]));
  }
  return list;
}

std::string LineTranslator::translate_whole(const std::vector<std::string>& texts,
                                            const std::vector<std::string>& prefixes, std::int64_t first) {
  const auto translations = translate_texts(texts, prefixes, first);
  std::string out;
  std::int64_t number = first;
  for (std::size_t i = 0; i < texts.size(); ++i, ++number) {
    const std::vector<search::Translation>& list = translations[i];
    if (list[0].stop_reason == search::StopReason::cancelled) {
      // After a missing line the others would be misaligned, except for JSON objects, which are numbered.
      if (!form_.json) break;
      continue;
    }
    ++lines_;
    tally_.add(list[0]);
    tally_.paragraphs += is_paragraph(texts[i], form_.split) ? 1 : 0;
    if (form_.json)
      out += json_line(number + 1, texts[i], list);
    else if (form_.n_best > 1)
      for (const search::Translation& t : list)
        out += fmt::format("{} ||| {}{} ||| {:.6f}\n", number, one_line(t.text), alignment_of(form_, t), t.score);
    else
      out += one_line(list[0].text) + alignment_of(form_, list[0]) + "\n";
  }
  return out;
}

std::vector<search::SplitTranslation> LineTranslator::translate_in_parts(const std::vector<std::string>& texts,
                                                                         std::int64_t first) {
  return split_.translate(texts, languages_.given.prefix, static_cast<std::uint64_t>(first),
                          {.on_partial = {}, .stop = stop_});
}

std::string LineTranslator::translate_split(const std::vector<std::string>& texts, std::int64_t first) {
  const auto translations = translate_in_parts(texts, first);
  std::string out;
  for (std::int64_t number = first; const search::SplitTranslation& t : translations) {
    const std::string& source = texts[static_cast<std::size_t>(number++ - first)];
    if (t.cancelled && !form_.json) break;  // as above
    if (t.cancelled) continue;
    ++lines_;
    for (const auto& part : t.parts) tally_.add(part.translations.front());
    out += form_.json ? json_line(number, source, t) : one_line(t.text) + "\n";
  }
  return out;
}

}  // namespace tril::cli
