#include "model_io/exports/grow_vocabulary.h"

#include <algorithm>

#include "base/element.h"
#include "base/error.h"

namespace tril::model {

namespace {

// `values` are rows [V, width], or a bias [1, V] as rows of one value. They have the new size; the first `old_rows` rows are
// set.
void fill_new_rows(std::span<float> values, std::int64_t width, std::int64_t old_rows, const NewWords& words) {
  const auto mean = [&](const std::vector<std::int32_t>& rows, std::int64_t column) {
    double sum = 0;
    for (const std::int32_t row : rows) sum += static_cast<double>(element(values, row * width + column));
    return static_cast<float>(sum / static_cast<double>(rows.size()));
  };
  std::vector<std::int32_t> all;
  for (std::int32_t i = 0; i < old_rows; ++i) all.push_back(i);
  std::int64_t row = words.first_id;
  for (const std::vector<std::int32_t>& parts : words.parts) {
    for (std::int64_t column = 0; column < width; ++column)
      element(values, row * width + column) = mean(parts.empty() ? all : parts, column);
    ++row;
  }
}

std::int64_t grown(std::int64_t rows, const NewWords& words) {
  return std::max<std::int64_t>(rows, words.first_id + std::ssize(words.parts));
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
      values.resize(static_cast<std::size_t>(after.shape.count()));
      fill_new_rows(values, bias ? 1 : config.d_model, of_source ? old_source : old_target,
                    of_source ? source : target);
    }
    host_write<float>(after.value, values);
  }
  model->parameters().refresh(kern::best());
  return model;
}

}  // namespace tril::model
