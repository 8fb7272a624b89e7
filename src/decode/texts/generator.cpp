#include "decode/texts/generator.h"

#include <algorithm>
#include <mutex>

#include "base/error.h"
#include "decode/texts/text_stream.h"

namespace tril::search {
namespace {

ParallelOptions completed(const GeneratorOptions& o, const SearchPlan& search) {
  ParallelOptions decoding = o.decoding;
  decoding.search = search;
  return decoding;
}

}  // namespace

Generator::Generator(const model::Model& model, std::shared_ptr<const Tokenizer> tokenizer, GeneratorOptions options)
    : text_(model, std::move(tokenizer)),
      options_(std::move(options)),
      search_(text_.completed(options_.decoding.search, options_)),
      decoder_(model, completed(options_, search_)) {}

Request Generator::next_request(const std::string& prompt) {
  const std::uint64_t number = prompts_++;
  std::vector<std::int32_t> ids = text_.prompt_ids(prompt, fmt::format("prompt {}", number + 1));
  const std::size_t framed = prompt.empty() ? ids.size() : text_.tokenizer()->frame(Side::target).prefix.size();
  unknown_ += count_unknown(*text_.tokenizer(), prompt, std::span(ids).subspan(framed), Side::target);
  return request_of(std::move(ids), number);
}

Request Generator::request_of(std::vector<std::int32_t> ids, std::uint64_t number) {
  prompt_tokens_ += std::ssize(ids);
  return text_.request_for(std::move(ids), number, options_);
}

std::optional<Request> Generator::next_request_if_any(const std::string& prompt) {
  if (!options_.pass_over_refused) return next_request(prompt);
  try {
    return next_request(prompt);
  } catch (const Error& e) {
    if (refused_++ == 0) first_refusal_ = e.what();
    return std::nullopt;
  }
}

// Streams the text of all requests and samples. Calls of on_text do not overlap.
class Generator::Streams {
 public:
  /// @param prompts  the number of each request's prompt
  Streams(const Generator& generator, std::span<const Request> requests, std::vector<std::size_t> prompts,
          const OnText& on_text)
      : samples_(generator.options_.decoding.search.n_best), prompts_(std::move(prompts)), on_text_(&on_text) {
    for (const Request& r : requests)
      for (std::size_t s = 0; s < samples_; ++s)
        streams_.emplace_back(generator.text_.tokenizer(), generator.options_.stops, end_of(r));
  }
  OnToken on_token() {
    if (!*on_text_) return {};
    return [this](const NewToken& t) {
      const std::lock_guard lock(mutex_);
      TextStream& stream = streams_[t.request * samples_ + t.sample];
      std::string text = t.token >= 0 ? stream.push(t.token) : "";
      if (t.ended) text += stream.finish();
      if (!text.empty() || t.ended) (*on_text_)({prompts_[t.request], t.sample, std::move(text), t.ended});
    };
  }

 private:
  std::size_t samples_;
  std::vector<std::size_t> prompts_;
  const OnText* on_text_;
  std::vector<TextStream> streams_;
  std::mutex mutex_;
};

std::vector<std::vector<Generation>> Generator::generate(std::span<const std::string> prompts, const OnText& on_text,
                                                         std::stop_token stop) {
  std::vector<std::vector<Generation>> results(prompts.size());
  std::vector<Request> requests;
  std::vector<std::size_t> places;  // the prompt index of each request
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    if (std::optional<Request> request = next_request_if_any(prompts[i])) {
      requests.push_back(std::move(*request));
      places.push_back(i);
      continue;
    }
    results[i].push_back({.text = "", .tokens = {}, .stop_reason = StopReason::refused});
    for (std::int32_t sample = 0; on_text && sample < search_.n_best; ++sample) on_text({i, sample, "", true});
  }
  decode(requests, places, on_text, std::move(stop), results);
  return results;
}

std::vector<std::vector<Generation>> Generator::generate_after(std::span<const std::vector<std::int32_t>> prompts,
                                                               const OnText& on_text, std::stop_token stop) {
  std::vector<std::vector<Generation>> results(prompts.size());
  std::vector<Request> requests;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    check(!prompts[i].empty(), fmt::format("prompt {}", i + 1), "has no token");
    requests.push_back(request_of(prompts[i], prompts_++));
    places.push_back(i);
  }
  decode(requests, places, on_text, std::move(stop), results);
  return results;
}

void Generator::decode(std::span<const Request> requests, const std::vector<std::size_t>& places, const OnText& on_text,
                       std::stop_token stop, std::vector<std::vector<Generation>>& results) {
  Streams streams(*this, requests, places, on_text);
  const auto found = decoder_.decode({}, requests, {.on_token = streams.on_token(), .stop = std::move(stop)});
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const Hypothesis& h : found[i]) {
      new_tokens_ += std::ssize(h.tokens);
      results[places[i]].push_back(text_.finish(h, requests[i], options_));
    }
}

std::vector<Generation> Generator::generate(PromptSession& kept, const std::string& prompt, const OnText& on_text,
                                            std::stop_token stop) {
  const Request request = next_request(prompt);
  Streams streams(*this, {&request, 1}, {0}, on_text);
  std::vector<Generation> results;
  for (const Hypothesis& h :
       kept.decode(request, search_, {.on_token = streams.on_token(), .on_partial = {}, .stop = std::move(stop)})) {
    new_tokens_ += std::ssize(h.tokens);
    results.push_back(text_.finish(h, request, options_));
  }
  return results;
}

}  // namespace tril::search
