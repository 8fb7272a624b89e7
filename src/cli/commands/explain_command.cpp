// tril explain: one HTML file that shows a pass step by step and works from disk.
#include <spdlog/spdlog.h>

#include <memory>

#include "base/number_text.h"
#include "base/streams.h"
#include "cli/commands/commands.h"
#include "cli/io/ending_signal.h"
#include "cli/options/assumed_language.h"
#include "cli/options/quantity_forms.h"
#include "decode/models/decoding_options.h"
#include "decode/models/target_language.h"
#include "inside/file.h"
#include "inside/page.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "tokenizer/files/language_tag.h"

namespace tril::cli {
namespace {

struct ExplainOptions {
  DecodingOptions decoding;
  std::string text, target, source_language, target_language;
  std::vector<std::string> only, edits;
  std::int64_t new_tokens = 12, max_bytes = std::int64_t{32} << 20;
  std::string out = "inside.html";
};

Fields fields_of(ExplainOptions& o) {
  Fields f, of_model;
  of_model.group("Model");
  add_model_fields(of_model, o.decoding);
  f.include(of_model, {"model", "adapter", "precision"});
  f.group("Text");
  f.add("text", &o.text, "text that the model reads: the source of a translation, or the beginning of a text")
      .value_name("TEXT")
      .required();
  f.add("target", &o.target, "text that should follow: the translation, or the rest of the text").value_name("TEXT");
  add_language_fields(f, o.source_language, o.target_language);
  f.group("Page");
  f.add("only", &o.only,
        "names of the points whose values the file holds: * stands for any characters; unset: all but the logits of "
        "earlier "
        "tokens")
      .value_name("PATTERN");
  f.add("edit", &o.edits,
        "another change that the page offers, POINT[HEAD]@TOKEN=ACTION as in tril trace, beside no mask, uniform "
        "attention, no positions, no feed-forward, and each layer left out")
      .value_name("EDIT");
  f.add("new-tokens", &o.new_tokens, "number of tokens by which the text is continued with and without each change")
      .at_least(0)
      .at_most(256);
  f.add("max-bytes", &o.max_bytes, "refuse to hold more of values than this; the file is a third larger", memory_form())
      .at_least(1);
  f.add("out", &o.out, "output file for the page; - is standard output").letter('o').value_name("FILE");
  return f;
}

int explain(const ExplainOptions& o) {
  const EndingSignal ending;
  OutputFile page(o.out);  // opened first, so that an unwritable path is reported at once
  const auto opened = model::ModelSource::open(o.decoding.model);
  const std::unique_ptr<model::Model> model = load_model(opened, o.decoding);
  const std::shared_ptr<const Tokenizer> tokenizer = opened.tokenizer();
  const trace::TextReader reader(*model, tokenizer);
  const Languages languages =
      choose_languages(*tokenizer, o.source_language, o.target_language, "--source-language", "--target-language");
  warn_of_assumed_language(o.decoding.model, *tokenizer, languages);
  const inside::FileQuestion question{
      .texts = {prepend_language_tag(languages.prefix, o.text), o.target, languages.source, languages.target},
      .only = o.only,
      .edits = o.edits,
      .new_tokens = o.new_tokens,
      .most_bytes = o.max_bytes};
  const std::string text = inside::page(inside::file_data(*model, reader, question), /*nonce=*/"");
  page.write(text);
  page.commit();
  spdlog::info("{}: {}", o.out, counted(text.size(), "byte"));
  return exit_success;
}

}  // namespace

void add_explain(App& app) {
  auto o = std::make_shared<ExplainOptions>();
  app.add(
      {.name = "explain",
       .summary = "write a web page that shows a pass of a model step by step",
       .description =
           "Writes one self-contained HTML file with every operation of a pass over a text: its formula, shape and "
           "numbers, from the whole model to one dot product, the attention with its masks, the choice of the next "
           "token, and what some changes of the pass do. It needs no server. The server shows the same page for any "
           "text at /inside.",
       .examples = {{"tril explain --model de --text \"A dog runs.\" --target \"Ein Hund rennt.\"",
                     "a translation, in inside.html"},
                    {"tril explain -m gpt2 --text \"The cat sat\" --only decoder.0 -o cat.html",
                     "a language model, with the values of its first layer"}},
       .fields = fields_of(*o),
       .models = {"model", "adapter"},
       .outputs = {"out"},
       .apply_preset = {},
       .run = [o](const Invocation&) { return explain(*o); }});
}

}  // namespace tril::cli
