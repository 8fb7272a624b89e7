#include "trace/pass.h"

#include <algorithm>
#include <cmath>

#include "base/as_size.h"

namespace tril::trace {
namespace {

Rows one_row(const std::vector<std::int32_t>& ids) {
  Rows rows;
  rows.append(static_cast<std::int32_t>(ids.size()));
  return rows;
}

void check_ids(const std::vector<std::int32_t>& ids, std::int64_t vocab, std::int64_t positions, const char* what) {
  check(!ids.empty(), what, "there are no tokens");
  for (const std::int32_t id : ids) check(id >= 0 && id < vocab, what, "id {} is not in a vocabulary of {}", id, vocab);
  check(positions == 0 || std::ssize(ids) <= positions, what, "has {} tokens, but the model has {} positions",
        ids.size(), positions);
}

void check_input(const model::Model& m, const Input& input) {
  check_ids(input.tokens, m.vocab_size(), m.max_positions(), m.has_encoder() ? "target" : "text");
  if (m.has_encoder()) check_ids(input.source, m.source_vocab_size(), m.max_positions(), "source");
  check(m.has_encoder() || input.source.empty(), "source", "a {} model has no encoder", m.family());
  check(input.labels.size() == input.tokens.size(), "labels", "expected one for each of {} tokens, got {}",
        input.tokens.size(), input.labels.size());
  for (const std::int32_t id : input.labels)
    check(id >= -1 && id < m.vocab_size(), "labels", "id {} is not in a vocabulary of {}", id, m.vocab_size());
}

// log sum exp of a row of logits.
double log_sum(std::span<const float> row) {
  double most = -HUGE_VAL, sum = 0;
  for (const float v : row) most = std::max(most, static_cast<double>(v));
  for (const float v : row) sum += std::exp(static_cast<double>(v) - most);
  return most + std::log(sum);
}

std::span<const float> row_of(const Outcome& o, std::size_t t) {
  return std::span(o.logits).subspan(t * as_size(o.vocab), as_size(o.vocab));
}

// Not a number has no place in an order of tokens, and would be shown as one.
void check_logits(const Outcome& o, bool is_edited) {
  const auto bad =
      std::find_if(o.logits.begin(), o.logits.end(), [](float x) { return std::isnan(x) || x == HUGE_VALF; });
  if (bad == o.logits.end()) return;
  const std::string what = fmt::format("after token {} a logit is {}", (bad - o.logits.begin()) / o.vocab, *bad);
  if (is_edited) fail_usage("edit", what, "the values have left float32: change them by less");
  fail("logits", what, "the weights are damaged, or the text needs values beyond float32");
}

void score_labels(Outcome& o, const std::vector<std::int32_t>& labels) {
  for (std::size_t t = 0; t < labels.size(); ++t) {
    const bool counts = labels[t] >= 0;
    o.labelled += counts ? 1 : 0;
    o.label_log_probs.push_back(counts ? static_cast<double>(row_of(o, t)[as_size(labels[t])]) - log_sum(row_of(o, t))
                                       : 0.0);
  }
}

// d loss / d logits = (softmax(logits) - one(label)) / labels, row by row.
Tensor gradient_of_loss(Context& c, const Outcome& o, const std::vector<std::int32_t>& labels) {
  std::vector<float> d(o.logits.size(), 0.0f);
  for (std::size_t t = 0; t < labels.size(); ++t) {
    if (labels[t] < 0) continue;
    const std::span<const float> row = row_of(o, t);
    const double log_z = log_sum(row);
    float* const to = d.data() + t * row.size();
    for (std::size_t i = 0; i < row.size(); ++i)
      to[i] = static_cast<float>(std::exp(static_cast<double>(row[i]) - log_z) / static_cast<double>(o.labelled));
    to[as_size(labels[t])] -= static_cast<float>(1.0 / static_cast<double>(o.labelled));
  }
  return c.upload<float>(d, {std::ssize(labels), o.vocab});
}

// Detaches the observer, also when the pass fails.
class Watched {
 public:
  Watched(Context& c, Recorder* recorder) : c_(c) { c.set_observer(recorder); }
  ~Watched() { c_.set_observer(nullptr); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

 private:
  Context& c_;
};

void show_tokens(Context& c, Recorder* recorder, const std::string& name, const std::vector<std::int32_t>& ids) {
  if (!recorder) return;
  computed_here(c);
  recorder->show(name, c.upload(ids));
}

model::Memory encoded(Context& c, const model::Model& m, const Input& input, Recorder* recorder) {
  show_tokens(c, recorder, "encoder.tokens", input.source);
  const ObservedPart part(c, "encoder");
  model::Memory memory = m.encode(c, input.source, one_row(input.source));
  if (recorder) recorder->show("encoder.final", memory.states);
  return memory;
}

// The states that a cache keeps of recurrent layers after the last token: [values], by layer.
void show_states(const model::Model& m, const Input& input, const model::Memory& memory, Recorder& recorder) {
  if (m.cache_form() == model::CacheForm::tokens) return;
  Arena arena;
  Context c(arena);
  c.set_adapters({.of_rows = {}, .of_all = input.adapter});
  const std::unique_ptr<nn::KvCache> cache = m.make_cache(c);
  if (!cache) return;
  const auto name = [](std::int64_t layer) { return fmt::format("decoder.{}.self.state", layer); };
  bool is_wanted = false;
  for (std::int64_t i = 0; i < cache->num_layers(); ++i)
    if (cache->keeps_state(i) && recorder.wants(name(i))) is_wanted = true;
  if (!is_wanted) return;
  cache->add_rows(1);
  Trace none;
  Recorder edits(none, recorder.edits_alone());
  const Watched watched(c, &edits);
  const ObservedPart part(c, "decoder");
  m.decode(c, {.ids = input.tokens,
               .rows = one_row(input.tokens),
               .memory = m.has_encoder() ? &memory : nullptr,
               .memory_rows = {},
               .cache = cache.get()});
  for (std::int64_t i = 0; i < cache->num_layers(); ++i) {
    if (!cache->keeps_state(i)) continue;
    const std::int64_t row = cache->state(0);
    recorder.computed_at({__builtin_FILE(), __builtin_LINE()});
    recorder.show(name(i), cache->states(i).rows(row, row + 1));
  }
}

}  // namespace

double Outcome::loss() const {
  double sum = 0;
  for (const double p : label_log_probs) sum -= p;
  return labelled > 0 ? sum / static_cast<double>(labelled) : 0;
}

std::vector<std::int32_t> best_ids(std::span<const float> logits, std::int64_t vocab) {
  std::vector<std::int32_t> ids;
  for (std::size_t begin = 0; begin < logits.size(); begin += as_size(vocab)) {
    const auto row = logits.subspan(begin, as_size(vocab));
    ids.push_back(static_cast<std::int32_t>(std::max_element(row.begin(), row.end()) - row.begin()));
  }
  return ids;
}

Outcome run_pass(const model::Model& m, const Input& input, Recorder* recorder, bool gradients) {
  if (input.checkpoint) input.checkpoint();
  check_input(m, input);
  Arena arena;
  Context c(arena);
  c.set_adapters({.of_rows = {}, .of_all = input.adapter});
  Tape tape;
  Grads grads;
  if (gradients) {
    for (const nn::Parameter& p : m.parameters().all())
      if (!p.value)
        fail_usage("gradients", fmt::format("{} is not held by itself in float32", p.name),
                   "load the model in the form for training");
    m.parameters().watch(tape);
    c.set_tape(&tape);
  }
  const Watched watched(c, recorder);
  model::Memory memory;
  if (m.has_encoder()) memory = encoded(c, m, input, recorder);
  show_tokens(c, recorder, "decoder.tokens", input.tokens);
  Tensor hidden;
  {
    const ObservedPart part(c, "decoder");
    hidden = m.decode(c, {.ids = input.tokens,
                          .rows = one_row(input.tokens),
                          .memory = m.has_encoder() ? &memory : nullptr,
                          .memory_rows = {}});
  }
  if (recorder) recorder->show("decoder.final", hidden);
  const Tensor logits = model::logits(c, m, hidden);
  Outcome o{.vocab = m.vocab_size(), .logits = host_copy<float>(logits), .label_log_probs = {}};
  check_logits(o, recorder && recorder->has_edits());
  score_labels(o, input.labels);
  if (recorder) recorder->show("logits", logits);
  if (gradients) {
    check(o.labelled > 0, "gradients", "there is no token to predict, and so no loss");
    const Tensor d = gradient_of_loss(c, o, input.labels);
    if (recorder) recorder->show("logits.gradient", d);
    tape.backward(c, logits, d, grads);
  } else if (recorder) {
    show_states(m, input, memory, *recorder);
  }
  if (recorder) recorder->check_all_met();
  return o;
}

Trace values_of(const model::Model& m, const Input& input, std::vector<std::string> only, std::span<const Edit> edits) {
  Trace trace;
  Recorder recorder(trace, {.only = std::move(only), .edits = edits, .may_miss = true});
  run_pass(m, input, &recorder);
  return trace;
}

std::vector<std::int32_t> greedy(const model::Model& m, const Input& input, std::int64_t most,
                                 std::span<const std::int32_t> eos, const Recorder::Options& options) {
  Input so_far = input;
  std::vector<std::int32_t> made;
  Recorder::Options growing = options;
  growing.growing = true, growing.only.clear();
  while (std::ssize(made) < most && (m.max_positions() == 0 || std::ssize(so_far.tokens) <= m.max_positions())) {
    if (options.checkpoint) options.checkpoint();
    so_far.labels.assign(so_far.tokens.size(), -1);
    Trace none;
    Recorder recorder(none, growing);
    made.push_back(run_pass(m, so_far, options.edits.empty() ? nullptr : &recorder).best().back());
    if (std::find(eos.begin(), eos.end(), made.back()) != eos.end()) break;
    so_far.tokens.push_back(made.back());
  }
  return made;
}

}  // namespace tril::trace
