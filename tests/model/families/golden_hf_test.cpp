// Hugging Face directories of the supported families: logits of one forward pass, ragged instead of padded.
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "support/golden.h"

namespace tril::test {
namespace {

void expect_logits(const std::filesystem::path& dir) {
  const auto m = model::load(model::ModelSource::open(dir));
  const SafetensorsFile expected = SafetensorsFile::open((dir / "expected.safetensors").string());
  const auto source = to_i32(expected.at("input_ids")), allow = to_i32(expected.at("attention_mask")),
             target = to_i32(expected.at("decoder_input_ids"));
  const std::int64_t B = expected.at("input_ids").shape[0], S = expected.at("input_ids").shape[1],
                     T = expected.at("decoder_input_ids").shape[1];
  std::vector<std::int32_t> ids, lengths;
  for (std::int64_t b = 0; b < B; ++b) {
    std::int32_t n = 0;
    for (std::int64_t s = 0; s < S; ++s)
      if (allow[std::size_t(b * S + s)]) ids.push_back(source[std::size_t(b * S + s)]), ++n;
    lengths.push_back(n);
  }
  for (const kern::Kernels* kernels : kern::tables()) {
    SCOPED_TRACE(kernels->name);
    Arena arena;
    Context c(arena, *kernels);
    const model::Memory memory = m->encode(c, ids, Rows::of_lengths(lengths));
    const Tensor y = logits(c, *m, m->decode(c, {.ids = target, .rows = Rows::rectangle(B, T), .memory = &memory}));
    expect_close("logits", host_copy<float>(y), to_f32(expected.at("logits")), 1e-4, 1e-4);
  }
}

// A loop instead of test parameters: the cases of another directory are not known when tests are listed.
TEST(GoldenHf, Logits) {
  const auto directories = golden_model_directories("encoder-decoder");
  if (directories.empty() && other_golden_directory()) GTEST_SKIP() << "no model in " << golden_directory();
  ASSERT_FALSE(directories.empty()) << "no model in " << golden_directory();
  for (const auto& dir : directories) {
    SCOPED_TRACE(dir.string());
    expect_logits(dir);
  }
}

// Rows of a decoder's case, which are padded on the left; the logits of padding are not compared.
void expect_decoder_logits(const SafetensorsFile& expected, const model::Model& m, const std::string& prefix) {
  const auto ids = to_i32(expected.at(prefix + "input_ids")), mask = to_i32(expected.at(prefix + "attention_mask"));
  const std::vector<float> all = to_f32(expected.at(prefix + "logits"));
  const auto T = static_cast<std::size_t>(expected.at(prefix + "input_ids").shape[1]), V = all.size() / ids.size();
  std::vector<std::int32_t> tokens, lengths(ids.size() / T, 0);
  std::vector<float> wanted;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (!mask[i]) continue;
    tokens.push_back(ids[i]), ++lengths[i / T];
    wanted.insert(wanted.end(), all.begin() + static_cast<std::ptrdiff_t>(i * V),
                  all.begin() + static_cast<std::ptrdiff_t>((i + 1) * V));
  }
  for (const kern::Kernels* kernels : kern::tables()) {
    SCOPED_TRACE(kernels->name);
    Arena arena;
    Context c(arena, *kernels);
    const Tensor y = logits(c, m, m.decode(c, {.ids = tokens, .rows = Rows::of_lengths(lengths)}));
    expect_close(prefix + "logits", host_copy<float>(y), wanted, 1e-4, 1e-4);
  }
}

TEST(GoldenHf, LogitsOfDecoders) {
  const auto directories = golden_model_directories("decoder-only");
  if (directories.empty() && other_golden_directory()) GTEST_SKIP() << "no model in " << golden_directory();
  ASSERT_FALSE(directories.empty()) << "no model in " << golden_directory();
  for (const auto& dir : directories) {
    SCOPED_TRACE(dir.string());
    const auto m = model::load(model::ModelSource::open(dir));
    const SafetensorsFile expected = SafetensorsFile::open((dir / "expected.safetensors").string());
    for (const std::string prefix : {"", "batch_"})
      if (expected.find(prefix + "input_ids")) expect_decoder_logits(expected, *m, prefix);
  }
}

// Tests skip the kinds that another directory lacks; a directory without any case is a mistake.
TEST(GoldenDirectory, HasCases) {
  std::size_t cases =
      golden_model_directories("encoder-decoder").size() + golden_model_directories("decoder-only").size();
  for (const char* kind : {"tiny_decoder", "learned_position_decoder", "full_transformer", "padded_decoder",
                           "multi_head_attention", "linear_attention", "losses", "training_steps"})
    cases += golden_files(kind).size();
  EXPECT_GT(cases, 0u) << "no case in " << golden_directory();
}

}  // namespace
}  // namespace tril::test
