#include "language/gram_scores.h"

#include <cld2/internal/cldutil.h>
#include <cld2/internal/getonescriptspan.h>
#include <cld2/internal/lang_script.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "unicode/characters.h"

// The tables that the library's own sources declare, not its headers: those of all languages, from libcld2_full.
namespace CLD2 {
extern const UTF8PropObj cld_generated_CjkUni_obj;
extern const CLD2TableSummary kCjkCompat_obj, kCjkDeltaBi_obj, kDistinctBiTable_obj;
extern const CLD2TableSummary kQuad_obj, kQuad_obj2, kDeltaOcta_obj, kDistinctOcta_obj;
extern const short kAvgDeltaOctaScore[];
}  // namespace CLD2

namespace tril {
namespace {

constexpr std::size_t most_bytes_read = 10'000;

constexpr CLD2::ScoringTables tables{
    &CLD2::cld_generated_CjkUni_obj, &CLD2::kCjkCompat_obj,    &CLD2::kCjkDeltaBi_obj,
    &CLD2::kDistinctBiTable_obj,     &CLD2::kQuad_obj,         &CLD2::kQuad_obj2,
    &CLD2::kDeltaOcta_obj,           &CLD2::kDistinctOcta_obj, CLD2::kAvgDeltaOctaScore};

// A language in a script, by CLD2's numbers.
using Key = std::pair<CLD2::Language, CLD2::ULScript>;

// What CLD2's numbers mean: languages in the scripts that it recognises them in. Its pseudo-languages ("xx-Copt") are left out, and
// so are languages in other scripts, which are mistakes of the web pages that the tables come from ("ar" in Latin letters).
const std::map<Key, Language>& languages_of_keys() {
  static const std::map<Key, Language> table = [] {
    std::map<Key, Language> all;
    for (int number = 0; number < CLD2::NUM_LANGUAGES; ++number) {
      const auto id = static_cast<CLD2::Language>(number);
      const std::optional<Language> language = find_language(CLD2::LanguageCode(id));
      if (!language) continue;
      for (int i = 0; i < 4; ++i) {
        const CLD2::ULScript script = CLD2::LanguageRecognizedScript(id, i);
        if (script == CLD2::ULScript_Common) continue;
        Language in_script = *language;
        const std::string name = CLD2::ULScriptCode(script);
        // Hani stands for all scripts that Chinese, Japanese and Korean are written in.
        if (in_script.script.empty() && script != CLD2::ULScript_Hani && name != script_of(*language))
          in_script.script = name;
        all.emplace(Key{id, script}, in_script);
      }
    }
    return all;
  }();
  return table;
}

class GramSums {
 public:
  /// One entry of a table: three languages in a script, each with a score.
  void add(CLD2::ULScript script, CLD2::uint32 entry) {
    const CLD2::uint8* const scores = CLD2::LgProb2TblEntry(static_cast<int>(entry & 0xff));
    for (int i = 0; i < 3; ++i)
      if (const auto number = static_cast<CLD2::uint8>(entry >> (8 * (i + 1)) & 0xff); number > 0)
        sums_[{CLD2::FromPerScriptNumber(script, number), script}] += CLD2::LgProb3(scores, i);
  }
  /// A group by its place in a table. Beyond kCLDTableSizeOne, each group has two entries.
  void add(CLD2::ULScript script, const CLD2::CLD2TableSummary& table, CLD2::uint32 place) {
    ++groups_;
    if (place < table.kCLDTableSizeOne) return add(script, table.kCLDTableInd[place]);
    place += place - table.kCLDTableSizeOne;
    add(script, table.kCLDTableInd[place]);
    add(script, table.kCLDTableInd[place + 1]);
  }
  /// A script that only one language has.
  void add_whole(CLD2::ULScript script, int bytes) {
    constexpr double certain = 10;
    sums_[{CLD2::DefaultLanguage(script), script}] += certain * bytes;
    groups_ += bytes;
  }

  const std::map<Key, double>& sums() const { return sums_; }
  double groups() const { return groups_; }

 private:
  std::map<Key, double> sums_;
  double groups_ = 0;
};

void add_groups(const CLD2::ScoringHitBuffer& hits, bool chinese, GramSums& sums) {
  const auto all = [&](const CLD2::ScoringHit* list, int count, const CLD2::CLD2TableSummary& table,
                       const CLD2::CLD2TableSummary& second) {
    constexpr CLD2::uint32 in_second = 0x80000000u;
    for (int i = 0; i < count; ++i) {
      const auto place = static_cast<CLD2::uint32>(list[i].indirect);
      sums.add(hits.ulscript, place & in_second ? second : table, place & ~in_second);
    }
  };
  if (chinese) {
    all(hits.base, hits.next_base, CLD2::kCjkCompat_obj, CLD2::kCjkCompat_obj);
    all(hits.delta, hits.next_delta, CLD2::kCjkDeltaBi_obj, CLD2::kCjkDeltaBi_obj);
    all(hits.distinct, hits.next_distinct, CLD2::kDistinctBiTable_obj, CLD2::kDistinctBiTable_obj);
  } else {
    all(hits.base, hits.next_base, CLD2::kQuad_obj, CLD2::kQuad_obj2);
    all(hits.delta, hits.next_delta, CLD2::kDeltaOcta_obj, CLD2::kDeltaOcta_obj);
    all(hits.distinct, hits.next_distinct, CLD2::kDistinctOcta_obj, CLD2::kDistinctOcta_obj);
  }
}

// The groups of a stretch of letters of one script.
void add_span(const CLD2::LangSpan& span, CLD2::ScriptScanner& scanner, CLD2::ScoringHitBuffer& hits, GramSums& sums) {
  const CLD2::ULScriptRType type = CLD2::ULScriptRecognitionType(span.ulscript);
  if (type == CLD2::RTypeNone || type == CLD2::RTypeOne) return sums.add_whole(span.ulscript, span.text_bytes);
  CLD2::ScoringContext context{};
  context.init();
  context.ulscript = span.ulscript;
  context.scoringtables = &tables;
  context.scanner = &scanner;
  // CLD2 puts a space before the letters.
  for (int at = 1; at < span.text_bytes;) {
    hits.init();
    hits.ulscript = span.ulscript;
    const bool chinese = type == CLD2::RTypeCJK;
    const int end = (chinese ? CLD2::GetUniHits : CLD2::GetQuadHits)(span.text, at, span.text_bytes, &context, &hits);
    (chinese ? CLD2::GetBiHits : CLD2::GetOctaHits)(span.text, at, end, &context, &hits);
    add_groups(hits, chinese, sums);
    if (end <= at) break;
    at = end;
  }
}

// The beginning of a text as CLD2 takes it: without control characters and noncharacters, which its tables do not allow.
std::string readable(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size() && at < most_bytes_read;) {
    const Character c = character_at(text, at);
    const bool allowed = c.code >= 0x20 && !(c.code >= 0x7f && c.code < 0xa0) && (c.code & 0xfffe) != 0xfffe &&
                         !(c.code >= 0xfdd0 && c.code < 0xfdf0);
    if (allowed)
      out += text.substr(at, c.length);
    else
      out += ' ';
    at += c.length;
  }
  return out;
}

}  // namespace

GramScores gram_scores(std::string_view text) {
  const std::string read = readable(text);
  CLD2::ScriptScanner scanner(read.data(), static_cast<int>(read.size()), true);
  const auto hits = std::make_unique<CLD2::ScoringHitBuffer>();
  GramSums latin, other;
  int latin_bytes = 0, other_bytes = 0;
  for (CLD2::LangSpan span{}; scanner.GetOneScriptSpanLower(&span);) {
    const bool is_latin = span.ulscript == CLD2::ULScript_Latin;
    (is_latin ? latin_bytes : other_bytes) += span.text_bytes;
    add_span(span, scanner, *hits, is_latin ? latin : other);
  }
  // A letter of another script has two or three bytes, and says as much as several Latin ones.
  const bool with_latin = 3 * other_bytes <= latin_bytes;
  GramScores result{.languages = {}, .groups = other.groups(), .has_letters = latin_bytes + other_bytes > 0};
  std::map<Key, double> sums = other.sums();
  if (with_latin) {
    sums.insert(latin.sums().begin(), latin.sums().end());
    result.groups += latin.groups();
  }
  for (const auto& [key, score] : sums) {
    const auto known = languages_of_keys().find(key);
    if (known == languages_of_keys().end()) continue;
    const auto same = std::find_if(result.languages.begin(), result.languages.end(),
                                   [&](const ScoredLanguage& s) { return s.language == known->second; });
    if (same == result.languages.end())
      result.languages.push_back({known->second, score});
    else
      same->score += score;
  }
  return result;
}

const std::vector<Language>& scored_languages() {
  static const std::vector<Language> all = [] {
    std::vector<Language> list;
    for (const auto& [key, language] : languages_of_keys())
      if (std::find(list.begin(), list.end(), language) == list.end()) list.push_back(language);
    return list;
  }();
  return all;
}

}  // namespace tril
