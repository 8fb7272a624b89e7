// tril trace: what one pass of a model computes, by name, and what changes if some of it is changed.
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/streams.h"
#include "cli/commands/commands.h"
#include "cli/io/ending_signal.h"
#include "cli/io/standard_output.h"
#include "cli/options/assumed_language.h"
#include "decode/models/decoding_options.h"
#include "decode/models/target_language.h"
#include "format/json_text.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "tokenizer/files/language_tag.h"
#include "trace/question_fields.h"
#include "trace/write.h"

namespace tril::cli {
namespace {

struct TraceOptions {
  DecodingOptions decoding;
  std::string text, target, source_language, target_language;
  trace::QuestionOptions question;
  std::string json, npz, safetensors;
};

Fields fields_of(TraceOptions& o) {
  Fields f, of_model;
  of_model.group("Model");
  add_model_fields(of_model, o.decoding);
  f.include(of_model, {"model", "adapter", "precision"});  // a pass is short: it has one thread
  f.group("Text");
  f.add("text", &o.text, "text that the model reads: the source of a translation, or the beginning of a text")
      .value_name("TEXT")
      .required();
  f.add("target", &o.target,
        "text that should follow: the translation, or the rest of the text; unset: the decoder reads its start token "
        "alone, or the loss counts the text itself")
      .value_name("TEXT");
  add_language_fields(f, o.source_language, o.target_language);
  f.group("Changes");
  add_change_fields(f, o.question);
  f.group("Analyses");
  add_analysis_fields(f, o.question.analyses);
  f.group("Output");
  add_value_fields(f, o.question);
  f.add("json", &o.json, "output file for tokens, analyses and values; - is standard output").value_name("FILE");
  f.add("npz", &o.npz, "output file for the values as NumPy arrays").value_name("FILE");
  f.add("safetensors", &o.safetensors, "output file for the values as safetensors").value_name("FILE");
  return f;
}

trace::Question question_of(const TraceOptions& o, const Tokenizer& tokenizer) {
  const Languages languages =
      choose_languages(tokenizer, o.source_language, o.target_language, "--source-language", "--target-language");
  warn_of_assumed_language(o.decoding.model, tokenizer, languages);
  trace::Question q = question_of(o.question, o.text, o.target, languages);
  const bool has_file = (!o.json.empty() && !o.question.analyses.any()) || !o.npz.empty() || !o.safetensors.empty();
  if (q.only.empty() && has_file) q.only = {"*"};
  return q;
}

// Gradients need each weight by itself in float32, as training has them.
std::unique_ptr<model::Model> loaded(const model::ModelSource& opened, const TraceOptions& o, const Fields& fields) {
  if (!o.question.gradients) return load_model(opened, o.decoding);
  for (const char* name : {"precision", "adapter"})
    if (fields.given(name))
      fail_usage(fmt::format("--{}", name), "is not for gradients, which need the model's own weights in float32",
                 "leave it or --gradients out");
  return model::load(opened);
}

// The names and shapes of the kept values, and what edits change.
void print_summary(const trace::Answer& a, const nlohmann::ordered_json& about) {
  std::string text;
  for (const trace::Value& v : a.trace.values()) {
    text += fmt::format("{:<48} ", v.name);
    for (std::size_t i = 0; i < v.shape.size(); ++i) text += fmt::format("{}{}", i ? " x " : "", v.shape[i]);
    text += '\n';
  }
  if (about.contains("loss")) text += fmt::format("loss {:.6f}\n", about["loss"].get<double>());
  if (about.contains("change")) {
    const nlohmann::ordered_json& change = about["change"];
    if (change.contains("loss_before"))
      text += fmt::format("loss without the changes {:.6f}\n", change["loss_before"].get<double>());
    double most = 0;
    std::int64_t other = 0;
    for (const auto& token : change["tokens"]) {
      most = std::max(most, token["largest_logit_difference"].get<double>());
      if (token["best_before"] != token["best_after"]) ++other;
    }
    text += fmt::format("largest difference of a logit {:.6g}, another best token at {} of {} places\n", most, other,
                        change["tokens"].size());
    if (change.contains("text_before"))
      text += fmt::format("without: {}\nwith:    {}\n", change["text_before"].get<std::string>(),
                          change["text_after"].get<std::string>());
  }
  write_stdout(text);
}

int trace_text(const TraceOptions& o, const Fields& fields) {
  const EndingSignal ending;
  if (o.question.analyses.any() && o.json.empty())
    fail_usage("--json", "no file is given for the analyses", "pass --json FILE, or - for standard output");
  check_options(o.question);
  std::optional<OutputFile> json;
  if (!o.json.empty()) json.emplace(o.json);  // opened first, so that an unwritable path is reported at once
  const auto opened = model::ModelSource::open(o.decoding.model);
  const std::unique_ptr<model::Model> model = loaded(opened, o, fields);
  const std::shared_ptr<const Tokenizer> tokenizer = opened.tokenizer();
  const trace::TextReader reader(*model, tokenizer);
  const trace::Answer a = trace::answer(*model, reader, question_of(o, *tokenizer));
  nlohmann::ordered_json about = about_json(*model, reader, a);
  if (!o.npz.empty()) trace::write_npz(o.npz, a.trace);
  if (!o.safetensors.empty()) trace::write_safetensors(o.safetensors, a.trace, json_text(about));
  if (o.json != "-") print_summary(a, about);
  if (json) {
    about.update(analyses_json(*model, reader, a.input, o.question.analyses));
    about["values"] = trace::values_json(a.trace);
    json->write(json_text(about) + "\n");
    json->commit();
  }
  return exit_success;
}

}  // namespace

void add_trace(App& app) {
  auto o = std::make_shared<TraceOptions>();
  app.add(
      {.name = "trace",
       .summary = "show or change what a model computes in one pass",
       .description =
           "Runs one pass over a text and keeps the values at named points: embeddings, and by layer queries, keys, "
           "values, scores, weights, heads, the contribution of each sublayer, the residual stream; then the logits. "
           "Edits change values on their way, and the changed logits, loss and text are compared with those of a plain "
           "pass. docs/trace.md lists the points and the edits.",
       .examples = {{"tril trace --model gpt2 --text \"The cat sat\" --only \"*.weights\" --npz weights.npz",
                     "the attention weights of all layers and heads"},
                    {"tril trace -m gpt2 --text \"The cat sat\" --edit \"decoder.3.self.heads[2]=zero\" --new-tokens 8",
                     "without one head"}},
       .fields = fields_of(*o),
       .models = {"model", "adapter"},
       .outputs = {"json", "npz", "safetensors"},
       .apply_preset = {},
       .run = [o](const Invocation& i) { return trace_text(*o, i.fields); }});
}

}  // namespace tril::cli
