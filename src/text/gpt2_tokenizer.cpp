#include "text/gpt2_tokenizer.h"

#include <unicode/utf8.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <queue>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "base/file.h"
#include "text/gpt2_pattern.h"

namespace tril {
namespace {

constexpr std::uint64_t largest_file = 256 << 20;
constexpr std::string_view replacement = "\xef\xbf\xbd";  // U+FFFD

void append_utf8(std::string& text, UChar32 c) {
  std::array<char, 4> bytes{};
  int n = 0;
  U8_APPEND_UNSAFE(bytes.data(), n, c);
  text.append(bytes.data(), static_cast<std::size_t>(n));
}

// The letter of each byte: itself where Latin-1 prints it, else the next from U+0100 on.
const std::array<UChar32, 256>& letters() {
  static const std::array<UChar32, 256> table = [] {
    std::array<UChar32, 256> t{};
    UChar32 next = 0x100;
    for (int b = 0; b < 256; ++b) {
      const bool prints = (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
      t[static_cast<std::size_t>(b)] = prints ? b : next++;
    }
    return t;
  }();
  return table;
}

// The bytes that a piece's letters stand for; nothing where one of them is no byte's.
std::optional<std::string> bytes_of(std::string_view piece) {
  static const std::unordered_map<UChar32, char> byte_of = [] {
    std::unordered_map<UChar32, char> map;
    for (std::size_t b = 0; b < 256; ++b) map.emplace(letters()[b], static_cast<char>(b));
    return map;
  }();
  std::string bytes;
  for (std::size_t at = 0; at < piece.size();) {
    UChar32 c = 0;
    U8_NEXT(piece.data(), at, piece.size(), c);
    const auto found = byte_of.find(c);
    if (found == byte_of.end()) return std::nullopt;
    bytes += found->second;
  }
  return bytes;
}

// `bytes` with U+FFFD for whatever is no UTF-8.
std::string valid_utf8(std::string_view bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t begin = at;
    UChar32 c = 0;
    U8_NEXT(bytes.data(), at, bytes.size(), c);
    text += c < 0 ? replacement : bytes.substr(begin, at - begin);
  }
  return text;
}

class Gpt2Tokenizer : public Tokenizer {
 public:
  explicit Gpt2Tokenizer(Gpt2Parts parts) : parts_(std::move(parts)) {
    const PieceTable& table = parts_.table;
    const auto end = table.find(parts_.end_of_text);
    special_.bos = special_.eos = special_.unk = end.value_or(-1);
    for (std::size_t b = 0; b < 256; ++b) {
      std::string letter;
      append_utf8(letter, letters()[b]);
      byte_ids_[b] = table.find(letter).value_or(unknown);
    }
    for (std::size_t rank = 0; rank < parts_.merges.size(); ++rank) {
      const auto& [left, right] = parts_.merges[rank];
      const auto a = table.find(left), b = table.find(right), both = table.find(left + right);
      if (!a || !b || !both)
        fail("merges.txt", fmt::format("\"{} {}\" names a piece that vocab.json lacks", left, right),
             "the files are not of one tokenizer");
      merges_.try_emplace(pair_key(*a, *b), Merge{static_cast<std::int32_t>(rank), *both});
    }
    bytes_.resize(static_cast<std::size_t>(table.size()));
    for (std::int32_t id = 0; id < table.size(); ++id)
      if (id != special_.eos && table.has(id))
        bytes_[static_cast<std::size_t>(id)] = bytes_of(table.piece(id)).value_or(table.piece(id));
  }

  using Tokenizer::decode;
  using Tokenizer::encode;

  void encode(std::string_view text, Side, std::vector<std::int32_t>& ids) const override {
    // The end of text, spelt out, is itself; what lies between is cut into words.
    while (!text.empty()) {
      const std::size_t found = special_.eos < 0 ? text.npos : text.find(parts_.end_of_text);
      encode_words(text.substr(0, found), ids);
      if (found == text.npos) return;
      ids.push_back(special_.eos);
      text.remove_prefix(found + parts_.end_of_text.size());
    }
  }

  std::string decode(std::span<const std::int32_t> ids, Side) const override {
    std::string bytes;
    for (std::int32_t id : ids) {
      parts_.table.piece(id);  // an id outside the vocabulary is an Error
      bytes += bytes_[static_cast<std::size_t>(id)];
    }
    return valid_utf8(bytes);
  }

  const std::string& piece(std::int32_t id, Side) const override { return parts_.table.piece(id); }
  std::optional<std::int32_t> find(std::string_view piece, Side) const override { return parts_.table.find(piece); }
  std::int32_t size(Side) const override { return parts_.table.size(); }
  const SpecialIds& special(Side) const override { return special_; }
  bool shared_vocabulary() const override { return true; }
  std::int32_t model_max_length() const override { return parts_.model_max_length; }

  std::vector<TokenizerFile> files() const override {
    std::string merges = "#version: 0.2\n";
    for (const auto& [left, right] : parts_.merges) merges += left + " " + right + "\n";
    const std::string& end = parts_.end_of_text;
    const nlohmann::ordered_json config{{"tokenizer_class", "GPT2Tokenizer"},
                                        {"bos_token", end},
                                        {"eos_token", end},
                                        {"unk_token", end},
                                        {"add_prefix_space", false},
                                        {"model_max_length", parts_.model_max_length},
                                        {"clean_up_tokenization_spaces", false}};
    return {
        {"vocab.json", parts_.table.json()}, {"merges.txt", merges}, {"tokenizer_config.json", config.dump(2) + "\n"}};
  }

 private:
  struct Merge {
    std::int32_t rank, id;
  };
  static std::uint64_t pair_key(std::int32_t a, std::int32_t b) {
    return std::uint64_t{static_cast<std::uint32_t>(a)} << 32 | static_cast<std::uint32_t>(b);
  }

  void encode_words(std::string_view text, std::vector<std::int32_t>& ids) const {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = end_of_gpt2_word(text, at);
      encode_word(text.substr(at, end - at), ids);
      at = end;
    }
  }

  // The pair of the lowest rank, of equals the leftmost, merges first. A queue holds every pair that may merge; what
  // has changed since it was put there is passed over, so that a word of n bytes takes O(n log n).
  void encode_word(std::string_view word, std::vector<std::int32_t>& ids) const {
    struct Token {
      std::int32_t id;
      std::size_t before, after;
    };
    struct Pair {
      std::int32_t rank;
      std::size_t left, right;
      std::int32_t left_id, right_id, id;
      bool operator<(const Pair& o) const { return rank != o.rank ? rank > o.rank : left > o.left; }
    };
    constexpr std::size_t none = std::string_view::npos;
    std::vector<Token> tokens(word.size());
    std::priority_queue<Pair> pairs;
    const auto offer = [&](std::size_t left, std::size_t right) {
      if (left == none || right == none) return;
      const auto merge = merges_.find(pair_key(tokens[left].id, tokens[right].id));
      if (merge == merges_.end()) return;
      pairs.push({merge->second.rank, left, right, tokens[left].id, tokens[right].id, merge->second.id});
    };
    for (std::size_t i = 0; i < word.size(); ++i)
      tokens[i] = {byte_ids_[static_cast<unsigned char>(word[i])], i == 0 ? none : i - 1,
                   i + 1 == word.size() ? none : i + 1};
    for (std::size_t begin = 0, end = 0; begin < word.size();
         begin = end) {  // a character is known whole or not at all
      for (end = begin + 1; end < word.size() && !is_first_byte(word[end]);) ++end;
      bool known = true;
      for (std::size_t i = begin; i < end; ++i) known &= tokens[i].id != unknown;
      for (std::size_t i = begin; i < end && !known; ++i) tokens[i].id = unknown;
    }
    if (!merges_.empty())
      for (std::size_t i = 1; i < word.size(); ++i) offer(i - 1, i);
    while (!pairs.empty()) {
      const Pair p = pairs.top();
      pairs.pop();
      if (tokens[p.left].id != p.left_id || tokens[p.left].after != p.right || tokens[p.right].id != p.right_id)
        continue;
      tokens[p.left].id = p.id;
      tokens[p.left].after = tokens[p.right].after;
      if (tokens[p.left].after != none) tokens[tokens[p.left].after].before = p.left;
      tokens[p.right].id = gone;
      offer(tokens[p.left].before, p.left);
      offer(p.left, tokens[p.left].after);
    }
    for (std::size_t i = word.empty() ? none : 0; i != none; i = tokens[i].after)
      if (tokens[i].id >= 0)
        ids.push_back(tokens[i].id);
      else if (special_.unk >= 0 && is_first_byte(word[i]))
        ids.push_back(special_.unk);  // one for a character, not one for each of its bytes
  }

  static bool is_first_byte(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

  static constexpr std::int32_t unknown = -1, gone = -2;
  Gpt2Parts parts_;
  SpecialIds special_;
  std::array<std::int32_t, 256> byte_ids_{};
  std::unordered_map<std::uint64_t, Merge> merges_;
  std::vector<std::string> bytes_;  // of each id; empty for the end of text
};

std::string in_directory(const std::string& directory, const char* name) {
  return (std::filesystem::path(directory) / name).string();
}

std::vector<std::pair<std::string, std::string>> parse_merges(std::string_view text, const std::string& where) {
  std::vector<std::pair<std::string, std::string>> merges;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view row = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (row.ends_with('\r')) row.remove_suffix(1);
    if (row.empty() || (line == 1 && row.starts_with("#version"))) continue;
    const std::size_t space = row.find(' ');
    if (space == 0 || space == row.npos || space + 1 == row.size() || row.find(' ', space + 1) != row.npos)
      fail(fmt::format("{}: line {}", where, line), "expected two pieces with a space between them");
    merges.emplace_back(row.substr(0, space), row.substr(space + 1));
  }
  return merges;
}

// A special token is given as text, or as an object with its text as "content".
std::optional<std::string> token_text(const nlohmann::json& config, const char* key) {
  const auto found = config.find(key);
  if (found == config.end()) return std::nullopt;
  const nlohmann::json& value = found->is_object() && found->contains("content") ? (*found)["content"] : *found;
  return value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
}

}  // namespace

std::string gpt2_letters(std::string_view bytes) {
  std::string text;
  for (char byte : bytes) append_utf8(text, letters()[static_cast<unsigned char>(byte)]);
  return text;
}

std::shared_ptr<const Tokenizer> make_gpt2_tokenizer(Gpt2Parts parts) {
  return std::make_shared<Gpt2Tokenizer>(std::move(parts));
}

std::shared_ptr<const Tokenizer> make_character_tokenizer(std::string_view text, std::int32_t model_max_length) {
  std::array<bool, 256> bytes{};
  std::set<std::string, std::less<>> characters;  // of several bytes; UTF-8 sorts them by code point
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    UChar32 c = 0;
    U8_NEXT(text.data(), at, text.size(), c);
    const std::string_view character = text.substr(begin, at - begin);
    for (char byte : character) bytes[static_cast<unsigned char>(byte)] = true;
    if (character.size() > 1 && !characters.contains(character)) characters.emplace(character);
  }
  Gpt2Parts parts;
  parts.model_max_length = model_max_length;
  for (std::size_t b = 0; b < 256; ++b)
    if (bytes[b]) parts.table.add(gpt2_letters(std::string(1, static_cast<char>(b))));
  for (const std::string& character : characters)
    for (std::size_t n = 2; n <= character.size(); ++n) {  // its first two bytes, then the third to them, ...
      const std::string left = gpt2_letters(std::string_view(character).substr(0, n - 1)),
                        right = gpt2_letters(std::string_view(character).substr(n - 1, 1));
      if (parts.table.find(left + right)) continue;
      parts.table.add(left + right);
      parts.merges.emplace_back(left, right);
    }
  parts.table.add(parts.end_of_text);
  return make_gpt2_tokenizer(std::move(parts));
}

bool is_gpt2_directory(const std::string& directory) {
  std::error_code ignored;
  return std::filesystem::exists(in_directory(directory, "merges.txt"), ignored);
}

std::shared_ptr<const Tokenizer> load_gpt2_tokenizer(const std::string& directory) {
  const auto path = [&](const char* name) { return in_directory(directory, name); };
  const auto text = [&](const char* name) { return read_text(path(name), largest_file); };
  Gpt2Parts parts;
  parts.table = PieceTable::parse(text("vocab.json"), path("vocab.json"));
  parts.merges = parse_merges(text("merges.txt"), path("merges.txt"));
  std::error_code ignored;
  if (const std::string where = path("tokenizer_config.json"); std::filesystem::exists(where, ignored)) {
    const auto json = nlohmann::json::parse(text("tokenizer_config.json"), nullptr, false);
    if (!json.is_object()) fail(where, "is not a JSON object");
    if (const auto prefix = json.find("add_prefix_space");
        prefix != json.end() && prefix->is_boolean() && prefix->get<bool>())
      fail(where, "add_prefix_space is true, which is not supported", "only false is");
    parts.end_of_text = token_text(json, "eos_token").value_or(parts.end_of_text);
    if (const auto length = json.find("model_max_length"); length != json.end() && length->is_number())
      parts.model_max_length =  // "no limit" is written as 1e30
          static_cast<std::int32_t>(std::clamp(length->get<double>(), 1.0, static_cast<double>(1 << 30)));
  }
  return make_gpt2_tokenizer(std::move(parts));
}

}  // namespace tril
