#include "decode/texts/text_score.h"

#include <algorithm>
#include <mutex>

#include "search/candidates.h"

namespace tril::search {
namespace {

constexpr std::int64_t default_context = 1024;

// Tokens [begin, begin + read) of a text are read, and the tokens after the last `scored` of them are scored.
struct Window {
  std::size_t text, begin, read, scored;
};

std::vector<Window> windows_of(std::size_t text, std::size_t tokens, std::size_t context, std::size_t stride) {
  std::vector<Window> windows;
  const std::size_t predicted = tokens == 0 ? 0 : tokens - 1;
  for (std::size_t begin = 0, done = 0; done < predicted; begin += stride) {
    const std::size_t read = std::min(context, predicted - begin);
    windows.push_back({text, begin, read, begin + read - done});
    done = begin + read;
  }
  return windows;
}

// The scores of the windows' tokens, window after window.
std::vector<float> score_windows(Context& c, const model::Model& model,
                                 std::span<const std::vector<std::int32_t>> texts, std::span<const Window> windows) {
  Rows rows;
  std::vector<std::int32_t> ids, expected, places;
  for (const Window& w : windows) {
    const auto read = std::span(texts[w.text]).subspan(w.begin, w.read + 1);
    rows.append(static_cast<std::int32_t>(w.read));
    for (std::size_t i = 0; i < w.read; ++i) {
      if (i + w.scored >= w.read) {
        places.push_back(static_cast<std::int32_t>(ids.size()));
        expected.push_back(read[i + 1]);
      }
      ids.push_back(read[i]);
    }
  }
  const Tensor hidden = model.decode(c, {.ids = ids, .rows = std::move(rows), .memory_rows = {}});
  Tensor scored = c.empty({std::ssize(places), hidden.size(1)});
  c.kernels().gather(hidden.data<float>(), c.upload(places).data<std::int32_t>(), 1.0f, scored.data<float>(),
                     places.size(), hidden.size(1));
  const model::OutputProjection output = model::output(c, model);
  return host_copy<float>(
      ops::target_log_probs(c, {scored, output.weight, output.bias}, c.upload(expected), output.softcap));
}

}  // namespace

WindowOptions settled(WindowOptions o, const model::Model& model) {
  const std::int64_t positions = model.max_positions();
  if (o.context == 0) o.context = positions > 0 ? positions : default_context;
  check(positions == 0 || o.context <= positions, "context", "{} tokens are more than the model's {} positions",
        o.context, positions);
  if (o.stride == 0) o.stride = std::max<std::int64_t>(1, o.context / 2);
  check(o.context >= 1 && o.stride >= 1 && o.stride <= o.context, "stride",
        "expected 1 to the context of {} tokens, got {}", o.context, o.stride);
  check(o.batch_size >= 1, "batch size", "expected at least 1, got {}", o.batch_size);
  return o;
}

std::vector<Score> score_texts(WorkerPool& workers, const model::Model& model,
                               std::span<const std::vector<std::int32_t>> texts, const WindowOptions& options,
                               const std::function<void(std::int64_t tokens)>& on_scored) {
  check(!model.has_encoder(), "score", "a {} model scores translations and not texts", model.family());
  const WindowOptions o = settled(options, model);
  std::vector<Window> windows;
  std::vector<Score> scores(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto more = windows_of(i, texts[i].size(), o.context, o.stride);
    windows.insert(windows.end(), more.begin(), more.end());
    scores[i].token_log_probs.resize(texts[i].empty() ? 0 : texts[i].size() - 1);
  }
  std::vector<std::size_t> lengths;
  for (const Window& w : windows) lengths.push_back(w.read);
  const auto jobs = jobs_by_length(lengths, o.batch_size);
  std::mutex reporting;
  workers.run(jobs.size(), [&](Context& c, int, std::size_t job) {
    std::vector<Window> together;
    for (std::size_t i : jobs[job]) together.push_back(windows[i]);
    const std::vector<float> found = score_windows(c, model, texts, together);
    auto from = found.begin();
    for (const Window& w : together) {
      const std::size_t first = w.begin + w.read - w.scored;  // in the text's scores; windows do not overlap there
      std::copy(from, from + static_cast<std::ptrdiff_t>(w.scored),
                scores[w.text].token_log_probs.begin() + static_cast<std::ptrdiff_t>(first));
      from += static_cast<std::ptrdiff_t>(w.scored);
    }
    const std::lock_guard lock(reporting);
    if (on_scored) on_scored(std::ssize(found));
  });
  for (Score& s : scores) {
    for (float p : s.token_log_probs) s.log_prob += static_cast<double>(p);
    check_number(s.log_prob);
  }
  return scores;
}

}  // namespace tril::search
