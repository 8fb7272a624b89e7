// What each trick of training does: the decoder of one_page_decoder.cpp learns the same task in several ways. Printed is a line
// "name <tab> update <tab> loss" for each way and each 10 updates; the loss is the mean of these ten, without smoothing.
// `tril learn draw 12 --curves FILE` draws them.
//
//   warm-up    the rate grows from 0 for 50 updates; without it, it has its full size at once
//   clipping   a gradient whose norm is above 0.3 is scaled down to 0.3 [Pascanu et al. 2013, algorithm 1]
//   smoothing  the target is 0.9 of the right token and 0.1 spread over all [Szegedy et al. 2016, section 7]
//   bfloat16   weights have 8 bits of precision. A step below 1/512 of a weight is lost if the weight itself is rounded. With a
//              master copy in full precision it is not [Micikevicius et al. 2018, section 3.1].
#define ONE_PAGE_DECODER_WITHOUT_MAIN
#include "one_page_decoder.cpp"

namespace {

using namespace one_page;

struct Way {
  const char* name;
  double rate = 0.004;
  int warmup = 50;
  double clip = 0;  // 0: no clipping
  double smoothing = 0;
  bool rounds = false;     // the decoder computes with weights in bfloat16
  bool has_master = true;  // and Adam changes copies in full precision
};

/// The nearest number with 8 significant bits.
double in_bfloat16(double x) {
  int exponent = 0;
  const double mantissa = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, 8)), exponent - 8);
}

void round_weights(Decoder& decoder) {
  for (Weight* w : decoder.weights())
    for (double& x : w->value.values) x = in_bfloat16(x);
}

/// @return the loss without smoothing
double learn_smoothed(Decoder& decoder, const Text& text, double smoothing) {
  const std::vector<int> tokens(text.ids.begin(), text.ids.end() - 1);
  std::vector<int> labels(text.ids.begin() + 1, text.ids.end());
  std::fill_n(labels.begin(), text.length, -1);
  Loss loss = cross_entropy(decoder.forward(tokens), labels);
  const double count = static_cast<double>(text.length) + 1, V = letters + 2;
  for (std::size_t t = text.length; t < labels.size(); ++t)  // the target moves: dlogits = softmax - target
    for (std::size_t j = 0; j < loss.dlogits.columns; ++j)
      loss.dlogits(t, j) += smoothing / count * ((static_cast<int>(j) == labels[t] ? 1.0 : 0.0) - 1 / V);
  decoder.backward(loss.dlogits);
  return loss.value;
}

void clip(Decoder& decoder, double most) {
  double sum = 0;
  for (const Weight* w : decoder.weights())
    for (const double g : w->gradient.values) sum += g * g;
  if (sum <= most * most) return;
  for (Weight* w : decoder.weights()) w->gradient = most / std::sqrt(sum) * w->gradient;
}

/// @return the loss of the last ten updates
double run(const Way& way) {
  constexpr int updates = 300, texts_an_update = 16;
  Decoder decoder(small);
  std::mt19937 random(1);
  initialise(decoder, random);
  std::vector<Matrix> master;
  double mean = 0;
  for (int update = 1; update <= updates; ++update) {
    if (way.rounds) {
      master.clear();
      for (const Weight* w : decoder.weights()) master.push_back(w->value);
      round_weights(decoder);
    }
    for (int i = 0; i < texts_an_update; ++i) mean += learn_smoothed(decoder, random_text(random), way.smoothing) / 160;
    for (Weight* w : decoder.weights()) w->gradient = 1.0 / texts_an_update * w->gradient;
    if (way.clip > 0) clip(decoder, way.clip);
    const std::vector<Weight*> weights = decoder.weights();
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (way.rounds && way.has_master) weights[i]->value = master[i];
      adam(*weights[i], way.rate * std::min(1.0, way.warmup > 0 ? update / static_cast<double>(way.warmup) : 1.0),
           update);
    }
    if (update % 10 != 0) continue;
    std::printf("%s\t%d\t%.4f\n", way.name, update, mean);
    if (update < updates) mean = 0;
  }
  return mean;
}

}  // namespace

int main() {
  const double plain = run({.name = "warm-up"}), at_once = run({.name = "no warm-up", .warmup = 0}),
               fast = run({.name = "rate x 5, no clipping", .rate = 0.02}),
               clipped = run({.name = "rate x 5, clipping", .rate = 0.02, .clip = 0.3}),
               smooth = run({.name = "smoothing 0.1", .smoothing = 0.1}),
               master = run({.name = "bfloat16, master copy", .rounds = true}),
               lost = run({.name = "bfloat16 alone", .rounds = true, .has_master = false});
  if (plain < at_once && clipped < fast && master < lost && plain < smooth) return 0;
  std::fprintf(
      stderr,
      "with the settings as they were, the last loss is lower with warm-up, with clipping, with a master copy, "
      "and without smoothing; after a change here another order is no fault\n");
  return 1;
}
