#include "support/training.h"
#include "train/loop/settle.h"

#include <fstream>
#include <iterator>

namespace tril::test {

LetterTokenizer::LetterTokenizer() {
  pieces_[0] = "</s>", pieces_[1] = "<unk>", pieces_[28] = "<pad>";
  for (int i = 0; i < 26; ++i) pieces_[static_cast<std::size_t>(i + 2)] = std::string(1, static_cast<char>('a' + i));
}

void LetterTokenizer::encode(std::string_view text, Side, std::vector<std::int32_t>& ids) const {
  for (char ch : text) ids.push_back(ch >= 'a' && ch <= 'z' ? ch - 'a' + 2 : 1);
}

std::string LetterTokenizer::decode(std::span<const std::int32_t> ids, Side) const {
  std::string text;
  for (std::int32_t id : ids)
    if (id >= 2 && id < 28) text += pieces_[static_cast<std::size_t>(id)];
  return text;
}

const std::string& LetterTokenizer::piece(std::int32_t id, Side) const {
  return pieces_.at(static_cast<std::size_t>(id));
}

std::optional<std::int32_t> LetterTokenizer::find(std::string_view piece, Side) const {
  for (std::size_t i = 0; i < pieces_.size(); ++i)
    if (pieces_[i] == piece) return static_cast<std::int32_t>(i);
  return std::nullopt;
}

void write_reversals(const TemporaryDirectory& dir, const std::string& prefix, int lines, std::uint64_t seed) {
  RandomSequence random(seed, 7);
  std::string source, target;
  for (int i = 0; i < lines; ++i) {
    std::string word;
    for (std::uint64_t n = 2 + random.below(7); n > 0; --n) word += static_cast<char>('a' + random.below(26));
    source += word + "\n";
    target += std::string(word.rbegin(), word.rend()) + "\n";
  }
  dir.write(prefix + ".src", source);
  dir.write(prefix + ".tgt", target);
}

train::TrainOptions small_options(const TemporaryDirectory& dir, const std::string& model) {
  train::TrainOptions o;
  o.run.model = dir.path(model);
  o.run.threads = 2;
  o.run.disp_freq = {{5, train::Unit::updates}};
  o.data.train_sets = {dir.path("train.src"), dir.path("train.tgt")};
  o.data.max_tokens = 120;
  o.data.max_length = 32;
  o.model.max_positions = 64;
  o.model.d_model = 16, o.model.num_heads = 2, o.model.ffn_dim = 24, o.model.enc_depth = o.model.dec_depth = 1;
  o.model.dropout = 0.1;
  o.learning.learn_rate = 0.01;
  o.learning.warmup = 10;
  o.learning.after = {{20, train::Unit::updates}};
  return o;
}

Trained run_trainer(train::TrainOptions options, const RunSettings& settings) {
  train::settle(options);
  const auto tokenizer = std::make_shared<LetterTokenizer>();
  const std::unique_ptr<model::Model> m = train::build_model(options.model, *tokenizer);
  train::CheckpointStore store(options.run.model, options.run.keep_checkpoints);
  Trained run;
  std::int64_t done = 0;
  train::TrainerHooks hooks;
  hooks.on_update = [&](const train::TrainingReport& r) {
    run.updates.push_back(r);
    ++done;
    if (settings.before_update) settings.before_update(*m, r.position.updates + 1);
  };
  hooks.on_report = [&](const train::TrainingReport& r) { run.reports.push_back(r); };
  hooks.on_validation = [&](const train::ValidationReport& r) { run.validations.push_back(r); };
  hooks.on_save = [&] { ++run.states_saved; };
  hooks.stop = [&] { return settings.stop_after > 0 && done >= settings.stop_after; };
  hooks.save_model = [&] { ++run.models_written; };
  hooks.translate = [](std::span<const std::string> sources) {
    return std::vector<std::string>(sources.begin(), sources.end());
  };
  train::Trainer trainer(options, {*m, tokenizer}, store, hooks);
  run.summary = trainer.run();
  run.weights = host_copy<float>(m->parameters().flat());
  return run;
}

}  // namespace tril::test
