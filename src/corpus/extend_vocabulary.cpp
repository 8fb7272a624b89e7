#include "corpus/extend_vocabulary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>
#include <set>
#include <unordered_map>

#include "base/as_size.h"
#include "base/error.h"
#include "corpus/vocabulary_lines.h"
#include "format/sentencepiece_file.h"
#include "tokenizer/files/marian_tokenizer.h"
#include "tokenizer/files/sentencepiece.h"
#include "tokenizer/models/subword_pieces.h"

namespace tril {

namespace {

constexpr std::int64_t least_count = 2;  // a pair that occurs once is no pattern

// The text as words: sequences of symbols with their counts.
class Words {
 public:
  explicit Words(const std::string& model) : model_(parse_sentencepiece(model, "SentencePiece model")) {}

  void add(const std::string& line) {
    std::vector<std::string> pieces;
    const auto status = model_->Encode(line, &pieces);
    if (!status.ok()) fail("vocabulary", fmt::format("cannot split text into pieces: {}", status.ToString()));
    std::vector<int> word;
    const auto end_word = [&] {
      if (!word.empty()) ++counts_[word];
      word.clear();
    };
    for (const std::string& piece : pieces) {
      const int id = model_->PieceToId(piece);
      if (model_->IsByte(id) || model_->IsControl(id)) {  // never part of another
        end_word();
        continue;
      }
      if (piece.starts_with(space_mark)) end_word();
      if (!model_->IsUnknown(id)) {
        word.push_back(symbol(piece, true));
        continue;
      }
      for (std::string_view rest = piece; !rest.empty();) {
        const std::size_t size = character_length(rest);
        word.push_back(symbol(std::string(rest.substr(0, size)), false));
        rest.remove_prefix(size);
      }
    }
    end_word();
  }

  const std::map<std::vector<int>, std::int64_t>& counts() const { return counts_; }
  const std::vector<std::string>& symbols() const { return symbols_; }
  bool known(int symbol) const { return known_[as_size(symbol)]; }

 private:
  int symbol(const std::string& text, bool known) {
    const auto [at, is_new] = ids_.emplace(text, static_cast<int>(symbols_.size()));
    if (is_new) {
      symbols_.push_back(text);
      known_.push_back(known);
    }
    return at->second;
  }

  std::shared_ptr<const SentencePiece> model_;
  std::map<std::vector<int>, std::int64_t> counts_;  // ordered, so that ties are deterministic
  std::unordered_map<std::string, int> ids_;
  std::vector<std::string> symbols_;
  std::vector<bool> known_;
};

// Continues byte-pair encoding from words of symbols. Pair counts are updated word by word.
class Merging {
 public:
  using Pair = std::pair<int, int>;

  Merging(const Words& words, const std::set<int>& usable) : usable_(usable) {
    for (const auto& [symbols, times] : words.counts()) {
      words_.push_back({symbols, times});
      count(words_.size() - 1, 1);
    }
    for (const auto& [pair, times] : times_) queue_.push({times, pair});
  }

  /// The most frequent pair now, or count 0.
  std::pair<Pair, std::int64_t> best() {
    while (!queue_.empty()) {
      const auto [times, pair] = queue_.top();
      if (times_[pair] == times) return {pair, times};
      queue_.pop();  // stale; the pair is queued again with its new count
    }
    return {{}, 0};
  }

  void merge(Pair pair, int merged) {
    usable_.insert(merged);
    const std::set<std::size_t> where = std::move(places_[pair]);
    std::set<Pair> changed;
    for (const std::size_t w : where) {
      count(w, -1, &changed);
      std::vector<int>& symbols = words_[w].symbols;
      std::vector<int> after;
      for (std::size_t i = 0; i < symbols.size(); ++i) {
        const bool both = i + 1 < symbols.size() && Pair(symbols[i], symbols[i + 1]) == pair;
        after.push_back(both ? merged : symbols[i]);
        i += both;
      }
      symbols = std::move(after);
      count(w, 1, &changed);
    }
    times_.erase(pair);
    for (const Pair& p : changed)
      if (const auto found = times_.find(p); found != times_.end() && found->second > 0)
        queue_.push({found->second, p});
  }

  void forget(Pair pair) { times_.erase(pair); }  ///< never merge it

 private:
  struct Word {
    std::vector<int> symbols;
    std::int64_t times;
  };
  struct Entry {
    std::int64_t times;
    Pair pair;
    bool operator<(const Entry& o) const { return times < o.times || (times == o.times && pair > o.pair); }
  };

  void count(std::size_t w, std::int64_t sign, std::set<Pair>* changed = nullptr) {
    const std::vector<int>& s = words_[w].symbols;
    for (std::size_t i = 0; i + 1 < s.size(); ++i) {
      if (!usable_.contains(s[i]) || !usable_.contains(s[i + 1])) continue;
      const Pair pair(s[i], s[i + 1]);
      times_[pair] += sign * words_[w].times;
      if (sign > 0) places_[pair].insert(w);
      if (changed) changed->insert(pair);
    }
  }

  std::set<int> usable_;  // symbols that are pieces
  std::vector<Word> words_;
  std::map<Pair, std::int64_t> times_;
  std::map<Pair, std::set<std::size_t>> places_;  // words that have or had the pair
  std::priority_queue<Entry> queue_;
};

// The scores of new pieces.
class Scores {
 public:
  Scores(const SentencePieceFile& file, std::int64_t total)
      : unigram_(file.algorithm == SubwordAlgorithm::unigram), total_(static_cast<double>(total)) {
    for (const SentencePieceEntry& p : file.pieces) {
      lowest_ = std::min(lowest_, p.score);
      scores_.emplace(p.text, p.score);
    }
  }

  float of(const std::string& text, std::int64_t times, const std::vector<std::string>& halves) {
    lowest_ -= 1;
    float score = lowest_;
    if (unigram_) {
      score = static_cast<float>(std::log(static_cast<double>(times) / total_));
      float together = halves.empty() ? score : 0.1f;
      for (const std::string& half : halves) together += scores_.at(half);
      if (!halves.empty()) score = std::min(0.0f, std::max(score, together));
    }
    scores_[text] = score;
    return score;
  }

 private:
  bool unigram_;
  double total_;
  float lowest_ = 0;
  std::unordered_map<std::string, float> scores_;
};

}  // namespace

std::vector<NewPiece> learn_more_pieces(const std::string& model, const std::vector<TextSource>& files,
                                        std::int64_t count, const VocabularyOptions& chosen) {
  const SentencePieceFile file = read_sentencepiece_file(model);
  if (file.algorithm != SubwordAlgorithm::bpe && file.algorithm != SubwordAlgorithm::unigram)
    fail_usage("extend", "only BPE and unigram vocabularies can be extended");
  Words words(model);
  for (const std::string& line : sample_lines(files, chosen)) words.add(line);

  std::vector<std::string> symbols = words.symbols();
  std::set<int> usable;
  std::map<int, std::int64_t> unknown;
  std::int64_t total = 0;
  for (const auto& [word, times] : words.counts())
    for (const int s : word) {
      total += times;
      if (words.known(s))
        usable.insert(s);
      else
        unknown[s] += times;
    }
  if (total <= 0) fail("train_sets", "the text has no line with a word in it");

  std::vector<NewPiece> pieces;
  Scores scores(file, total);
  std::vector<std::vector<std::string>> parts(symbols.size());
  for (std::size_t s = 0; s < symbols.size(); ++s) parts[s] = {symbols[s]};
  std::vector<std::pair<std::int64_t, int>> characters;
  for (const auto& [s, times] : unknown) characters.emplace_back(-times, s);
  std::sort(characters.begin(), characters.end());
  for (const auto& [negative, s] : characters) {
    if (std::ssize(pieces) == count || -negative < least_count) break;
    const std::string& text = symbols[as_size(s)];
    pieces.push_back({{text, scores.of(text, -negative, {})}, {text}});
    usable.insert(s);
  }

  std::set<std::string> taken;
  for (const SentencePieceEntry& p : file.pieces) taken.insert(p.text);
  Merging merging(words, usable);
  while (std::ssize(pieces) < count) {
    const auto [pair, times] = merging.best();
    if (times < least_count) break;
    const auto left = as_size(pair.first), right = as_size(pair.second);
    const std::string text = symbols[left] + symbols[right];
    if (!taken.insert(text).second) {  // already a piece, made by other merges
      merging.forget(pair);
      continue;
    }
    std::vector<std::string> both = parts[left];
    both.insert(both.end(), parts[right].begin(), parts[right].end());
    pieces.push_back({{text, scores.of(text, times, {symbols[left], symbols[right]})}, both});
    symbols.push_back(text);
    parts.push_back(std::move(both));
    merging.merge(pair, static_cast<int>(symbols.size()) - 1);
  }
  return pieces;
}

namespace {

using Ids = std::vector<std::int32_t>;

// The old ids of each new one.
std::vector<Ids> parts_of(const Tokenizer& before, const Tokenizer& after, Side side,
                          const std::vector<NewPiece>& pieces) {
  std::unordered_map<std::string, const NewPiece*> by_text;
  for (const NewPiece& piece : pieces) by_text.emplace(piece.entry.text, &piece);
  std::vector<Ids> parts;
  for (std::int32_t id = before.size(side); id < after.size(side); ++id) {
    Ids& old = parts.emplace_back();
    const auto found = by_text.find(after.piece(id, side));
    if (found == by_text.end()) continue;  // a tag
    for (const std::string& part : found->second->parts)
      old.push_back(before.find(part, side).value_or(before.special(side).unk));
  }
  return parts;
}

std::string file_of(const Tokenizer& tokenizer, const std::string& name) {
  for (const TokenizerFile& file : tokenizer.files())
    if (file.name == name) return file.bytes;
  fail("tokenizer", "has no " + name, "only the tokenizer of a Marian directory can be extended");
}

std::string with(const std::string& model, const std::vector<NewPiece>& pieces, std::vector<std::string>& tokens) {
  std::vector<SentencePieceEntry> entries;
  for (const NewPiece& piece : pieces) {
    entries.push_back(piece.entry);
    tokens.push_back(piece.entry.text);
  }
  return with_pieces(model, entries);
}

}  // namespace

ExtendedTokenizer extend_marian_tokenizer(const std::string& directory, const ExtensionRequest& request) {
  const auto before = load_tokenizer(directory);
  const std::string source = file_of(*before, "source.spm"), target = file_of(*before, "target.spm");
  const bool one = source == target;
  std::vector<TextSource> source_text = request.source;
  if (one) source_text.insert(source_text.end(), request.target.begin(), request.target.end());

  std::vector<NewPiece> source_pieces, target_pieces;
  if (request.count > 0) {
    source_pieces = learn_more_pieces(source, source_text, request.count, request.text);
    target_pieces = one ? source_pieces : learn_more_pieces(target, request.target, request.count, request.text);
  }
  MarianAdditions more;
  more.source_spm = with(source, source_pieces, more.source_tokens);
  more.target_spm = one ? more.source_spm : with(target, target_pieces, more.target_tokens);
  if (one) more.target_tokens = more.source_tokens;
  more.source_tokens.insert(more.source_tokens.end(), request.tags.begin(), request.tags.end());

  ExtendedTokenizer extended;
  extended.tokenizer = extend_marian_directory(directory, more);
  extended.old_source = before->size(Side::source);
  extended.old_target = before->size(Side::target);
  std::vector<NewPiece> all = source_pieces;
  if (before->shared_vocabulary()) all.insert(all.end(), target_pieces.begin(), target_pieces.end());
  extended.source_parts = parts_of(*before, *extended.tokenizer, Side::source, all);
  extended.target_parts = before->shared_vocabulary()
                              ? extended.source_parts
                              : parts_of(*before, *extended.tokenizer, Side::target, target_pieces);
  return extended;
}

}  // namespace tril
