// One decoder layer from outside: x (2, 10, 128) attends to itself under a causal mask and to a context (2, 15,
// 128), and the result has the shape of x, (2, 10, 128).
//
//   h = x + SelfAttention(norm(x)),  h = h + CrossAttention(norm(h), context),  y = h + FF(norm(h))
//
// A batch is ragged in tril: one flat list of vectors [N, d_model], with Rows that mark which of them belong together.
// The rectangle (2, 10, 128) is the special case of two rows of ten.
#include <fmt/format.h>

#include "tril/lab.h"

namespace {

using namespace tril;

constexpr std::int64_t batch = 2, length = 10, context_length = 15, d_model = 128;

Tensor random_vectors(Context& c, std::int64_t rows, std::uint64_t seed) {
  RandomSequence random(seed, 0);
  std::vector<float> values(static_cast<std::size_t>(rows * d_model));
  for (float& v : values) v = static_cast<float>(random.normal());
  return c.upload<float>(values, {rows, d_model});
}

std::string shape(std::int64_t rows, const Tensor& x) {
  return fmt::format("({}, {}, {})", rows, x.size(0) / rows, x.size(1));
}

/// The vector at position t of row r.
std::vector<float> vector_at(const Tensor& x, std::int64_t r, std::int64_t t) {
  return host_copy<float>(x.rows(r * length + t, r * length + t + 1));
}

int run() {
  // Everything that a computation needs, since nothing is global: memory, and the kernels of this processor.
  Arena arena;
  Context c(arena);

  // The model declares the weights. They then get memory, and values from a seed.
  model::TinyDecoder decoder({.d_model = d_model,
                              .num_heads = 8,
                              .d_ff = 512,
                              .cross_attention = true,
                              .sinusoidal_positions = false});  // the formula adds nothing else to x
  decoder.parameters().allocate();
  decoder.parameters().initialise(1);
  decoder.parameters().refresh(c.kernels());

  const Tensor x = random_vectors(c, batch * length, 2);
  const Rows rows = Rows::rectangle(batch, length);
  const model::Memory context{.states = random_vectors(c, batch * context_length, 3),
                              .rows = Rows::rectangle(batch, context_length),
                              .layers = {}};
  const Tensor y = decoder.forward(c, x, rows, &context);

  fmt::print("x        {}\n", shape(batch, x));
  fmt::print("context  {}\n", shape(batch, context.states));
  fmt::print("y        {}\n", shape(batch, y));
  fmt::print("weights  {}\n", decoder.parameters().count());

  // The effect of the mask: changing the last vector of row 0 changes nothing before it, and nothing in row 1.
  std::vector<float> changed = host_copy<float>(x);
  for (std::int64_t i = 0; i < d_model; ++i) changed[static_cast<std::size_t>((length - 1) * d_model + i)] += 1;
  const Tensor z = decoder.forward(c, c.upload<float>(changed, x.shape()), rows, &context);
  int moved = 0;
  bool last_moved = false;
  for (std::int64_t r = 0; r < batch; ++r)
    for (std::int64_t t = 0; t < length; ++t) {
      const bool differs = vector_at(y, r, t) != vector_at(z, r, t);
      moved += differs;
      if (r == 0 && t == length - 1) last_moved = differs;
    }
  fmt::print("another vector at the end of row 0 changes {} of {} results: the last one of that row\n", moved,
             batch * length);

  // The formula only adds to x: with the last matrix of each sublayer at zero, y is x.
  for (const char* last : {"layers.0.self_attn.out_proj", "layers.0.cross_attn.out_proj", "layers.0.ff.2"})
    for (const char* part : {".weight", ".bias"}) {
      nn::Parameter* const p = decoder.parameters().find(std::string(last) + part);
      if (!p) fail(last, "the decoder has no such weight", "compare the names with TinyDecoder's");
      host_write<float>(p->value, std::vector<float>(static_cast<std::size_t>(p->value.count())));
    }
  decoder.parameters().refresh(c.kernels());
  const Tensor alone = decoder.forward(c, x, rows, &context);
  const bool is_x = host_copy<float>(alone) == host_copy<float>(x);
  fmt::print("sublayers that give zeros leave {}\n", is_x ? "x" : "another result than x");
  return y.shape() == x.shape() && moved == 1 && last_moved && is_x ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const tril::Error& error) {
    fmt::print(stderr, "decoder_layer: {}\n", error.what());
    return 1;
  }
}
