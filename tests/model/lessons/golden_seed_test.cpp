// Every golden case of make_seed.py: outputs, attention weights and gradients, with and without a tape, on each
// instruction set.
#include <functional>
#include <map>

#include "model/lessons/full_transformer.h"
#include "model/lessons/padded_decoder.h"
#include "model/lessons/tiny_decoder.h"
#include "model/spec/learned_position_decoder.h"
#include "support/golden.h"
#include "support/watcher.h"

namespace tril::test {
namespace {

using model::Memory;

// A case's parts: its weights, the float inputs with known gradients, and the computation of y.
struct Subject {
  nn::Parameters* parameters = nullptr;
  std::map<std::string, Tensor> inputs;
  std::function<Tensor(Context&)> forward;
};

std::map<std::string, std::vector<float>> watched(Context& c, const Subject& run, Tensor& y) {
  std::map<std::string, std::vector<float>> seen;
  const Watcher watcher(c, "weights", [&](const std::string& where, const Tensor& value) {
    seen[where.empty() ? "weights" : where + ".weights"] = host_copy<float>(value);
  });
  y = run.forward(c);
  return seen;
}

// The case's name for a watched value: "layers.0.self_attn.weights" is "out.self_weights.0" in tiny_decoder's files.
std::string tiny_name(const std::string& name) {
  const std::string layer = name.substr(7, name.find('.', 7) - 7);
  return name.find("self_attn") != std::string::npos ? "self_weights." + layer : "cross_weights." + layer;
}

void check_case(
    const GoldenCase& golden, const std::function<Subject(Context&, const GoldenCase&)>& make,
    const std::function<std::string(const std::string&)>& weights_name = [](const std::string& n) { return n; }) {
  for (const kern::Kernels* kernels : kern::tables()) {
    SCOPED_TRACE(kernels->name);
    Arena arena;
    Context c(arena, *kernels);
    const Subject run = make(c, golden);
    if (::testing::Test::HasFatalFailure()) return;
    const std::vector<float> expected = golden.floats("out.y");

    Tensor y;
    std::size_t weights = 0;
    for (const auto& [name, value] : watched(c, run, y)) {
      const std::string out = "out." + weights_name(name);
      ASSERT_TRUE(golden.has(out)) << out;
      expect_close(out, value, golden.floats(out), 1e-5, 1e-5);
      ++weights;
    }
    std::size_t expected_weights = 0;
    for (const WeightView& view : golden.file().tensors())
      expected_weights += view.name.starts_with("out.") && view.name != "out.y";
    EXPECT_EQ(weights, expected_weights);
    expect_close("y", host_copy<float>(y), expected, 1e-5, 1e-5);

    Tape tape;
    Grads grads;
    if (run.parameters) run.parameters->watch(tape);
    for (const auto& [name, x] : run.inputs) tape.watch(x);
    c.set_tape(&tape);
    const Tensor taped = run.forward(c);
    EXPECT_EQ(host_copy<float>(taped), host_copy<float>(run.forward(c))) << "a second forward pass differs";
    expect_close("y with a tape", host_copy<float>(taped), expected, 1e-5, 1e-5);
    tape.backward(c, taped, golden.tensor(c, "in.probe", taped.shape()), grads);
    c.set_tape(nullptr);
    std::size_t gradients = 0;
    const auto compare = [&](const std::string& name, const Tensor& value) {
      if (!golden.has("g." + name)) return;
      const Tensor g = grads.get(value);
      ASSERT_TRUE(g) << "no gradient for " << name;
      expect_close("g." + name, host_copy<float>(g), golden.floats("g." + name), 1e-4, 1e-4, 1e-5);
      ++gradients;
    };
    if (run.parameters)
      for (const nn::Parameter& p : run.parameters->all()) compare(p.name, p.value);
    for (const auto& [name, x] : run.inputs) compare(name, x);
    std::size_t expected_gradients = 0;
    for (const WeightView& view : golden.file().tensors()) expected_gradients += view.name.starts_with("g.");
    EXPECT_EQ(gradients, expected_gradients);
  }
}

template <class F>
void for_each(const std::string& kind, F&& f) {
  const auto files = golden_files(kind);
  if (files.empty() && other_golden_directory())
    GTEST_SKIP() << "no case of kind " << kind << " in " << golden_directory();
  ASSERT_FALSE(files.empty()) << "no case of kind " << kind << " in " << golden_directory();
  for (const auto& path : files) {
    SCOPED_TRACE(path.string());
    f(GoldenCase(path));
  }
}

TEST(GoldenSeed, TinyDecoder) {
  for_each("tiny_decoder", [](const GoldenCase& golden) {
    const auto& k = golden.config();
    auto decoder =
        std::make_shared<model::TinyDecoder>(model::TinyDecoderConfig{.d_model = k["d_model"],
                                                                      .num_heads = k["num_heads"],
                                                                      .d_ff = k["d_ff"],
                                                                      .num_layers = k["num_layers"],
                                                                      .cross_attention = k["cross_attention"],
                                                                      .sinusoidal_positions = k["sinusoidal_positions"],
                                                                      .causal = k["causal"]});
    golden.fill(decoder->parameters());
    check_case(
        golden,
        [&](Context& c, const GoldenCase& g) {
          const auto s = g.shape("in.x");
          const Rows rows = Rows::rectangle(s[0], s[1]);
          Subject run{.parameters = &decoder->parameters()};
          const Tensor x = run.inputs["x"] = g.tensor(c, "in.x", {s[0] * s[1], s[2]});
          Memory context;
          if (g.has("in.context")) {
            const auto m = g.shape("in.context");
            context = {.states = g.tensor(c, "in.context", {m[0] * m[1], m[2]}), .rows = Rows::rectangle(m[0], m[1])};
            run.inputs["context"] = context.states;
          }
          run.forward = [decoder, x, rows, context](Context& k_) {
            return decoder->forward(k_, x, rows, context.states ? &context : nullptr);
          };
          return run;
        },
        tiny_name);
  });
}

TEST(GoldenSeed, LearnedPositionDecoder) {
  for_each("learned_position_decoder", [](const GoldenCase& golden) {
    const auto& k = golden.config();
    auto decoder = std::make_shared<model::LearnedPositionDecoder>(
        model::LearnedPositionDecoderConfig{.vocab_size = k["vocab_size"],
                                            .d_model = k["d_model"],
                                            .num_heads = k["num_heads"],
                                            .num_layers = k["num_layers"],
                                            .forward_expansion = k["forward_expansion"],
                                            .max_length = k["max_length"]});
    golden.fill(decoder->parameters());
    check_case(golden, [&](Context& c, const GoldenCase& g) {
      const auto s = g.shape("in.ids"), m = g.shape("in.encoder_out");
      const auto ids = std::make_shared<std::vector<std::int32_t>>(g.ids("in.ids"));
      auto memory = std::make_shared<Memory>(
          Memory{.states = g.tensor(c, "in.encoder_out", {m[0] * m[1], m[2]}), .rows = Rows::rectangle(m[0], m[1])});
      const ops::Mask self = ops::Mask::explicit01(g.mask(c, "in.tgt_mask")),
                      cross = ops::Mask::explicit01(g.mask(c, "in.src_mask"));
      Subject run{.parameters = &decoder->parameters()};
      run.inputs["encoder_out"] = memory->states;
      run.forward = [=](Context& x) {
        return logits(x, *decoder,
                      decoder->decode(x, {.ids = *ids,
                                          .rows = Rows::rectangle(s[0], s[1]),
                                          .memory = memory.get(),
                                          .self_mask = self,
                                          .memory_mask = cross}));
      };
      return run;
    });
  });
}

TEST(GoldenSeed, FullTransformer) {
  for_each("full_transformer", [](const GoldenCase& golden) {
    const auto& k = golden.config();
    auto transformer =
        std::make_shared<model::FullTransformer>(model::FullTransformerConfig{.vocab_size = k["vocab_size"],
                                                                              .d_model = k["d_model"],
                                                                              .num_heads = k["num_heads"],
                                                                              .d_ff = k["d_ff"],
                                                                              .num_layers = k["num_layers"],
                                                                              .share_norm2 = k["share_norm2"]});
    golden.fill(transformer->parameters());
    check_case(golden, [&](Context&, const GoldenCase& g) {
      const std::int64_t batch = g.shape("in.inp")[0];
      const auto source = std::make_shared<std::vector<std::int32_t>>(g.ids("in.inp")),
                 target = std::make_shared<std::vector<std::int32_t>>(g.ids("in.tar"));
      Subject run{.parameters = &transformer->parameters()};
      run.forward = [=](Context& x) { return transformer->forward(x, *source, *target, batch); };
      return run;
    });
  });
}

TEST(GoldenSeed, PaddedDecoder) {
  for_each("padded_decoder", [](const GoldenCase& golden) {
    const auto& k = golden.config();
    auto decoder = std::make_shared<model::PaddedDecoder>(
        model::PaddedDecoderConfig{.vocab_size = k["vocab_size"],
                                   .d_model = k["d_model"],
                                   .num_heads = k["num_heads"],
                                   .d_ff = k["d_ff"],
                                   .num_layers = k["num_layers"],
                                   .pad_idx = k["pad_idx"],
                                   .mask_target_padding = k["mask_target_padding"]});
    golden.fill(decoder->parameters());
    check_case(golden, [&](Context& c, const GoldenCase& g) {
      const auto s = g.shape("in.tgt"), m = g.shape("in.memory");
      const auto ids = std::make_shared<std::vector<std::int32_t>>(g.ids("in.tgt"));
      auto memory = std::make_shared<Memory>(
          Memory{.states = g.tensor(c, "in.memory", {m[0] * m[1], m[2]}), .rows = Rows::rectangle(m[0], m[1])});
      const Tensor allow = g.has("in.memory_mask") ? g.mask(c, "in.memory_mask") : Tensor();
      Subject run{.parameters = &decoder->parameters()};
      run.inputs["memory"] = memory->states;
      run.forward = [=](Context& x) { return decoder->forward(x, *ids, Rows::rectangle(s[0], s[1]), *memory, allow); };
      return run;
    });
  });
}

TEST(GoldenSeed, MultiHeadAttention) {
  for_each("multi_head_attention", [](const GoldenCase& golden) {
    const auto& k = golden.config();
    auto parameters = std::make_shared<nn::Parameters>();
    // The case's names lack the module's common prefix, so they are mapped.
    nn::Attention::Options options;
    options.d_model = k["d_model"], options.num_heads = k["num_heads"], options.d_v = k["d_v"];
    options.q = "q_linear", options.k = "k_linear", options.v = "v_linear", options.out = "out";
    auto attention = std::make_shared<nn::Attention>(*parameters, "mha", options);
    for (nn::Parameter& p : parameters->all()) p.name = p.name.substr(4);
    golden.fill(*parameters);
    check_case(
        golden,
        [&](Context& c, const GoldenCase& g) {
          const auto sq = g.shape("in.q"), sk = g.shape("in.k");
          Subject run{.parameters = parameters.get()};
          const Tensor q = run.inputs["q"] = g.tensor(c, "in.q", {sq[0] * sq[1], sq[2]});
          const Tensor key = run.inputs["k"] = g.tensor(c, "in.k", {sk[0] * sk[1], sk[2]});
          const Tensor v = run.inputs["v"] = g.tensor(c, "in.v", {sk[0] * sk[1], sk[2]});
          nn::CrossCall call{ops::spans_of(Rows::rectangle(sq[0], sq[1]), Rows::rectangle(sk[0], sk[1])),
                             ops::Mask::explicit01(g.mask(c, "in.mask"))};
          call.mask.masked_is_minus_1e9 = true;
          run.forward = [=](Context& x) { return attention->forward(x, q, key, v, call); };
          return run;
        },
        [](const std::string&) { return "weights"; });
  });
}

// [B, H, T, d] as the files have it -> [B * T, H * d] and back.
std::vector<float> heads_inside(const std::vector<float>& x, const std::vector<std::int64_t>& s, bool back) {
  std::vector<float> y(x.size());
  const auto B = s[0], H = s[1], T = s[2], d = s[3];
  for (std::int64_t b = 0; b < B; ++b)
    for (std::int64_t h = 0; h < H; ++h)
      for (std::int64_t t = 0; t < T; ++t)
        for (std::int64_t i = 0; i < d; ++i) {
          const std::size_t outside = std::size_t(((b * H + h) * T + t) * d + i),
                            inside = std::size_t(((b * T + t) * H + h) * d + i);
          y[back ? outside : inside] = x[back ? inside : outside];
        }
  return y;
}

TEST(GoldenSeed, LinearAttention) {
  for_each("linear_attention", [](const GoldenCase& g) {
    const auto s = g.shape("in.q");
    const std::int64_t H = g.size("num_heads");
    for (const kern::Kernels* kernels : kern::tables()) {
      SCOPED_TRACE(kernels->name);
      Arena arena;
      Context c(arena, *kernels);
      Tape tape;
      Grads grads;
      std::map<std::string, Tensor> in;
      for (const char* name : {"q", "k", "v"}) {
        in[name] =
            c.upload<float>(heads_inside(g.floats(std::string("in.") + name), s, false), {s[0] * s[2], s[1] * s[3]});
        tape.watch(in[name]);
      }
      c.set_tape(&tape);
      const Rows rows = Rows::rectangle(s[0], s[2]);
      const Tensor y = ops::linear_attention(c, {in["q"], in["k"], in["v"]}, ops::spans_of(rows, rows),
                                             {.num_heads = H, .causal = g.config()["causal"]});
      expect_close("y", heads_inside(host_copy<float>(y), s, true), g.floats("out.y"), 1e-5, 1e-5);
      tape.backward(c, y, c.upload<float>(heads_inside(g.floats("in.probe"), s, false), y.shape()), grads);
      for (const char* name : {"q", "k", "v"})
        expect_close(name, heads_inside(host_copy<float>(grads.get(in[name])), s, true),
                     g.floats(std::string("g.") + name), 1e-4, 1e-4);
    }
  });
}

Tensor identity_matrix(Context& c, std::int64_t n) {
  std::vector<float> values(static_cast<std::size_t>(n * n));
  for (std::int64_t i = 0; i < n; ++i) values[static_cast<std::size_t>(i * n + i)] = 1;
  return c.upload<float>(values, {n, n});
}

TEST(GoldenSeed, Losses) {
  for_each("losses", [](const GoldenCase& g) {
    const auto& k = g.config();
    const Shape shape(g.shape("in.logits"));
    const std::int32_t pad = k["pad_idx"];
    for (const kern::Kernels* kernels : kern::tables()) {
      SCOPED_TRACE(kernels->name);
      Arena arena;
      Context c(arena, *kernels);
      const Tensor student = g.tensor(c, "in.logits", shape), teacher = g.tensor(c, "in.teacher_logits", shape),
                   targets = c.upload(g.ids("in.target"));
      const std::vector<float> probe = g.floats("in.probe");
      const float alpha = k["alpha"];
      Tape tape;
      Grads grads;
      tape.watch(student);
      c.set_tape(&tape);
      const Tensor ce =
          ops::cross_entropy(c, student, targets, {.label_smoothing = k["label_smoothing"], .ignore_id = pad});
      const ops::Weight identity{identity_matrix(c, shape[1]), {}};
      const std::vector<ops::Projected> teachers{{teacher, identity, {}}};
      const Tensor kd = ops::projected_distillation(c, {{student, identity, {}}, teachers}, targets, {.ignore_id = pad},
                                                    {.temperature = k["temperature"], .mix = 1});
      const Tensor mixed = ops::add(c, ops::scale(c, kd, alpha), ops::scale(c, ce, 1 - alpha));
      expect_close("cross_entropy", host_copy<float>(ce), g.floats("out.cross_entropy"), 1e-5, 1e-5);
      expect_close("distillation", host_copy<float>(kd), g.floats("out.distillation"), 1e-5, 1e-5);
      expect_close("mixed", host_copy<float>(mixed), {g.floats("out.y")[1]}, 1e-5, 1e-5);
      const Tensor total = ops::add(c, ops::scale(c, ce, probe[0]), ops::scale(c, mixed, probe[1]));
      tape.backward(c, total, c.upload<float>(std::vector<float>{1.0f}), grads);
      expect_close("g.logits", host_copy<float>(grads.get(student)), g.floats("g.logits"), 1e-4, 1e-4);
    }
  });
}

}  // namespace
}  // namespace tril::test
