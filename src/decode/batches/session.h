// A model at work on closed lists of sentences: its sources, its cache, those that decide with it and who proposes. One
// session belongs to one context, so to one thread; sessions share their model.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "decode/batches/decode.h"
#include "decode/batches/session_options.h"
#include "decode/steps/sentence_adapters.h"
#include "decode/steps/sources.h"

namespace tril::search {

class Session {
 public:
  Session(Context& c, const model::Model& model, const SessionOptions& options = {});

  /// The hypotheses for each request, best first.
  /// @param sources  an encoder-decoder: what each request translates, ids with EOS; a model without an encoder: none
  std::vector<std::vector<Hypothesis>> decode(std::span<const std::vector<std::int32_t>> sources,
                                              std::span<const Request> requests, const SearchPlan& options,
                                              std::int64_t max_live = 0, const Watch& watch = {});

  /// Null where nothing is kept. Between two decode() calls it holds no rows.
  const nn::KvCache* cache() const { return models_[0].cache.get(); }
  /// Of all decode() calls so far, where tokens are proposed.
  const Speculation& speculation() const { return speculation_; }

 private:
  struct Reader {
    const model::Model* model;
    std::unique_ptr<nn::KvCache> cache;
    Sources sources;
    SentenceAdapters adapters;  // of the session's own model; the others name none
  };
  Reader reader_of(const model::Model& model, const nn::KvCache::Options& kept) const;
  struct Emptied;
  void begin(Reader& reader, std::span<const std::vector<std::int32_t>> sources,
             std::span<const std::int32_t> adapters = {});
  static void end(Reader& reader);
  std::unique_ptr<Step> step_of(Reader& reader, std::vector<std::vector<std::int32_t>> shortlist = {},
                                const nn::AttentionHeads& attention = {});

  Context* context_;
  SessionOptions options_;
  std::vector<Reader> models_;  // the session's own, then those that decide with it
  std::unique_ptr<Reader> draft_;
  Speculation speculation_;
};

}  // namespace tril::search
