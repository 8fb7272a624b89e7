// Translates one document for `tril translate FILE`: reads it, translates it window by window, and writes the result.
//
// Finished sentences go to a file OUTPUT.part, so that the same command continues a run that was stopped or killed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/io/stop_signal.h"
#include "decode/texts/translation_text.h"
#include "document/segments/document_sentences.h"

namespace tril::cli {

struct DocumentPlan {
  std::string input, output;
  std::string source_language = {}, target_language = {};  ///< in any form; "": not known
  std::vector<std::string> columns = {};                   ///< see document::DocumentOptions
  std::string separator = {};
};

/// Checks a plan before long work. @param plan  output "-": beside the input, under a name with the target language
/// @return the plan with the name of the output
/// @throws Error(usage) if it has none, or if the format of the document is unknown
DocumentPlan checked(DocumentPlan plan);

class DocumentJob {
 public:
  /// Reads the document. @param options  used only here
  /// @throws Error if its bytes are not of its format
  DocumentJob(DocumentPlan plan, const SegmentOptions& options);

  /// True if its translation needs attention weights.
  bool has_marks() const { return sentences_.any_marks(); }
  std::int64_t sentences() const { return static_cast<std::int64_t>(sentences_.size()); }

  struct Run {
    /// The best translation of each text; fewer if the search was stopped. @param first  the number of the first text
    std::function<std::vector<search::Translation>(const std::vector<std::string>& texts, std::int64_t first)>
        translate;
    /// Called first. @param texts  the sentences that an earlier run has translated
    std::function<void(const std::vector<std::string>& texts)> continue_after;
    const Tokenizer& tokenizer;
    std::string work;    ///< everything that affects the translations; a .part of other work is not continued
    std::size_t window;  ///< sentences at a time
    bool progress;
  };
  /// Translates and writes it. @return false if it was stopped
  bool run(const Run& run, const StopSignal& stop);

 private:
  std::string part_path() const { return plan_.output + ".part"; }
  std::string header(const std::string& work) const;
  void read_part(const std::string& header);

  DocumentPlan plan_;
  std::string bytes_;
  std::unique_ptr<document::Document> document_;
  document::DocumentSentences sentences_;
  std::vector<document::Translated> done_;
};

/// The target language in the form that the model takes; "" for a model of one language pair.
/// @param stated  the language into which the model translates; "": not known
/// @throws Error(usage) if that is another one
std::string target_in_vocabulary(const std::string& to, const Tokenizer& tokenizer, const std::string& stated);

/// Maximum size of a document in bytes.
inline constexpr std::uint64_t most_document_bytes = std::uint64_t{64} << 20;

}  // namespace tril::cli
