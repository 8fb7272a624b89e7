// Hugging Face directories of the supported families: logits of one forward pass, ragged instead of padded.
#include "model_io/model_source.h"
#include "model_io/registry.h"
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
