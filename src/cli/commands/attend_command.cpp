// tril attend: shows a model's attention in one sentence, as a page and as a picture.
#include <spdlog/spdlog.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "base/number_text.h"
#include "base/streams.h"
#include "cli/commands/commands.h"
#include "cli/io/ending_signal.h"
#include "cli/io/line_stream.h"
#include "cli/options/assumed_language.h"
#include "decode/models/decoding_options.h"
#include "decode/models/target_language.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "report/attention_page.h"
#include "tokenizer/files/language_tag.h"

namespace tril::cli {
namespace {

struct AttendOptions {
  DecodingOptions decoding;
  std::string source, target, source_language, target_language;
  std::string out = "attention.html", svg;
  std::int64_t max_tokens = 100, max_heads = 512;
};

Fields fields_of(AttendOptions& o) {
  Fields f, of_model;
  of_model.group("Model");
  add_model_fields(of_model, o.decoding);
  f.include(of_model, {"model", "adapter", "precision"});  // a pass is short: it has one thread
  f.group("Text");
  f.add("source", &o.source, "source sentence; unset: the first line of standard input").letter('s').value_name("TEXT");
  f.add("target", &o.target,
        "translation of the source sentence; unset: the model's own translation; not with a language model")
      .letter('t')
      .value_name("TEXT");
  add_language_fields(f, o.source_language, o.target_language);
  f.group("Output");
  f.add("out", &o.out, "output file for the page; - is standard output").letter('o').value_name("FILE");
  f.add("svg", &o.svg, "also write a picture of all heads to this file").value_name("FILE");
  f.add("max-tokens", &o.max_tokens, "maximum number of tokens shown of each side").at_least(1).at_most(1000);
  f.add("max-heads", &o.max_heads,
        "maximum number of heads shown of each attention; a model with more shows its last layers")
      .at_least(1)
      .at_most(100'000);
  return f;
}

std::string first_line() {
  LineStream lines("-", 1, {.skip_invalid = false, .refuse_empty = false, .may_skip = false});
  const std::vector<std::string> first = lines.next(1);
  return first.empty() ? "" : first[0];
}

std::string translated(const AttendOptions& o, const model::ModelSource& opened, const model::Model& m,
                       const std::string& source, const Languages& languages) {
  const std::shared_ptr<const Tokenizer> tokenizer = opened.tokenizer();
  search::TranslatorOptions options = translator_options(o.decoding, opened.generation(), m, *tokenizer);
  options.source_language = languages.source, options.target_language = languages.target;
  search::Translator translator(m, tokenizer, options);
  return translator.translate({&source, 1}).front().front().text;
}

int attend(const AttendOptions& o, const Fields& fields) {
  const EndingSignal ending;
  const auto place = [](const std::string& path) { return std::filesystem::absolute(path).lexically_normal(); };
  if (!o.svg.empty() && (place(o.svg) == place(o.out) || same_file(o.svg, o.out)))
    fail_usage("--svg", "is the same file as --out", "pass different files");
  OutputFile page(o.out);  // opened first, so that an unwritable path is reported at once
  std::optional<OutputFile> picture;
  if (!o.svg.empty()) picture.emplace(o.svg);
  const auto opened = model::ModelSource::open(o.decoding.model);
  const std::unique_ptr<model::Model> model = load_model(opened, o.decoding);
  const std::shared_ptr<const Tokenizer> tokenizer = opened.tokenizer();
  if (!model->has_encoder())
    for (const char* name : {"target", "source-language", "target-language"})
      if (fields.given(name))
        fail_usage(fmt::format("--{}", name),
                   fmt::format("is for translations, but a {} model is a language model", model->family()),
                   "pass the whole text as --source");
  const std::string text = fields.given("source") ? o.source : first_line();
  if (text.empty()) fail_usage("--source", "the sentence is empty", "pass one, or write a line to standard input");
  const Languages languages =
      choose_languages(*tokenizer, o.source_language, o.target_language, "--source-language", "--target-language");
  warn_of_assumed_language(o.decoding.model, *tokenizer, languages);
  const std::string source = prepend_language_tag(languages.prefix, text);
  warn_of_unknown(count_unknown(*tokenizer, source, tokenizer->encode(source, Side::source), Side::source));

  std::vector<train::Fact> facts{{"model", o.decoding.model}, {model->has_encoder() ? "source" : "text", source}};
  std::string target;
  if (model->has_encoder()) {
    search::check_tokenizer(*model, *tokenizer);
    const bool given = fields.given("target");
    const std::optional<std::int32_t> forced = published_generation(opened).forced_bos_token_id;
    const TargetLanguage language(*model, *tokenizer, o.target_language, forced.has_value());
    if (!given) language.check_tokens();
    language.check_tag(text, "--source");
    target = given ? o.target : translated(o, opened, *model, source, languages);
    facts.emplace_back(given ? "target" : "translation", target);
  } else {
    search::check_language_model(*model, *tokenizer);
  }

  Arena arena;
  Context c(arena);
  const std::vector<search::AttentionMaps> maps =
      search::all_attention_maps(c, *model, *tokenizer, {source, target, languages.source, languages.target},
                                 {.tokens = o.max_tokens, .heads = o.max_heads});
  if (maps.empty())
    fail_usage("--model", fmt::format("the model ({}) has no attention: its layers are recurrent", model->family()));
  for (const search::AttentionMaps& m : maps)
    if (m.layers.empty())
      fail_usage("attend", fmt::format("there is nothing to show for the {} attention", name_of(m.kind)),
                 m.keys.empty() ? "pass a sentence of at least one token"
                                : "raise --max-heads to at least the heads of a layer");
  page.write(train::attention_page(facts, maps));
  page.commit();
  if (picture) picture->write(train::attention_svg(facts, maps)), picture->commit();
  spdlog::info("{}: {} by {}", o.out, counted(maps[0].queries.size(), "token"), maps[0].keys.size());
  return exit_success;
}

}  // namespace

void add_attend(App& app) {
  auto o = std::make_shared<AttendOptions>();
  app.add({.name = "attend",
           .summary = "show what each attention head attends to, as a web page or a picture",
           .description =
               "Writes one self-contained HTML file: self- and cross-attention by layer and head, for a sentence and "
               "its translation, or for a text with a language model. The weights are those of one pass over the whole "
               "pair, as in training. They show which tokens a head reads, not why the model gives an output.",
           .examples = {{"tril attend --model de --source \"A dog runs.\"", "with the model's own translation"},
                        {"tril attend -m de -s \"A dog runs.\" -t \"Ein Hund rennt.\" --svg dog.svg",
                         "with a given translation, and a picture"}},
           .fields = fields_of(*o),
           .models = {"model", "adapter"},
           .outputs = {"out", "svg"},
           .apply_preset = {},
           .run = [o](const Invocation& i) { return attend(*o, i.fields); }});
}

}  // namespace tril::cli
