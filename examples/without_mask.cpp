// Why a decoder has a mask. Two language models of the same size learn the same text. At each position one sees only
// the letters before it; the other sees the whole line, including the letter that it should predict. The second
// one's training loss falls to almost nothing, but its generated text is useless: during generation there is no
// future to look at.
//
// The text has lines of ten letters that go through the alphabet in steps of one, two or three, and wrap around at
// its end:
//   ^acegikmoqs.   ^xyzabcdefg.
// The first letter and the step are random; two letters determine all others.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tril/lab.h"

namespace {

using namespace tril;

constexpr std::int32_t letters = 26, begin_id = 26, end_id = 27, vocab = 28;
constexpr int line_letters = 10, prompt_letters = 3, updates = 250;

using Ids = std::vector<std::int32_t>;

/// "^", ten letters, ".".
Ids line_of(std::int32_t first, std::int32_t step) {
  Ids ids{begin_id};
  for (std::int32_t i = 0; i < line_letters; ++i) ids.push_back((first + i * step) % letters);
  ids.push_back(end_id);
  return ids;
}

std::string text_of(std::span<const std::int32_t> ids) {
  std::string text;
  for (std::int32_t id : ids) text += id < letters ? static_cast<char>('a' + id) : id == begin_id ? '^' : '.';
  return text;
}

/// Trains on the whole text `updates` times and returns the last loss, in nats per letter.
double train(Context& c, model::TiedDecoder& m, const std::vector<Ids>& text) {
  // The target at each position is the next letter: "^acegi" -> "acegik".
  Ids seen, wanted;
  for (const Ids& line : text) {
    seen.insert(seen.end(), line.begin(), line.end() - 1);
    wanted.insert(wanted.end(), line.begin() + 1, line.end());
  }
  const Rows rows = Rows::rectangle(static_cast<std::int64_t>(text.size()), line_letters + 1);
  const Tensor targets = c.upload(wanted), one = c.upload(std::vector<float>{1});

  nn::Parameters& p = m.parameters();
  Tensor gradient = tril::lasting_zeros(p.trained_window().count);
  Grads grads;
  p.bind_gradients(grads, gradient);
  train::Optimizer optimizer(p, {});
  const train::Schedule schedule{.kind = train::ScheduleKind::linear, .peak = 0.005, .warmup = 20, .total = updates};

  Tape tape;
  double loss_value = 0;
  for (std::int64_t update = 1; update <= updates; ++update) {
    c.set_tape(&tape);  // forward, recorded
    p.watch(tape);
    const Tensor hidden = m.decode(c, {.ids = seen, .rows = rows});
    const Tensor loss = ops::projected_cross_entropy(c, {hidden, m.output().weight, {}}, targets, {});
    loss_value = host_copy<float>(loss)[0];

    grads.restart();  // and backward
    tape.backward(c, loss, one, grads);
    grads.finish(c);
    tape.clear();
    c.set_tape(nullptr);

    optimizer.gather(c.kernels(), {}, {&gradient, 1});
    const double scale = train::clipping(optimizer.norm(), 1.0);
    optimizer.step(c.kernels(), {}, gradient, {train::learning_rate(schedule, update), scale});
    optimizer.finish_step();
    p.refresh(c.kernels());
  }
  return loss_value;
}

/// Continues from the first letters of a line, with the likeliest letter each time.
Ids write_on(Context& c, const model::TiedDecoder& m, Ids line) {
  while (line.size() < line_letters + 2) {
    const auto T = static_cast<std::int64_t>(line.size());
    const Tensor hidden = m.decode(c, {.ids = line, .rows = Rows::rectangle(1, T)});
    const std::vector<float> last = host_copy<float>(logits(c, m, hidden.rows(T - 1, T)));
    line.push_back(static_cast<std::int32_t>(std::max_element(last.begin(), last.end()) - last.begin()));
  }
  return line;
}

struct Outcome {
  double loss = 0, correct = 0;  ///< nats per letter in training; fraction of generated letters that are correct
};

Outcome learn_and_write(const std::vector<Ids>& text, bool causal) {
  Arena arena;
  Context c(arena);
  model::TiedDecoder m({.vocab_size = vocab,
                        .d_model = 64,
                        .num_heads = 4,
                        .d_ff = 128,
                        .num_layers = 2,
                        .max_length = line_letters + 1,
                        .causal = causal});
  m.parameters().allocate();
  m.parameters().initialise(1);
  m.parameters().refresh(c.kernels());

  Outcome outcome{.loss = train(c, m, text), .correct = 0};
  std::int64_t right = 0, written = 0;
  for (const Ids& line : text) {
    const Ids own = write_on(c, m, Ids(line.begin(), line.begin() + 1 + prompt_letters));
    for (std::size_t i = 1 + prompt_letters; i < line.size(); ++i, ++written) right += own[i] == line[i];
    if (&line == &text.front() || &line == &text.back())
      fmt::print("  {}  goes on as {}  should be {}\n", text_of(Ids(line.begin(), line.begin() + 1 + prompt_letters)),
                 text_of(own), text_of(line));
  }
  outcome.correct = static_cast<double>(right) / static_cast<double>(written);
  fmt::print("  training loss {:.4f}, {:.1f}% of the letters that it writes are right\n", outcome.loss,
             100 * outcome.correct);
  return outcome;
}

int run() {
  std::vector<Ids> text;
  for (std::int32_t first = 0; first < letters; ++first)
    for (std::int32_t step : {1, 2, 3}) text.push_back(line_of(first, step));

  fmt::print("with its causal mask\n");
  const Outcome masked = learn_and_write(text, /*causal=*/true);
  fmt::print("without it\n");
  const Outcome cheating = learn_and_write(text, /*causal=*/false);

  // ln 26 + ln 3 nats of each line are unpredictable: no model with a mask can have a lower loss.
  const double floor = (std::log(26.0) + std::log(3.0)) / (line_letters + 1);
  fmt::print("no honest model comes below {:.4f}: the first letter and the step are free\n", floor);
  const bool as_expected = masked.loss > 0.99 * floor && masked.loss < floor + 0.1 && masked.correct > 0.99 &&
                           cheating.loss < 0.05 && cheating.correct < 0.3;
  return as_expected ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const tril::Error& error) {
    fmt::print(stderr, "without_mask: {}\n", error.what());
    return 1;
  }
}
