// Translates documents with one model, one after the other.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cli/commands/document_job.h"
#include "cli/commands/line_translator.h"
#include "cli/io/stop_signal.h"
#include "decode/texts/translator.h"

namespace tril::cli {

/// What all documents have in common.
struct DocumentSetup {
  std::function<std::unique_ptr<const search::TranslationText>()> make_text;
  search::TranslatorOptions plain, with_links;  ///< the latter records attention, which places marks
  LineForm form;                                ///< its `split` says how sentences are cut
  std::string work;                             ///< see DocumentJob::Run
  std::size_t window;
  bool progress;
};

class DocumentTranslator {
 public:
  /// All arguments must outlive it.
  DocumentTranslator(DocumentSetup setup, const LineLanguages& languages, const StopSignal& stop)
      : setup_(std::move(setup)), languages_(languages), stop_(stop) {}

  /// @return the number of sentences, 0 or more; -1 if it was stopped
  std::int64_t translate(const DocumentPlan& plan);
  /// Warns about sentences, as warn_of_lines().
  void report(const model::Model& model) const;

 private:
  // A translator keeps the memory of its sessions from document to document.
  struct Tool {
    Tool(const DocumentSetup& setup, const search::TranslatorOptions& options, const LineLanguages& languages,
         std::stop_token stop)
        : translator(setup.make_text(), options), lines(setup.form, languages, translator, std::move(stop)) {}
    search::Translator translator;
    LineTranslator lines;
  };

  DocumentSetup setup_;
  const LineLanguages& languages_;
  const StopSignal& stop_;
  std::unique_ptr<const search::TranslationText> text_;  ///< counts tokens
  std::unique_ptr<Tool> plain_, with_links_;
};

}  // namespace tril::cli
