// tril explain: one HTML file that shows a pass step by step and works from disk.
#include <spdlog/spdlog.h>

#include <memory>

#include "base/number_text.h"
#include "base/streams.h"
#include "cli/commands/commands.h"
#include "cli/io/ending_signal.h"
#include "cli/options/assumed_language.h"
#include "cli/options/quantity_forms.h"
#include "decode/batches/parallel.h"
#include "decode/models/constraint_fields.h"
#include "decode/models/decoding_options.h"
#include "decode/models/target_language.h"
#include "format/json_text.h"
#include "inside/file.h"
#include "inside/page.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "tokenizer/files/language_tag.h"
#include "trace/watched_search.h"

namespace tril::cli {
namespace {

struct ExplainOptions {
  DecodingOptions decoding;
  std::string text, target, source_language, target_language;
  std::vector<std::string> only, edits, precisions;
  ConstraintOptions constraint;
  std::int64_t new_tokens = 12, max_bytes = std::int64_t{32} << 20, search_tokens = 16;
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
  f.add("compare-precision", &o.precisions,
        "precisions that the page compares with the model's own: the same pass with weights in int8, int4 or bf16")
      .choices({"bf16", "int8", "int4"})
      .value_name("NAME");
  f.add("new-tokens", &o.new_tokens, "number of tokens by which the text is continued with and without each change")
      .at_least(0)
      .at_most(256);
  f.add("max-bytes", &o.max_bytes, "refuse to hold more of values than this; the file is a third larger", memory_form())
      .at_least(1);
  f.add("out", &o.out, "output file for the page; - is standard output").letter('o').value_name("FILE");
  f.group("Search as a tree");
  f.add("search-tokens", &o.search_tokens, "longest text of the search that the page shows as a tree; 0: no search")
      .at_least(0)
      .at_most(256);
  f.add("n", &o.decoding.search.n_best, "number of texts that the search finds").at_least(1).at_most(64);
  Fields of_search;
  of_search.group("Search as a tree");
  add_continuation_fields(of_search, o.decoding);
  add_choice_fields(of_search, o.decoding);
  add_constraint_fields(of_search, o.constraint);
  f.include(of_search,
            {"beam-size", "beam-groups", "diversity-penalty", "length-penalty", "early-stopping", "alternatives",
             "sampling", "temperature", "top-k", "top-p", "seed", "bad-words", "json-schema", "json-object", "regex"});
  return f;
}

// The search from a text, as JSON.
class TextSearch {
 public:
  TextSearch(const model::Model& m, std::shared_ptr<const Tokenizer> tokenizer, const trace::TextReader& reader)
      : model_(m), tokenizer_(std::move(tokenizer)), reader_(reader) {}

  std::string of(ExplainOptions o, const model::GenerationConfig& published, const Languages& languages) {
    question_.plan = {};
    if (model_.has_encoder())
      translate(o, published, languages);
    else
      go_on(o, published);
    if (!texts_) return "null";
    question_.plan.constraint = make_constraint(o.constraint, *tokenizer_);
    search::WorkerPool worker(1);
    const trace::SearchAnswer answer = trace::watch_search(worker.context(0), model_, question_);
    return json_text(trace::search_json(reader_, question_, answer, texts_(answer.hypotheses)));
  }

 private:
  void translate(ExplainOptions& o, const model::GenerationConfig& published, const Languages& languages) {
    o.decoding.search.max_length = o.search_tokens;
    search::TranslatorOptions options = translator_options(o.decoding, published, model_, *tokenizer_);
    options.source_language = languages.source, options.target_language = languages.target;
    question_.plan = search::with_vocabulary(options.decoding.search, model_, *tokenizer_);
    question_.cache = options.decoding.session.cache;
    const auto text = std::make_shared<search::EncodedText>(model_, tokenizer_);
    text->check(options, question_.plan);
    const search::TextToTranslate prepared =
        text->prepare({.text = prepend_language_tag(languages.prefix, o.text)}, 0, options, question_.plan);
    if (prepared.is_empty()) return;
    question_.source = prepared.source, question_.request = prepared.request;
    texts_ = [text, prepared, options](const std::vector<search::Hypothesis>& hypotheses) {
      std::vector<std::string> texts;
      for (search::Translation& t : text->finish(prepared, hypotheses, options)) texts.push_back(std::move(t.text));
      return texts;
    };
  }
  void go_on(ExplainOptions& o, const model::GenerationConfig& published) {
    o.decoding.search.max_new_tokens = o.search_tokens;
    const search::GeneratorOptions options = generator_options(o.decoding, published, model_, *tokenizer_);
    question_.cache = options.decoding.session.cache;
    const auto text = std::make_shared<search::ContinuationText>(model_, tokenizer_);
    question_.plan = text->completed(options.decoding.search, options);
    question_.request = text->request_for(text->prompt_ids(o.text, "--text"), 0, options);
    texts_ = [text, options, request = question_.request](const std::vector<search::Hypothesis>& hypotheses) {
      std::vector<std::string> texts;
      for (const search::Hypothesis& h : hypotheses) texts.push_back(text->finish(h, request, options).text);
      return texts;
    };
  }

  const model::Model& model_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  const trace::TextReader& reader_;
  trace::SearchQuestion question_;
  std::function<std::vector<std::string>(const std::vector<search::Hypothesis>&)> texts_;  // empty: there is no search
};

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
  inside::FileQuestion question{
      .texts = {prepend_language_tag(languages.prefix, o.text), o.target, languages.source, languages.target},
      .only = o.only,
      .edits = o.edits,
      .new_tokens = o.new_tokens,
      .most_bytes = o.max_bytes};
  std::vector<std::unique_ptr<model::Model>> others;
  for (const std::string& name : o.precisions) {
    DecodingOptions other = o.decoding;
    other.precision = name;
    others.push_back(load_model(opened, other));
    question.precisions.emplace_back(name, others.back().get());
  }
  if (o.search_tokens > 0)
    question.search = TextSearch(*model, tokenizer, reader).of(o, published_generation(opened), languages);
  const std::string text = inside::page(inside::file_data(*model, reader, question), /*nonce=*/"");
  page.write(text);
  page.commit();
  spdlog::info("{}: {}", o.out, counted(text.size(), "byte"));
  return exit_success;
}

}  // namespace

void add_explain(App& app) {
  auto o = std::make_shared<ExplainOptions>();
  app.add({.name = "explain",
           .summary = "write a web page that shows a pass of a model step by step",
           .description =
               "Writes one self-contained HTML file with every operation of a pass over a text: its formula, shape and "
               "numbers, from the whole model to one dot product, the attention with its masks, the choice of the next "
               "token, what some changes of the pass do, and the search from the text as a tree. It needs no server. "
               "The server shows the same page for any "
               "text at /inside.",
           .examples = {{"tril explain --model de --text \"A dog runs.\" --target \"Ein Hund rennt.\"",
                         "a translation, in inside.html"},
                        {"tril explain -m gpt2 --text \"The cat sat\" --only decoder.0 -o cat.html",
                         "a language model, with the values of its first layer"},
                        {"tril explain -m gpt2 --text \"The cat\" -b 4 --n 2 --regex \"[a-z ]+\"",
                         "with the tree of a beam search whose texts match an expression"}},
           .fields = fields_of(*o),
           .models = {"model", "adapter"},
           .outputs = {"out"},
           .apply_preset = {},
           .run = [o](const Invocation&) { return explain(*o); }});
}

}  // namespace tril::cli
