// Hugging Face directories of the families that are read: logits of one forward pass, ragged instead of padded.
#include "model/registry.h"
#include "support/golden.h"

namespace tril::test {
namespace {

class GoldenHf : public ::testing::TestWithParam<const char*> {};

TEST_P(GoldenHf, Logits) {
  const std::filesystem::path dir = std::filesystem::path(TRIL_TEST_DIR) / "golden/hf" / GetParam();
  const auto m = model::load(dir);
  const SafetensorsFile expected = SafetensorsFile::open((dir / "expected.safetensors").string());
  const auto source = to_i32(expected.at("input_ids")), allow = to_i32(expected.at("attention_mask")), target = to_i32(expected.at("decoder_input_ids"));
  const std::int64_t B = expected.at("input_ids").shape[0], S = expected.at("input_ids").shape[1], T = expected.at("decoder_input_ids").shape[1];
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

INSTANTIATE_TEST_SUITE_P(Families, GoldenHf, ::testing::Values("marian", "marian_split_vocab"));

}  // namespace
}  // namespace tril::test
