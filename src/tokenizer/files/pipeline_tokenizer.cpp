#include "tokenizer/files/pipeline_tokenizer.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "base/element.h"
#include "base/error.h"
#include "base/printable.h"
#include "tokenizer/files/sentencepiece_join.h"
#include "tokenizer/files/tokenizer_json.h"
#include "tokenizer/models/subword_model.h"
#include "tokenizer/pipeline/added_tokens.h"
#include "tokenizer/pipeline/normalizer.h"
#include "tokenizer/pipeline/piece_decoder.h"
#include "tokenizer/pipeline/pre_tokenizer.h"
#include "unicode/trim.h"

namespace tril {
namespace {

constexpr std::int32_t most_gaps = 100'000;  // unused ids, which take memory that the size of the file does not limit

// Whether the model takes words as bytes: its vocabulary is in GPT-2's letters, and the last step would produce these.
bool takes_byte_words(const TokenizerParts& parts) {
  return std::holds_alternative<BpeParts>(parts.model) && !parts.pre_tokenizers.empty() &&
         std::holds_alternative<ByteLevel>(parts.pre_tokenizers.back());
}

// The ids of runs of unknown characters that the tokenizer knows beyond its model.
UnknownIds ids_beyond(const SentencePieceParts& parts) {
  if (parts.beyond_model.empty()) return {};
  const auto& pieces = parts.file.pieces;
  const auto unknown =
      std::find_if(pieces.begin(), pieces.end(), [](const auto& p) { return p.type == PieceType::unknown; });
  const auto at = static_cast<std::size_t>(unknown - pieces.begin());
  const std::int32_t unk =
      unknown == pieces.end() || parts.id_of.empty() ? static_cast<std::int32_t>(at) : parts.id_of[at];
  return [unk, ids = std::unordered_map<std::string, std::int32_t>(parts.beyond_model.begin(),
                                                                   parts.beyond_model.end())](std::string_view text) {
    const auto found = ids.find(std::string(text));
    return found == ids.end() ? unk : found->second;
  };
}

std::unique_ptr<const SubwordModel> make_model(const TokenizerParts& parts, const std::string& where) {
  struct Make {
    WordForm form;
    const std::string& where;
    std::unique_ptr<const SubwordModel> operator()(const BpeParts& p) const { return make_byte_pairs(p, form, where); }
    std::unique_ptr<const SubwordModel> operator()(const UnigramParts& p) const { return make_unigram(p, where); }
    std::unique_ptr<const SubwordModel> operator()(const WordPieceParts& p) const { return make_wordpiece(p, where); }
    std::unique_ptr<const SubwordModel> operator()(const WordLevelParts& p) const { return make_wordlevel(p, where); }
    std::unique_ptr<const SubwordModel> operator()(const SentencePieceParts& p) const {
      return make_sentencepiece_model(p, where, ids_beyond(p));
    }
  };
  return std::visit(Make{takes_byte_words(parts) ? WordForm::bytes : WordForm::text, where}, parts.model);
}

class PipelineTokenizer : public Tokenizer {
 public:
  PipelineTokenizer(TokenizerParts parts, TokenizerSettings settings)
      : parts_(std::move(parts)),
        settings_(std::move(settings)),
        model_(make_model(parts_, settings_.where)),
        normalizers_(parts_.normalizers, settings_.where),
        pre_tokenizers_(parts_.pre_tokenizers, !takes_byte_words(parts_), settings_.where),
        decoder_(parts_.decoders, settings_.where),
        keeps_bytes_(takes_byte_words(parts_) && normalizers_.empty() && pre_tokenizers_.takes_bytes()) {
    number_pieces();
    find_added_tokens();
    check_ids();
    if (!settings_.files.empty()) parts_.model = {};  // not written
  }

  using Tokenizer::decode;
  using Tokenizer::encode;

  void encode(std::string_view text, Side, std::vector<std::int32_t>& ids) const override {
    if (!keeps_bytes_ && !is_utf8(text)) return encode(valid_utf8(text), Side::source, ids);
    const auto scratch = scratch_.lend();
    const auto take_token = [&](std::int32_t id) { ids.push_back(id); };
    raw_added_.split(
        text, [&](std::string_view part) { encode_part(part, part.data() == text.data(), *scratch, ids); }, take_token);
  }

  TextFrame frame(Side side, std::string_view language) const override {
    if (settings_.language_frame == LanguageFrame::none) {
      Tokenizer::frame(side, language);
      return {parts_.prefix, parts_.suffix};
    }
    const std::string& usual = side == Side::source ? settings_.source_language : settings_.target_language;
    const std::int32_t id = language_id(language.empty() ? std::string_view(usual) : language),
                       eos = settings_.special.eos;
    if (settings_.language_frame == LanguageFrame::prefix) return {{id}, {eos}};
    return {{}, {eos, id}};
  }

  StatedLanguages stated_languages() const override { return settings_.stated_languages; }
  std::vector<std::string> languages() const override {
    std::vector<std::string> codes;
    for (const auto& [code, id] : settings_.languages) codes.push_back(code);
    return codes;
  }

  std::vector<std::pair<std::string, std::string>> special_tokens() const override { return settings_.special_tokens; }

  std::optional<std::string> chat_template(std::string_view name) const override {
    const auto& all = settings_.chat_templates;
    auto found = std::find_if(all.begin(), all.end(),
                              [&](const auto& t) { return t.first == (name.empty() ? "default" : name); });
    if (found == all.end() && name.empty() && all.size() == 1) found = all.begin();
    if (found == all.end()) return std::nullopt;
    return found->second;
  }

  std::string decode(std::span<const std::int32_t> ids, Side) const override {
    std::vector<std::string> pieces;
    pieces.reserve(ids.size());
    for (std::int32_t id : ids)
      if (const std::string& one = piece(id, Side::target); !element(special_, id)) pieces.push_back(one);
    std::string text = sentencepiece_ ? sentencepiece_->join(pieces) : decoder_.decode(std::move(pieces));
    if (settings_.strip_decoded) text = std::string(trim(text));
    if (settings_.clean_up_spaces) clean_up_spaces(text);
    return text;
  }

  bool cleans_up() const override { return settings_.clean_up_spaces; }

  const std::string& piece(std::int32_t id, Side) const override {
    check(id >= 0 && id < size(Side::source), "tokenizer", "id {} is outside the vocabulary of {} pieces", id,
          pieces_.size());
    return element(pieces_, id);
  }
  std::optional<std::int32_t> find(std::string_view piece, Side) const override {
    const auto found = ids_.find(piece);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }
  std::int32_t size(Side) const override { return static_cast<std::int32_t>(pieces_.size()); }
  const SpecialIds& special(Side) const override { return settings_.special; }
  bool shared_vocabulary() const override { return true; }
  std::int32_t model_max_length() const override { return settings_.model_max_length; }
  std::string where() const override { return settings_.where; }

  std::vector<TokenizerFile> files() const override {
    return settings_.files.empty() ? tokenizer_files(parts_, settings_) : settings_.files;
  }

 private:
  struct Scratch {
    EncodeScratch model;
    NormalizerScratch normal;
    std::vector<PreTokenizerScratch> words;
  };

  std::optional<std::int32_t> find_language(std::string_view code) const override {
    for (const auto& [name, id] : settings_.languages)
      if (name == code) return id;
    return std::nullopt;
  }

  // The text between two added tokens.
  void encode_part(std::string_view part, bool at_start, Scratch& scratch, std::vector<std::int32_t>& ids) const {
    scratch.words.resize(pre_tokenizers_.steps());
    const NormalText normal = normalizers_.apply({part, at_start}, scratch.normal);
    const auto take_word = [&](Word word) { model_->encode(word.text, scratch.model, ids); };
    normal_added_.split(
        normal.text,
        [&](std::string_view text) {
          const bool first = normal.at_start && text.data() == normal.text.data();
          pre_tokenizers_.cut({text, first}, scratch.words, take_word);
        },
        [&](std::int32_t id) { ids.push_back(id); });
  }

  void put(std::string_view piece, std::int32_t id) {
    const std::int64_t limit = put_++ + most_gaps;
    if (id < 0 || id >= limit)
      fail(settings_.where, fmt::format("the id of \"{}\" is {}, expected 0 to {}", printable(piece), id, limit - 1));
    if (static_cast<std::size_t>(id) >= pieces_.size()) pieces_.resize(static_cast<std::size_t>(id) + 1);
    element(pieces_, id) = piece;
  }

  void number_pieces() {
    Pieces sorted;
    struct Collect {
      Pieces& to;
      void operator()(const BpeParts& p) const { to = p.vocab; }
      void operator()(const WordPieceParts& p) const { to = p.vocab; }
      void operator()(const WordLevelParts& p) const { to = p.vocab; }
      void operator()(const UnigramParts& p) const {
        for (std::size_t i = 0; i < p.vocab.size(); ++i)
          to.emplace_back(p.vocab[i].first, static_cast<std::int32_t>(i));
      }
      void operator()(const SentencePieceParts& p) const {
        for (std::size_t i = 0; i < p.file.pieces.size(); ++i)
          to.emplace_back(p.file.pieces[i].text, p.id_of.empty() ? static_cast<std::int32_t>(i) : p.id_of[i]);
        to.insert(to.end(), p.beyond_model.begin(), p.beyond_model.end());
      }
    };
    std::visit(Collect{sorted}, parts_.model);
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    for (const auto& [piece, id] : sorted) put(piece, id);
    for (const AddedToken& token : parts_.added) put(token.content, token.id);
    if (const auto* p = std::get_if<SentencePieceParts>(&parts_.model)) sentencepiece_.emplace(p->file);
  }

  // A token that is matched in normalised text is known by its normal form, also in decoding.
  void find_added_tokens() {
    special_.resize(pieces_.size());
    std::vector<AddedToken> raw, normal;
    std::vector<std::string> raw_spellings, normal_spellings;
    NormalizerScratch scratch;
    for (const AddedToken& token : parts_.added) {
      std::string spelling = token.content;
      if (token.normalized) spelling = std::string(normalizers_.apply({token.content, true}, scratch).text);
      if (!spelling.empty()) element(pieces_, token.id) = spelling;
      element(special_, token.id) = token.special;
      (token.normalized ? normal_spellings : raw_spellings).push_back(std::move(spelling));
      (token.normalized ? normal : raw).push_back(token);
    }
    raw_added_ = AddedTokens(std::move(raw), raw_spellings);
    normal_added_ = AddedTokens(std::move(normal), normal_spellings);
    for (std::size_t i = pieces_.size(); i-- > 0;)  // if pieces share a text, the first one counts
      if (!pieces_[i].empty()) ids_.insert_or_assign(pieces_[i], static_cast<std::int32_t>(i));
    for (const AddedToken& token : parts_.added) ids_.insert_or_assign(token.content, token.id);
  }

  void check_ids() const {
    const SpecialIds& s = settings_.special;
    std::vector<std::int32_t> all = {s.pad, s.bos, s.eos, s.unk};
    all.insert(all.end(), parts_.prefix.begin(), parts_.prefix.end());
    all.insert(all.end(), parts_.suffix.begin(), parts_.suffix.end());
    for (const auto& [code, id] : settings_.languages) all.push_back(id);
    for (std::int32_t id : all)
      if (id >= size(Side::source))
        fail(settings_.where, fmt::format("names id {}, but the vocabulary has {} tokens", id, pieces_.size()));
  }

  TokenizerParts parts_;
  TokenizerSettings settings_;
  std::unique_ptr<const SubwordModel> model_;
  Normalizers normalizers_;
  PreTokenizers pre_tokenizers_;
  PieceDecoder decoder_;
  std::optional<SentencePieceJoin> sentencepiece_;
  AddedTokens raw_added_, normal_added_;
  bool keeps_bytes_;  ///< invalid UTF-8 comes back unchanged

  std::vector<std::string> pieces_;  ///< by id; "" in a gap
  std::int64_t put_ = 0;             ///< number of pieces, without gaps
  std::unordered_map<std::string_view, std::int32_t> ids_;
  std::vector<bool> special_;
  mutable Pool<Scratch> scratch_;
};

}  // namespace

std::shared_ptr<const Tokenizer> make_pipeline_tokenizer(TokenizerParts parts, TokenizerSettings settings) {
  return std::make_shared<PipelineTokenizer>(std::move(parts), std::move(settings));
}

}  // namespace tril
