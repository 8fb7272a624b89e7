// Shared by the training tests: a tokenizer without files, small corpora, and runs of the trainer from start to
// end.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/file_text.h"
#include "support/temporary.h"
#include "train/loop/build_model.h"
#include "train/loop/trainer.h"

namespace tril::test {

/// Lower-case letters are the ids 2 to 27, "</s>" 0, "<unk>" 1, "<pad>" 28.
class LetterTokenizer : public Tokenizer {
 public:
  LetterTokenizer();
  using Tokenizer::decode;
  using Tokenizer::encode;
  void encode(std::string_view text, Side side, std::vector<std::int32_t>& ids) const override;
  std::string decode(std::span<const std::int32_t> ids, Side side) const override;
  const std::string& piece(std::int32_t id, Side side) const override;
  std::optional<std::int32_t> find(std::string_view piece, Side side) const override;
  std::int32_t size(Side) const override { return 29; }
  const tril::SpecialIds& special(Side) const override { return special_; }
  bool shared_vocabulary() const override { return true; }
  std::int32_t model_max_length() const override { return 64; }
  std::vector<TokenizerFile> files() const override { return {}; }

 private:
  std::array<std::string, 29> pieces_;
  SpecialIds special_ = [] {
    SpecialIds s;
    s.eos = 0, s.unk = 1, s.pad = s.decoder_start = 28;
    return s;
  }();
};

/// Pairs of random words and the same words in reverse, as two files "src" and "tgt" (with a prefix) in `dir`.
void write_reversals(const TemporaryDirectory& dir, const std::string& prefix, int lines, std::uint64_t seed);

/// Options of a model that trains in milliseconds on the files train.src, train.tgt, valid.src, valid.tgt of `dir`.
train::TrainOptions small_options(const TemporaryDirectory& dir, const std::string& model = "model");

/// One run from its start, or from its directory's checkpoint, to its end.
struct Trained {
  std::vector<float> weights;
  train::TrainingSummary summary;
  std::vector<train::TrainingReport> updates, reports;
  std::vector<train::ValidationReport> validations;
  int models_written = 0, states_saved = 0;
};
struct RunSettings {
  std::int64_t stop_after = 0;                                            ///< updates of this process; 0: none
  std::function<void(model::Model&, std::int64_t update)> before_update;  ///< to spoil the model
};
Trained run_trainer(train::TrainOptions options, const RunSettings& settings = {});

}  // namespace tril::test
