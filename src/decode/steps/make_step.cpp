#include "decode/steps/make_step.h"

#include <utility>

#include "decode/steps/attention_tap_step.h"
#include "decode/steps/chunked_step.h"
#include "decode/steps/model_step.h"
#include "decode/steps/prefix_cache_step.h"
#include "decode/steps/recompute_step.h"
#include "decode/steps/reread_step.h"
#include "decode/steps/resumed_step.h"
#include "decode/steps/shortlist_step.h"

namespace tril::search {

std::unique_ptr<Step> make_step(StepParts p) {
  const nn::LengthDependence lengths = p.model->length_dependence();
  std::unique_ptr<Step> step = std::make_unique<ModelStep>(*p.model, p.sources, p.cache, p.options, p.adapters);
  if (p.sources)
    step = std::make_unique<AttentionTapStep>(std::move(step), *p.model, *p.sources, std::move(p.attention));
  if (p.cache)
    step = std::make_unique<ChunkedStep>(std::move(step), *p.cache, p.options.prompt_chunk);
  else
    step = std::make_unique<RecomputeStep>(std::move(step));
  if (p.prefixes)
    step = std::make_unique<PrefixCacheStep>(std::move(step), *p.cache, *p.prefixes, lengths.beyond, p.adapters);
  if (p.resumed > 0) step = std::make_unique<ResumedStep>(std::move(step), p.resumed);
  if (lengths.read_anew) step = std::make_unique<RereadStep>(std::move(step), lengths.beyond);
  if (p.shortlists) step = std::make_unique<ShortlistStep>(std::move(step), *p.shortlists);
  return step;
}

}  // namespace tril::search
