// tril tokenize, tril detokenize: texts to the tokens of a model's vocabulary, and back.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "cli/commands/commands.h"
#include "cli/io/standard_output.h"
#include "corpus/reader.h"
#include "format/json_text.h"
#include "model_io/source/model_source.h"
#include "tokenizer/files/text_tokens.h"

namespace tril::cli {
namespace {

enum class Shown : std::uint8_t { ids, pieces, table };

struct TokenizeOptions {
  std::string model, input = "-", language;
  std::vector<std::string> texts;
  Side side = Side::source;
  Shown shown = Shown::ids;
  bool special_tokens = false, json = false;
};

void add_vocabulary_fields(Fields& f, TokenizeOptions& o) {
  f.group("Vocabulary");
  f.add("model", &o.model, "model whose vocabulary is used, in any form that tril reads; only its tokenizer is read")
      .letter('m')
      .value_name("DIR")
      .required();
  f.add("side", &o.side, "side of a translation model's vocabulary",
        {{"source", Side::source}, {"target", Side::target}});
}

Fields fields_of_tokenize(TokenizeOptions& o) {
  Fields f;
  add_vocabulary_fields(f, o);
  f.add("special-tokens", &o.special_tokens, "add the special tokens that the model expects around a text");
  f.add("language", &o.language, "language of the texts, for a vocabulary with language tokens; needs --special-tokens")
      .value_name("NAME");
  f.needs("language", "special-tokens", "it selects one of the special tokens");
  f.group("Text");
  f.add("text", &o.texts, "texts; unset: the lines of --input").value_name("TEXT").positional();
  f.add("input", &o.input, "texts, one per line; - is standard input").letter('i').value_name("FILE");
  f.excludes("text", "input", "both give the texts");
  f.group("Output");
  f.add("show", &o.shown,
        "ids or pieces, one line per text; or a table, one line per token: its id, piece, bytes and characters",
        {{"ids", Shown::ids}, {"pieces", Shown::pieces}, {"table", Shown::table}});
  f.add("json", &o.json,
        "print a JSON object for each text: ids, pieces, and their positions in bytes and in characters");
  f.excludes("json", "show", "JSON has all of these");
  return f;
}

Fields fields_of_detokenize(TokenizeOptions& o) {
  Fields f;
  add_vocabulary_fields(f, o);
  o.side = Side::target;
  f.add("special-tokens", &o.special_tokens, "keep special tokens, which are otherwise left out");
  f.group("Text");
  f.add("ids", &o.texts, "ids of one text; unset: the lines of --input").value_name("ID").positional();
  f.add("input", &o.input, "ids separated by spaces, one text per line; - is standard input")
      .letter('i')
      .value_name("FILE");
  f.excludes("ids", "input", "both give the ids");
  f.group("Output");
  f.add("json", &o.json, "print a JSON object for each text");
  return f;
}

std::string range_of(const TokenPlace& p) {
  return p.begin < 0 ? "-" : fmt::format("{}-{}", p.begin, p.end);
}

std::string shown(const TextTokens& t, Shown how) {
  if (how == Shown::ids) return fmt::format("{}\n", fmt::join(t.ids, " "));
  if (how == Shown::pieces) return fmt::format("{}\n", fmt::join(t.pieces, " "));
  std::string text;
  for (std::size_t i = 0; i < t.ids.size(); ++i)
    text += fmt::format("{}\t{}\t{}\t{}\n", t.ids[i], printable(t.pieces[i], t.pieces[i].size()), range_of(t.bytes[i]),
                        range_of(t.characters[i]));
  return text + "\n";
}

// Calls each(text, where) for every text.
template <class Each>
void for_each_text(const TokenizeOptions& o, bool given, const Each& each) {
  if (given) {
    for (const std::string& text : o.texts) each(text, std::string("the text"));
    return;
  }
  LineReader reader(o.input, {.skip_invalid = false, .refuse_empty = false, .may_skip = false});
  std::string text;
  while (reader.next(text) != Line::end) each(text, fmt::format("{}: line {}", reader.name(), reader.line_number()));
}

int tokenize(const TokenizeOptions& o, const Fields& fields) {
  const auto tokenizer = model::ModelSource::open(o.model).tokenizer();
  if (!o.language.empty()) try {
      tokenizer->frame(o.side, o.language);
    } catch (const Error& e) {
      fail_usage("--language", e.message());
    }
  const TextTokenizer split(*tokenizer, o.side);
  for_each_text(o, fields.given("text"), [&](const std::string& text, const std::string&) {
    const TextTokens tokens = split.tokens_of(text, o.special_tokens, o.language);
    write_stdout(o.json ? json_text(json_of(tokens)) + "\n" : shown(tokens, o.shown));
  });
  return exit_success;
}

// "12 7 1024", also with commas between the numbers.
std::vector<std::int32_t> ids_of(std::string_view text, const std::string& where) {
  std::vector<std::int32_t> ids;
  constexpr std::string_view between = " \t,\r";
  while (true) {
    const std::size_t begin = text.find_first_not_of(between);
    if (begin == text.npos) return ids;
    text.remove_prefix(begin);
    const std::string_view word = text.substr(0, std::min(text.find_first_of(between), text.size()));
    std::int32_t id = -1;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error != std::errc() || end != word.data() + word.size() || id < 0)
      fail_usage(where, fmt::format("\"{}\" is not an id, expected whole numbers of at least 0", printable(word, 40)));
    ids.push_back(id);
    text.remove_prefix(word.size());
  }
}

// The ids of a text. @throws Error(usage) naming `where` for an id that is not in the vocabulary
std::vector<std::int32_t> known_ids(std::string_view text, std::int32_t size, const std::string& where) {
  std::vector<std::int32_t> ids = ids_of(text, where);
  for (const std::int32_t id : ids)
    check(id < size, where, "{} is not in the vocabulary, expected ids below {}", id, size);
  return ids;
}

int detokenize(TokenizeOptions o, const Fields& fields) {
  const auto tokenizer = model::ModelSource::open(o.model).tokenizer();
  const TextTokenizer joined(*tokenizer, o.side);
  const std::int32_t size = tokenizer->size(o.side);
  const bool given = fields.given("ids");
  if (given) o.texts = {fmt::format("{}", fmt::join(o.texts, " "))};
  for_each_text(o, given, [&](const std::string& line, const std::string& place) {
    const std::vector<std::int32_t> ids =
        given ? known_ids(line, size, "--ids") : from_files([&] { return known_ids(line, size, place); });
    const std::string text = joined.text_of(ids, o.special_tokens);
    write_stdout(o.json ? json_text(nlohmann::ordered_json{{"text", text}, {"ids", ids}}) + "\n" : text + "\n");
  });
  return exit_success;
}

}  // namespace

void add_tokenize(App& app) {
  auto o = std::make_shared<TokenizeOptions>();
  app.add(
      {.name = "tokenize",
       .summary = "split texts into the tokens of a model's vocabulary",
       .description = "Prints the ids of each text, its pieces, or the position of each token. Only the "
                      "tokenizer of the directory is read.",
       .examples = {{"tril tokenize -m models/de \"Hello, world\"", "the ids of one text"},
                    {"tril tokenize -m models/de --show table \"Hello, world\"", "each token with its position"},
                    {"tril tokenize -m models/de -i test.en --special-tokens --json", "everything about each line"}},
       .fields = fields_of_tokenize(*o),
       .models = {"model"},
       .apply_preset = {},
       .run = [o](const Invocation& i) { return tokenize(*o, i.fields); }});
}

void add_detokenize(App& app) {
  auto o = std::make_shared<TokenizeOptions>();
  app.add({.name = "detokenize",
           .summary = "turn token ids back into text",
           .description = "Reads the ids of one text per line and prints the text.",
           .examples = {{"tril detokenize -m models/de 12 7 1024", "one text"},
                        {"tril tokenize -m models/de -i test.de --side target | tril detokenize -m models/de",
                         "to ids and back to text"}},
           .fields = fields_of_detokenize(*o),
           .models = {"model"},
           .apply_preset = {},
           .run = [o](const Invocation& i) { return detokenize(*o, i.fields); }});
}

}  // namespace tril::cli
