#include "decode/texts/split_translator.h"

#include <algorithm>

#include "tokenizer/files/language_tag.h"

namespace tril::search {
namespace {

// A text of the list, with its segments.
struct SplitSource {
  std::string_view text;  // without a tag of its own
  std::vector<Segment> segments;
};

// @param tag  with a blank, which a text need not have
std::string_view without_tag(std::string_view text, std::string_view tag) {
  if (tag.empty()) return text;
  text.remove_prefix(tag.size() - 1);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text;
}

}  // namespace

SegmentOptions segments_that_fit(const SplitOptions& split, std::string_view tag, const TranslationText& model,
                                 const TextOptions& options) {
  const auto positions_of = [&model, &options, tag = std::string(tag)](std::string_view part) {
    return model.positions_of({.text = tag + std::string(part)}, options);
  };
  const std::int64_t positions = model.model().max_positions();
  const bool cuts = positions > 0 && positions_of("") < positions;
  return {.split = split.split,
          .language = split.source_language,
          .tokens = positions_of,
          .max_tokens = cuts ? positions : 0};
}

std::vector<SplitTranslation> SplitTranslator::translate(std::span<const std::string> texts, const std::string& tag,
                                                         std::uint64_t first, const TranslationWatch& watch) {
  const TranslationText& model = translator_->text();
  const bool may_be_tagged = tag.empty() && model.model().has_encoder();
  std::vector<SplitSource> sources;
  std::vector<std::string> parts;
  std::vector<std::uint64_t> numbers;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string own = may_be_tagged ? leading_tag(model.tokenizer(), texts[i]) : std::string();
    const std::string& before = tag.empty() ? own : tag;
    const std::string_view text = without_tag(texts[i], own);
    sources.push_back({text, segments_of(text, segments_that_fit(options_, before, model, translator_->options()))});
    std::uint64_t place = 0;
    for (const Segment& s : sources.back().segments) {
      if (!s.translated) continue;
      parts.push_back(before + std::string(s.text));
      numbers.push_back(first + i + (place++ << 40));
    }
  }
  auto translations = translator_->translate(parts, {}, watch, numbers);
  std::vector<SplitTranslation> results;
  auto next = translations.begin();
  for (const SplitSource& source : sources) {
    SplitTranslation result;
    std::vector<std::string> best;
    for (const Segment& s : source.segments) {
      if (!s.translated) continue;
      result.cancelled = result.cancelled || next->front().stop_reason == StopReason::cancelled;
      best.push_back(next->front().text);
      result.parts.push_back({std::string(s.text), std::move(*next++)});
    }
    result.text = join_translations(source.segments, best, options_.target_language);
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace tril::search
