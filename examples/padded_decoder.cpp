// The decoder as it is often taught: 6 layers, d_model 512, 8 heads, feed-forward 2048, a vocabulary of 10,000, on a
// rectangular batch with a padding id. The program counts its parameters, computes its logits (2, 10, 10000), and
// prints its masks as pictures, in both common conventions.
#include <fmt/format.h>

#include <cmath>

#include "tril/lab.h"

namespace {

using namespace tril;

constexpr std::int64_t batch = 2, length = 10, source_length = 12;
constexpr std::int32_t pad = 0;

/// Row 0 is full, row 1 ends with three padding tokens.
std::vector<std::int32_t> padded_ids() {
  std::vector<std::int32_t> ids;
  for (std::int32_t t = 0; t < length; ++t) ids.push_back(100 + t);
  for (std::int32_t t = 0; t < length; ++t) ids.push_back(t < length - 3 ? 200 + t : pad);
  return ids;
}

void show_masks(Context& c) {
  const Tensor allow = model::causal_mask(c, length);
  fmt::print("causal mask, a line a query, a column a key ('#': the query sees the key)\n{}\n",
             model::mask_picture(allow));

  // The same mask in the convention in which 1 means "blocked". The picture is the same, since the convention is given.
  using enum model::MaskConvention;
  const Tensor blocked = model::causal_mask(c, length, one_is_blocked);
  fmt::print("as numbers, query 2 of both conventions:\n  1 may attend  ");
  for (std::int64_t k = 0; k < length; ++k)
    fmt::print(" {}", host_copy<std::uint8_t>(allow)[static_cast<std::size_t>(2 * length + k)]);
  fmt::print("\n  1 is blocked  ");
  for (std::int64_t k = 0; k < length; ++k)
    fmt::print(" {}", host_copy<std::uint8_t>(blocked)[static_cast<std::size_t>(2 * length + k)]);
  fmt::print("\n\n");
  check(model::mask_picture(blocked, one_is_blocked) == model::mask_picture(allow), "masks", "the pictures differ");
  check(host_copy<std::uint8_t>(model::flip_mask(c, blocked)) == host_copy<std::uint8_t>(allow), "masks",
        "flipping one convention does not give the other");

  // With padding: padding keys are hidden too.
  const std::vector<std::int32_t> ids = padded_ids();
  const std::span<const std::int32_t> row_1(ids.data() + length, length);
  fmt::print("causal and padding mask of row 1, whose last three places are padding\n{}\n",
             model::mask_picture(model::causal_padding_mask(c, row_1, 1, pad)));
}

int run() {
  Arena arena;
  Context c(arena);
  show_masks(c);

  model::PaddedDecoder decoder(
      {.vocab_size = 10000, .d_model = 512, .num_heads = 8, .d_ff = 2048, .num_layers = 6, .pad_idx = pad});
  nn::Parameters& p = decoder.parameters();
  p.allocate();
  p.initialise(1);
  p.refresh(c.kernels());

  // The encoder output that the decoder attends to comes from outside.
  RandomSequence random(2, 0);
  std::vector<float> states(static_cast<std::size_t>(batch * source_length * decoder.d_model()));
  for (float& v : states) v = static_cast<float>(random.normal());
  const model::Memory memory{.states = c.upload<float>(states, {batch * source_length, decoder.d_model()}),
                             .rows = Rows::rectangle(batch, source_length),
                             .layers = {}};

  const Tensor logits = decoder.forward(c, padded_ids(), Rows::rectangle(batch, length), memory);
  fmt::print("parameters  {}\n", format_count(p.count()));
  fmt::print("logits      ({}, {}, {})\n", batch, logits.size(0) / batch, logits.size(1));

  bool finite = true;
  for (float v : host_copy<float>(logits)) finite = finite && std::isfinite(v);
  const bool as_expected = p.count() == 35'474'192 && logits.shape() == Shape{batch * length, 10000} && finite;
  return as_expected ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const tril::Error& error) {
    fmt::print(stderr, "padded_decoder: {}\n", error.what());
    return 1;
  }
}
