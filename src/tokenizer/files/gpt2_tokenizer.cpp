#include "tokenizer/files/gpt2_tokenizer.h"

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "tokenizer/files/pipeline_tokenizer.h"
#include "tokenizer/files/text_lines.h"
#include "tokenizer/files/tokenizer_config.h"
#include "tokenizer/files/tokenizer_files.h"
#include "tokenizer/files/tokenizer_settings.h"
#include "tokenizer/pipeline/word_patterns.h"
#include "unicode/characters.h"

namespace tril {
namespace {

std::vector<std::pair<std::string, std::string>> parse_merges(std::string_view text, const std::string& where) {
  std::vector<std::pair<std::string, std::string>> merges;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::string_view row = take_line(text);
    if (row.empty() || (line == 1 && row.starts_with("#version"))) continue;
    const std::size_t space = row.find(' ');
    if (space == 0 || space == row.npos || space + 1 == row.size() || row.find(' ', space + 1) != row.npos)
      fail(fmt::format("{}: line {}", where, line), "expected two pieces separated by a space");
    merges.emplace_back(row.substr(0, space), row.substr(space + 1));
  }
  return merges;
}

// BPE over a table; characters without a piece become `unknown`, if there is one.
BpeParts byte_pairs_of(const PieceTable& table, std::vector<std::pair<std::string, std::string>> merges,
                       const std::string& unknown) {
  BpeParts parts;
  for (std::int32_t id = 0; id < table.size(); ++id)
    if (table.has(id)) parts.vocab.emplace_back(table.piece(id), id);
  parts.merges = std::move(merges);
  if (table.find(unknown)) parts.unk_token = unknown;
  parts.unk_per_character = true;
  return parts;
}

TokenizerParts parts_of(BpeParts model, ByteLevel words) {
  TokenizerParts parts;
  parts.model = std::move(model);
  parts.pre_tokenizers = {words};
  parts.decoders = {DecodeByteLevel{}};
  return parts;
}

std::string config_json(const Gpt2Parts& parts) {
  const std::string& end = parts.end_of_text;
  const nlohmann::ordered_json config{{"tokenizer_class", "GPT2Tokenizer"},
                                      {"bos_token", end},
                                      {"eos_token", end},
                                      {"unk_token", end},
                                      {"add_prefix_space", false},
                                      {"model_max_length", parts.model_max_length},
                                      {"clean_up_tokenization_spaces", false}};
  return config.dump(2) + "\n";
}

// The tokenizer classes of `transformers` that use these two files.
enum class ClassKind { gpt2, roberta, qwen2 };

ClassKind kind_of(const std::string& name, const std::string& where) {
  for (const char* like : {"GPT2Tokenizer", "GPTNeoXTokenizer", "CodeGenTokenizer", "PreTrainedTokenizerFast"})
    if (name.starts_with(like) || name.empty()) return ClassKind::gpt2;
  for (const char* like : {"RobertaTokenizer", "BartTokenizer", "MvpTokenizer"})
    if (name.starts_with(like)) return ClassKind::roberta;
  if (name.starts_with("Qwen2Tokenizer")) return ClassKind::qwen2;
  fail(where, fmt::format("tokenizer_class \"{}\" is not supported with vocab.json and merges.txt", printable(name)),
       "supported: GPT2Tokenizer, RobertaTokenizer, BartTokenizer, MvpTokenizer, Qwen2Tokenizer; any other needs a "
       "tokenizer.json");
}

// The default special tokens of a class.
void set_defaults(TokenizerConfig& config, ClassKind kind) {
  if (kind == ClassKind::roberta) {
    for (const char* name : {"bos_token", "cls_token"}) config.set_default(name, "<s>");
    for (const char* name : {"eos_token", "sep_token"}) config.set_default(name, "</s>");
    config.set_default("unk_token", "<unk>");
    config.set_default("pad_token", "<pad>");
    config.set_default("mask_token", "<mask>");
    return;
  }
  config.set_default("eos_token", "<|endoftext|>");
  config.set_default("unk_token", config.special("eos_token"));
  config.set_default(kind == ClassKind::qwen2 ? "pad_token" : "bos_token", config.special("eos_token"));
}

void add_special_tokens(TokenizerParts& parts, const TokenizerConfig& config, const PieceTable& table) {
  std::set<std::string> seen;
  std::int32_t next = table.size();
  const auto add = [&](AddedToken token) {
    if (token.content.empty() || !seen.insert(token.content).second) return;
    const auto known = table.find(token.content);
    if (!known && token.id < next) return;
    token.id = known.value_or(token.id);
    next = std::max(next, token.id + 1);
    parts.added.push_back(std::move(token));
  };
  for (const AddedToken& token : config.added_tokens) add(token);
  for (const auto& [name, text] : config.special_tokens)
    add({.content = text, .special = true, .lstrip = name == "mask_token"});
  for (const std::string& text : config.additional_special_tokens) add({.content = text, .special = true});
}

}  // namespace

std::string gpt2_letters(std::string_view bytes) {
  std::string text;
  for (char byte : bytes) append_utf8(text, byte_letters()[static_cast<unsigned char>(byte)]);
  return text;
}

std::shared_ptr<const Tokenizer> make_gpt2_tokenizer(Gpt2Parts given) {
  std::string merges = "#version: 0.2\n";
  for (const auto& [left, right] : given.merges) merges += left + " " + right + "\n";
  TokenizerSettings settings;
  settings.where = "merges.txt";
  settings.model_max_length = given.model_max_length;
  settings.files = {{"vocab.json", given.table.json()},
                    {"merges.txt", std::move(merges)},
                    {"tokenizer_config.json", config_json(given)}};
  TokenizerParts parts = parts_of(byte_pairs_of(given.table, std::move(given.merges), given.end_of_text), ByteLevel{});
  if (const auto end = given.table.find(given.end_of_text)) {
    parts.added = {{.content = given.end_of_text, .id = *end, .special = true}};
    settings.special.bos = settings.special.eos = settings.special.unk = *end;
  }
  return make_pipeline_tokenizer(std::move(parts), std::move(settings));
}

std::shared_ptr<const Tokenizer> make_character_tokenizer(std::string_view text, std::int32_t model_max_length) {
  std::array<bool, 256> bytes{};
  std::set<std::string, std::less<>> characters;  // those of several bytes; UTF-8 sorts by code point
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    at += character_at(text, at).length;
    const std::string_view character = text.substr(begin, at - begin);
    for (char byte : character) bytes[static_cast<unsigned char>(byte)] = true;
    if (character.size() > 1 && !characters.contains(character)) characters.emplace(character);
  }
  Gpt2Parts parts;
  parts.model_max_length = model_max_length;
  for (std::size_t b = 0; b < 256; ++b)
    if (bytes[b]) parts.table.add(gpt2_letters(std::string(1, static_cast<char>(b))));
  for (const std::string& character : characters)
    for (std::size_t n = 2; n <= character.size(); ++n) {  // merges its first two bytes, then adds the third, ...
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
  return is_present(in_directory(directory, "merges.txt"));
}

TokenizerDescription describe_gpt2_tokenizer(const std::string& directory) {
  const auto text = [&](const char* name) {
    auto file = read_tokenizer_file(directory, name);
    if (!file) fail(in_directory(directory, name), "does not exist");
    return *std::move(file);
  };
  TokenizerFile vocab = text("vocab.json"), merges = text("merges.txt");
  const PieceTable table = PieceTable::parse(vocab.bytes, in_directory(directory, "vocab.json"));
  const std::string where = in_directory(directory, "merges.txt");
  TokenizerConfig config = read_tokenizer_config(directory);
  const ClassKind kind = kind_of(config.tokenizer_class, in_directory(directory, "tokenizer_config.json"));
  config.name_ids_of_model([&](std::int32_t id) { return table.has(id) ? table.piece(id) : std::string(); });
  set_defaults(config, kind);
  if (!config.model_max_length && kind == ClassKind::gpt2) config.model_max_length = 1024;

  const bool prefix_space = config.add_prefix_space.value_or(false);
  TokenizerParts parts = parts_of(byte_pairs_of(table, parse_merges(merges.bytes, where), config.special("unk_token")),
                                  {prefix_space, true});
  if (kind == ClassKind::qwen2) {
    parts.normalizers = {UnicodeForm{UnicodeForm::nfc}};
    parts.pre_tokenizers = {SplitBy{{std::string(qwen2_pattern), true}, SplitBehavior::isolated, false},
                            ByteLevel{prefix_space, false}};
  }
  add_special_tokens(parts, config, table);
  TokenizerSettings settings = settings_of(config, where, [&](std::string_view token) { return table.find(token); });
  settings.clean_up_spaces = false;
  if (kind == ClassKind::roberta && settings.special.bos >= 0 && settings.special.eos >= 0) {
    parts.prefix = {settings.special.bos};
    parts.suffix = {settings.special.eos};
  } else {
    if (config.add_bos_token.value_or(false) && settings.special.bos >= 0) parts.prefix = {settings.special.bos};
    if (config.add_eos_token.value_or(false) && settings.special.eos >= 0) parts.suffix = {settings.special.eos};
  }
  settings.files.insert(settings.files.begin(), {std::move(vocab), std::move(merges)});
  return {std::move(parts), std::move(settings)};
}

}  // namespace tril
