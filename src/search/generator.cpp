#include "search/generator.h"

#include <algorithm>
#include <mutex>

#include "search/text_stream.h"

namespace tril::search {
namespace {

constexpr std::int32_t default_new_tokens = 256;

// The last tokens of what is given: enough to know whether a blank that follows stands within a text.
std::vector<std::int32_t> end_of(const Request& request) {
  std::vector<std::int32_t> all{request.start_id};
  all.insert(all.end(), request.prefix.begin(), request.prefix.end());
  if (all.size() > 8) all.erase(all.begin(), all.end() - 8);
  return all;
}

// The search's part of the options: no token that has no text, and an end where a stop text comes.
ParallelOptions completed(GeneratorOptions o, const model::Model& model,
                          const std::shared_ptr<const Tokenizer>& tokenizer) {
  check_language_model(model, *tokenizer);
  SearchOptions& s = o.decoding.search;
  for (std::int64_t id = tokenizer->size(Side::target); id < model.vocab_size(); ++id)
    s.suppress_ids.push_back(static_cast<std::int32_t>(id));
  if (o.stops.empty()) return o.decoding;
  std::size_t longest = 0;
  for (const std::string& stop : o.stops) {
    check(!stop.empty(), "stop text", "an empty text would end everything at once");
    longest = std::max(longest, stop.size());
  }
  // A stop that has just come lies within the last tokens: as many as it has bytes, and one that goes beyond it. Those
  // that have no text count for nothing.
  s.ends = [tokenizer, stops = o.stops, tail = longest + 1](std::span<const std::int32_t> tokens) {
    std::size_t begin = tokens.size(), bytes = 0;
    while (begin > 0 && bytes < tail + 4) bytes += tokenizer->decode(tokens.subspan(--begin, 1)).empty() ? 0 : 1;
    return find_stop(tokenizer->decode(tokens.subspan(begin)), stops) != std::string::npos;
  };
  return o.decoding;
}

}  // namespace

std::string_view name_of(Finish finish) {
  switch (finish) {
    case Finish::end_token:
      return "end_token";
    case Finish::stop:
      return "stop";
    case Finish::length:
      return "length";
    case Finish::positions:
      return "positions";
    case Finish::dead_end:
      return "dead_end";
    case Finish::time_limit:
      return "time_limit";
    case Finish::cancelled:
      return "cancelled";
  }
  return "";
}

void check_language_model(const model::Model& model, const Tokenizer& tokenizer) {
  if (model.has_encoder())
    fail_usage("language model", fmt::format("a {} model translates, it does not continue text", model.family()),
               "use `tril translate`");
  check(tokenizer.size(Side::target) <= model.vocab_size(), "tokenizer",
        "its {} ids do not fit the model's vocabulary of {}", tokenizer.size(Side::target), model.vocab_size());
}

Generator::Generator(const model::Model& model, std::shared_ptr<const Tokenizer> tokenizer, GeneratorOptions options)
    : model_(&model),
      tokenizer_(std::move(tokenizer)),
      options_(std::move(options)),
      search_(completed(options_, model, tokenizer_).search),
      decoder_(model, completed(options_, model, tokenizer_)) {
  check(options_.max_new_tokens.value_or(1) >= 1, "new tokens", "expected at least 1, got {}",
        options_.max_new_tokens.value_or(1));
  check(options_.min_new_tokens >= 0, "new tokens", "expected at least 0, got {}", options_.min_new_tokens);
}

std::vector<std::int32_t> Generator::prompt_ids(const std::string& prompt, std::uint64_t number) const {
  const std::string where = fmt::format("prompt {}", number + 1);
  std::vector<std::int32_t> ids = tokenizer_->frame(Side::target).prefix;
  const std::size_t framed = ids.size();
  tokenizer_->encode(prompt, Side::target, ids);
  if (ids.empty() && prompt.empty()) {
    const std::int32_t begin =
        model_->special_ids().bos >= 0 ? model_->special_ids().bos : tokenizer_->special(Side::target).bos;
    check(begin >= 0, where, "is empty, and the model has no token to begin a text with");
    ids.push_back(begin);
  }
  check(prompt.empty() || ids.size() > framed, where, "has no character that the vocabulary knows");
  const std::int64_t positions = model_->max_positions();
  if (positions > 0 && static_cast<std::int64_t>(ids.size()) > positions)
    fail_usage(where, fmt::format("has {} tokens, the model has {} positions", ids.size(), positions),
               "shorten it: only its end can be read");
  return ids;
}

// A token that is generated last is never read, so it needs no position.
Request Generator::request_for(std::vector<std::int32_t> ids, std::uint64_t number) const {
  const auto given = static_cast<std::int64_t>(ids.size());
  std::int64_t most = options_.max_new_tokens.value_or(default_new_tokens);
  if (!options_.max_new_tokens && options_.max_length)
    most = std::max<std::int64_t>(1, static_cast<std::int64_t>(*options_.max_length) - given);
  most = std::max<std::int64_t>(most, options_.min_new_tokens);
  if (model_->max_positions() > 0) most = std::min(most, model_->max_positions() - given + 1);
  return {.start_id = ids.front(),
          .min_length = static_cast<std::int32_t>(std::min<std::int64_t>(options_.min_new_tokens, most)),
          .max_length = static_cast<std::int32_t>(most),
          .prefix = {ids.begin() + 1, ids.end()},
          .number = number};
}

Generation Generator::result(const Hypothesis& h, const Request& request) const {
  const auto& eos = options_.decoding.search.eos_ids;
  Generation g{text_behind(*tokenizer_, end_of(request), h.tokens), h.tokens, h.log_prob, h.score, Finish::dead_end};
  const std::size_t stop = find_stop(g.text, options_.stops);
  const auto given = static_cast<std::int64_t>(request.prefix.size()) + 1;
  if (stop != std::string::npos) {
    g.text.resize(stop);
    g.finish = Finish::stop;
  } else if (h.cut != Cut::no) {
    g.finish = h.cut == Cut::time_limit ? Finish::time_limit : Finish::cancelled;
  } else if (!h.tokens.empty() && std::find(eos.begin(), eos.end(), h.tokens.back()) != eos.end()) {
    g.finish = Finish::end_token;
  } else if (static_cast<std::int32_t>(h.tokens.size()) == request.max_length) {
    // A directory's max_length of all positions is no wish for a length, it says how far the model goes.
    const bool full = model_->max_positions() > 0 && given + request.max_length >= model_->max_positions();
    const bool asked = options_.max_new_tokens && *options_.max_new_tokens == request.max_length;
    g.finish = full && !asked ? Finish::positions : Finish::length;
  }
  return g;
}

Request Generator::next_request(const std::string& prompt) {
  const std::int32_t unk = tokenizer_->special(Side::target).unk;
  const std::uint64_t number = prompts_++;
  std::vector<std::int32_t> ids = prompt_ids(prompt, number);
  if (!prompt.empty() && unk >= 0) unknown_ += std::count(ids.begin(), ids.end(), unk);
  prompt_tokens_ += static_cast<std::int64_t>(ids.size());
  return request_for(std::move(ids), number);
}

// Tokens of any number of requests and samples as text, told one at a time.
class Generator::Streams {
 public:
  Streams(const Generator& generator, std::span<const Request> requests, const OnText& on_text)
      : samples_(static_cast<std::size_t>(generator.options_.decoding.search.n_best)), on_text_(&on_text) {
    for (const Request& r : requests)
      for (std::size_t s = 0; s < samples_; ++s)
        streams_.emplace_back(generator.tokenizer_, generator.options_.stops, end_of(r));
  }
  OnToken on_token() {
    if (!*on_text_) return {};
    return [this](const NewToken& t) {
      const std::lock_guard lock(mutex_);
      TextStream& stream = streams_[t.request * samples_ + static_cast<std::size_t>(t.sample)];
      std::string text = t.token >= 0 ? stream.push(t.token) : "";
      if (t.ended) text += stream.finish();
      if (!text.empty() || t.ended) (*on_text_)({t.request, t.sample, std::move(text), t.ended});
    };
  }

 private:
  std::size_t samples_;
  const OnText* on_text_;
  std::vector<TextStream> streams_;
  std::mutex mutex_;
};

std::vector<std::vector<Generation>> Generator::generate(std::span<const std::string> prompts, const OnText& on_text,
                                                         std::stop_token stop) {
  std::vector<Request> requests;
  for (const std::string& prompt : prompts) requests.push_back(next_request(prompt));
  Streams streams(*this, requests, on_text);
  const auto found = decoder_.decode({}, requests, {.on_token = streams.on_token(), .stop = std::move(stop)});
  std::vector<std::vector<Generation>> results(prompts.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const Hypothesis& h : found[i]) {
      new_tokens_ += static_cast<std::int64_t>(h.tokens.size());
      results[i].push_back(result(h, requests[i]));
    }
  return results;
}

std::vector<Generation> Generator::generate(KeptText& kept, const std::string& prompt, const OnText& on_text,
                                            std::stop_token stop) {
  const Request request = next_request(prompt);
  Streams streams(*this, {&request, 1}, on_text);
  std::vector<Generation> results;
  for (const Hypothesis& h :
       kept.decode(request, search_, {.on_token = streams.on_token(), .on_partial = {}, .stop = std::move(stop)})) {
    new_tokens_ += static_cast<std::int64_t>(h.tokens.size());
    results.push_back(result(h, request));
  }
  return results;
}

}  // namespace tril::search
