// A generator with settled options. One thread uses it at a time.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "arguments.h"
#include "background.h"
#include "decode/models/constraint_fields.h"
#include "decode/texts/generator.h"
#include "hypotheses.h"
#include "loaded.h"

namespace tril::python {

struct GenerateOptions {
  DecodingOptions decoding;
  ConstraintOptions constraint;
  std::optional<std::int64_t> logprobs;
  bool scores = false, deterministic = false;
};
Fields fields_of(GenerateOptions& o);

/// The continuations of one prompt.
struct TextGeneration {
  std::string text;
  std::vector<std::shared_ptr<Hypothesis>> hypotheses;
};

/// Prompts as texts, or texts of a chat template, whose special tokens are spelt out.
struct Prompts {
  std::vector<std::string> texts;
  bool of_template = false;
};

class ReadyGenerator {
 public:
  ReadyGenerator(std::shared_ptr<const Loaded> loaded, const std::vector<const Arguments*>& given);

  std::vector<std::shared_ptr<TextGeneration>> generate(const Prompts& prompts, const std::stop_token& stop);

  /// Begins to generate the text of one prompt; next_piece() gives it.
  void begin(Prompts prompt);
  /// The next piece of the text; nothing at its end. The caller holds the interpreter's lock, which others may have meanwhile.
  std::optional<std::string> next_piece();
  /// Ends the text that was begun.
  void end() { background_.stop(); }

 private:
  void make();
  std::vector<std::vector<search::Generation>> continued(const Prompts& prompts, const search::OnText& on_text,
                                                         const std::stop_token& stop);

  std::shared_ptr<const Loaded> loaded_;
  GenerateOptions options_;
  Fields fields_;
  search::GeneratorOptions settled_;
  Shown shown_;
  std::size_t window_ = 1;
  std::mutex mutex_;
  std::condition_variable grown_;
  std::deque<std::string> pieces_;
  bool ended_ = true;      ///< no further piece comes
  Background background_;  ///< last: its thread ends before what it uses
};

}  // namespace tril::python
