#include "model_io/grow_vocabulary.h"

#include <algorithm>

#include "base/error.h"

namespace tril::model {

namespace {

// rows [V, D], or a bias [1, V] as rows of one value; `values` has the new size, and its first `old_rows` rows are set.
void fill_new_rows(std::vector<float>& values, std::size_t width, std::size_t old_rows, const NewWords& words) {
  const auto mean = [&](auto begin, auto end, std::size_t column) {
    double sum = 0;
    for (auto row = begin; row != end; ++row)
      sum += static_cast<double>(values[static_cast<std::size_t>(*row) * width + column]);
    return static_cast<float>(sum / static_cast<double>(end - begin));
  };
  std::vector<std::int32_t> all(old_rows);
  for (std::size_t i = 0; i < old_rows; ++i) all[i] = static_cast<std::int32_t>(i);
  for (std::size_t word = 0; word < words.parts.size(); ++word) {
    const std::vector<std::int32_t>& parts = words.parts[word].empty() ? all : words.parts[word];
    const std::size_t row = static_cast<std::size_t>(words.first_id) + word;
    for (std::size_t column = 0; column < width; ++column)
      values[row * width + column] = mean(parts.begin(), parts.end(), column);
  }
}

std::int64_t grown(std::int64_t rows, const NewWords& words) {
  return std::max<std::int64_t>(rows, words.first_id + static_cast<std::int64_t>(words.parts.size()));
}

}  // namespace

std::unique_ptr<Marian> with_more_words(const Marian& old, const NewWords& source, const NewWords& target) {
  MarianConfig config = old.config();
  const std::int64_t old_source = config.vocab_size, old_target = config.decoder_vocab_size;
  check(source.first_id <= old_source && target.first_id <= old_target, "vocabulary",
        "new ids from {} and {} do not follow the model's {} and {} words", source.first_id, target.first_id,
        old_source, old_target);
  config.vocab_size = grown(old_source, source);
  config.decoder_vocab_size = grown(old_target, target);
  auto model = std::make_unique<Marian>(config);
  model->parameters().allocate();
  for (const nn::Parameter& before : old.parameters().all()) {
    nn::Parameter& after = *model->parameters().find(before.name);
    std::vector<float> values = host_copy<float>(before.value);
    // Only the embeddings, the output matrix and its bias depend on the vocabulary.
    const bool bias = before.name == "final_logits_bias", output = bias || before.name == "lm_head.weight";
    const bool of_source = before.name == "model.shared.weight" || before.name == "model.encoder.embed_tokens.weight";
    const bool of_target = output || before.name == "model.decoder.embed_tokens.weight";
    if (of_source || of_target) {
      const auto old_rows = static_cast<std::size_t>(of_source ? old_source : old_target);
      values.resize(static_cast<std::size_t>(after.shape.count()));
      fill_new_rows(values, bias ? 1 : static_cast<std::size_t>(config.d_model), old_rows, of_source ? source : target);
    }
    host_write<float>(after.value, values);
  }
  model->parameters().refresh(kern::best());
  return model;
}

}  // namespace tril::model
