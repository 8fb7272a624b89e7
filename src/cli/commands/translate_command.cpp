// tril translate: translates lines of text, keeping their order.
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <memory>
#include <optional>

#include "base/file.h"
#include "base/log.h"
#include "base/progress.h"
#include "cli/commands/commands.h"
#include "cli/commands/document_options.h"
#include "cli/commands/document_translator.h"
#include "cli/commands/line_translator.h"
#include "cli/commands/translated_lines.h"
#include "cli/commands/translation_setup.h"
#include "cli/commands/watch_documents.h"
#include "cli/corpus_work/corpus_work.h"
#include "cli/io/line_stream.h"
#include "cli/io/matching_lines.h"
#include "cli/io/partial_output.h"
#include "cli/io/stop_signal.h"
#include "cli/options/corpus_options.h"
#include "cli/options/model_identity.h"
#include "decode/models/language_pair.h"

namespace tril::cli {
namespace {

struct TranslateOptions : TranslationSetup {
  DocumentFields documents;
  std::string input = "-", output = "-";
  std::optional<std::string> target_prefix;
  bool json = false, skip_invalid = false;
  CorpusOptions corpus;
};

Fields fields_of(TranslateOptions& o) {
  Fields f;
  f.group("Model");
  add_model_fields(f, o.decoding);
  f.group("Text");
  add_document_fields(f, o.documents);
  f.add("input", &o.input, "text to translate, line by line (see --split), plain or gzip; - is standard input")
      .letter('i')
      .value_name("FILE")
      .free_to_change();
  f.add("output", &o.output, "output file for the translations; - is standard output, written line by line")
      .letter('o')
      .value_name("FILE")
      .free_to_change();
  add_language_fields(f, o.source_language, o.target_language);
  add_language_pair_field(f, o.languages);
  add_split_fields(f, o.split);
  f.add("target-prefix", &o.target_prefix,
        "file with the beginning of each translation, one line per line of text, possibly empty; after a final space a "
        "new word begins")
      .value_name("FILE");
  add_term_fields(f, o.terms);
  add_n_best_field(f, o);
  f.add("skip-invalid", &o.skip_invalid, "treat a line that is not UTF-8 as empty");
  f.add("json", &o.json, "print a JSON object for each line, with scores");
  f.group("Language models");
  add_prompt_fields(f, o.prompt);
  f.group("Large texts");
  add_corpus_fields(f, o.corpus);
  add_attention_fields(f, o);
  add_translation_search_fields(f, o);
  add_document_rules(f);
  add_translation_rules(f);
  return f;
}

// Everything that affects the translation of a shared text, and must be the same in all processes.
WorkPlan work_plan(const TranslateOptions& o, const Fields& fields, const std::string& directory) {
  WorkPlan plan{.directory = directory,
                .input = o.input,
                .target_prefix = o.target_prefix,
                .output = o.corpus.keep_blocks ? "" : o.output,
                .block_lines = o.corpus.block_lines,
                .skip_invalid = o.skip_invalid,
                .temporary = !o.corpus.work_dir,
                .options = {},
                .contents = {}};
  for (const Field& field : fields)
    if (!field.is_free_to_change()) plan.options.emplace_back(field.name(), field.text());
  const auto add = [&](const char* name, const std::string& path) {
    if (!path.empty()) plan.contents.emplace_back(name, directory_identity(path));
  };
  add("model", o.decoding.model);
  add("adapter", o.decoding.adapter);
  std::string models;
  for (const std::string& path : o.others.models) models += (models.empty() ? "" : " ") + directory_identity(path);
  if (!models.empty()) plan.contents.emplace_back("models", models);
  add("draft-model", o.others.draft_model);
  add("draft-heads", o.others.draft_heads);
  for (const auto& [name, path] : term_files(o.terms)) add(name.c_str(), path);
  add("shortlist", o.shortlist.empty() || o.shortlist[0] == "none" ? "" : o.shortlist[0]);
  return plan;
}

// How a text is translated as a stream.
struct StreamPlan {
  std::size_t window;  ///< lines at a time
  Passage passage;
  bool quiet;
};

// Translates the text as a stream, in this process alone. @return the number of lines that were not UTF-8; none: stopped
std::optional<std::int64_t> translate_stream(const TranslateOptions& o, const StreamPlan& plan,
                                             LineTranslator& lines_to_text, const search::Translator& translator,
                                             const StopSignal& stop) {
  const std::size_t window = plan.window;
  const Passage& passage = plan.passage;
  LineStream lines(o.input, 2 * window, {.skip_invalid = o.skip_invalid, .refuse_empty = false}, passage);
  std::optional<MatchingLines> prefixes;
  if (o.target_prefix) prefixes.emplace(*o.target_prefix, 2 * window, passage);
  PartialOutput output(o.output, stop.token());
  Progress progress({.label = "line",
                     .rate_unit = "tokens",
                     .enabled = !plan.quiet && stderr_is_terminal() && (o.output != "-" || isatty(STDOUT_FILENO) == 0),
                     .seconds = {},
                     .write = {}});
  std::int64_t number = passage.first;
  const auto next = [&] { return lines.next(window, stop.token()); };
  for (std::vector<std::string> texts = next(); !texts.empty() && !stop.came(); texts = next()) {
    output.write(
        lines_to_text.translate(texts, prefixes ? prefixes->next(texts.size()) : std::vector<std::string>{}, number));
    number += std::ssize(texts);
    progress.update(number - passage.first, {.before = {}, .after = {}, .amount = translator.target_tokens()});
  }
  progress.finish();
  if (stop.came()) {
    spdlog::warn("stopped; lines in {}: {}{}", output.leave(), format_count(lines_to_text.lines()),
                 o.json ? "" : ", all before the first unfinished one; --json also keeps finished lines after it");
    return std::nullopt;
  }
  if (prefixes) prefixes->check_end();
  output.commit();
  return lines.invalid();
}

// Throws Error(usage) for what has no meaning for a line in parts.
void check_split(const TranslateOptions& o) {
  if (o.split.split == Split::none) {
    check(o.split.language.empty(), "--split-language", "has an effect only with --split sentences");
    return;
  }
  if (o.target_prefix) fail_usage("--target-prefix", "has no meaning for the parts of a line", "leave out --split");
  if (o.json) return;
  if (o.decoding.search.n_best > 1)
    fail_usage("--n-best", "gives translations of each part of a split line", "pass --json, or leave out --split");
  if (!o.alignment.alignment.empty())
    fail_usage("--alignment", "is that of each part of a split line", "pass --json, or leave out --split");
}

// Everything that affects the translation of a document.
std::string work_of_document(const TranslateOptions& o, const Fields& fields) {
  const WorkPlan plan = work_plan(o, fields, "");
  std::string work;
  for (const auto* list : {&plan.options, &plan.contents})
    for (const auto& [name, value] : *list) work += name + "=" + value + "\n";
  return work;
}

int translate(const TranslateOptions& o, const Fields& fields, bool quiet) {
  check_split(o);
  DocumentPlan plan = document_plan(o.documents, o.output);
  plan.source_language = o.source_language, plan.target_language = o.documents.to.value_or(o.target_language);
  if (o.documents.document) plan = checked(plan);
  if (o.documents.watch) check_watch({plan, o.json});
  const dist::Launch ranks = dist::launch_of_environment();
  const std::optional<std::string> together = work_directory(o.corpus, ranks, o.input, o.target_prefix, o.output);
  const Passage passage = passage_of(o.corpus, o.input, o.target_prefix);
  if (!together && !o.documents.any()) check_output(o.output);
  const StopSignal stop;
  const LoadedModel loaded(o.decoding);
  const std::unique_ptr<model::Model>& model = loaded.model;
  check_kind(fields, *model);
  if (together && o.prompt.context > 0)
    fail_usage("--context", "the blocks of a text that several processes translate have no order", "leave it out");
  const ModelSet others(o.others, o.decoding, *model, loaded.tokenizer.get());
  const SettledTranslation settled = settle(o, loaded, others, o.json, o.documents.to);
  const LineLanguages& languages = settled.languages;
  const search::TranslatorOptions& options = settled.options;
  LineForm form{.json = o.json,
                .n_best = o.decoding.search.n_best,
                .terms = o.terms.has_terms(),
                .memory = settled.memory,
                .alignment = o.alignment,
                .split = split_options(o.split, languages.given, o.target_language, settled.stated)};
  const std::size_t window = lines_at_a_time(options.decoding.batch_size, options.decoding.threads);
  const auto warn_of_sources = [&] {
    if (languages.sources && languages.sources->uncertain() > 0)
      spdlog::warn("lines whose language is uncertain, translated as if they were in the likeliest one: {}",
                   format_count(languages.sources->uncertain()));
  };
  if (o.documents.any()) {
    form.split.split = Split::sentences;
    if (languages.sources || plan.source_language.empty())
      plan.source_language = languages.sources ? "" : form.split.source_language;
    search::TranslatorOptions with_links = options;
    if (model->has_encoder()) with_links.decoding.search.attention = attention_heads(o.alignment, *model, true);
    DocumentTranslator documents({.make_text = [&] { return make_text(o, loaded); },
                                  .plain = options,
                                  .with_links = with_links,
                                  .form = form,
                                  .work = work_of_document(o, fields),
                                  .window = sentences_at_a_time(model->parameters().count(),
                                                                options.decoding.batch_size, options.decoding.threads),
                                  .progress = !quiet && stderr_is_terminal()},
                                 languages, stop);
    if (o.documents.watch)
      watch_documents({plan, o.json}, documents, stop);
    else if (documents.translate(plan) < 0)
      return exit_failure;
    documents.report(*model);
    warn_of_sources();
    return exit_success;
  }
  search::Translator translator(make_text(o, loaded), options);
  LineTranslator lines(form, languages, translator, stop.token());
  std::int64_t invalid = 0;
  if (together) {
    const CorpusResult result =
        work_on_corpus({.plan = work_plan(o, fields, *together),
                        .ranks = ranks,
                        .window = window,
                        .progress = !quiet && stderr_is_terminal() && ranks.rank == 0,
                        .translate = [&](const auto& texts, const auto& prefixes,
                                         std::int64_t first) { return lines.translate(texts, prefixes, first); }},
                       stop);
    if (!result.complete) return exit_failure;
    invalid = result.invalid;
  } else {
    const std::optional<std::int64_t> done = translate_stream(o, {window, passage, quiet}, lines, translator, stop);
    if (!done) return exit_failure;
    invalid = *done;
  }
  report_speculation(translator.speculation());
  warn_of_lines(translator, lines.tally(), *model, invalid);
  warn_of_sources();
  return exit_success;
}

}  // namespace

void add_translate(App& app) {
  auto o = std::make_shared<TranslateOptions>();
  app.add({.name = "translate",
           .summary = "translate text, line by line, or a document",
           .description =
               "Takes any model that `tril families` lists. A language model gets each line in a prompt; text around "
               "the translation in its answer is removed. Options override the model's generation_config.json. An "
               "empty line stays empty. A line is one sentence, unless --split says otherwise. In a document, only the "
               "text changes; if the command is stopped, running it again continues the translation.",
           .examples = {{"tril translate -m de notes.md --to de", "a document, to notes.de.md"},
                        {"tril translate -m de --watch docs --to de", "each document that appears in a directory"},
                        {"tril translate --model de -i test.en -o test.de", "a file"},
                        {"echo \"A dog runs.\" | tril translate -m de -b 8 --n-best 8",
                         "the eight best translations, with scores"},
                        {"tril translate -m de -b 1 --json < test.en", "greedy, as JSON lines"},
                        {"tril translate -m de --split sentences < letter.txt", "paragraphs, sentence by sentence"},
                        {"tril translate -m tencent/Hunyuan-MT-7B --source-language en --target-language de -i test.en",
                         "with a language model"},
                        {"mpirun -n 8 tril translate -m de -i test.en -o test.de", "a large file, by eight processes"}},
           .fields = fields_of(*o),
           .reads_config = true,
           .models = {"model", "adapter", "models", "draft-model", "draft-heads"},
           .outputs = {"output"},
           .apply_preset = {},
           .run = [o](const Invocation& invocation) { return translate(*o, invocation.fields, invocation.quiet); }});
}

}  // namespace tril::cli
