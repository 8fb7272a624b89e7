#include "decode/batches/decode.h"

#include <algorithm>

#include "base/error.h"
#include "decode/batches/continuous_batch.h"

namespace tril::search {

std::vector<std::vector<Hypothesis>> decode(Context& c, Step& step, const RequestList& list, Speculator* speculator) {
  const auto& [requests, options, max_live, watch] = list;
  check_options(options, step.vocab_size());
  if (speculator) check_takes_proposals(options);
  for (const Request& request : requests) check_request(request, options, step.vocab_size());
  check(max_live >= 0, "decode", "expected at least 0 live sentences, got {}", max_live);
  std::size_t most_live = requests.size();
  if (max_live > 0) most_live = max_live;
  // The caller's, or a copy: a proposer may remember plans by their address.
  const auto shared = speculator ? std::make_shared<const SearchPlan>(options)
                                 : std::shared_ptr<const SearchPlan>(std::shared_ptr<void>(), &options);

  ContinuousBatch batch(step, {.on_token = watch.on_token, .on_partial = watch.on_partial, .speculator = speculator});
  std::vector<std::vector<Hypothesis>> results(requests.size());
  std::size_t waiting = 0;  // the next request to join
  const auto join = [&] {
    batch.join(static_cast<std::int32_t>(waiting), list.requests[waiting], shared);
    ++waiting;
  };
  const auto take = [&] {
    for (ContinuousBatch::Ended& e : batch.take_ended()) {
      if (e.error) std::rethrow_exception(e.error);
      results[e.sentence] = std::move(e.hypotheses);
    }
  };
  for (;;) {
    if (watch.stop.stop_requested()) {
      while (waiting < requests.size()) join();
      batch.cut_all(StopReason::cancelled);
      take();
      return results;
    }
    std::size_t given = 0;  // prompt tokens of the sentences that join now
    while (batch.sentences() < most_live && waiting < requests.size() &&
           (given == 0 || given + requests[waiting].prefix.size() < ContinuousBatch::default_prompt_tokens)) {
      given += 1 + requests[waiting].prefix.size();
      join();
    }
    if (batch.empty()) return results;
    batch.step(c);
    take();
  }
}

}  // namespace tril::search
