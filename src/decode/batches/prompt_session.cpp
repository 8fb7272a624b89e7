#include "decode/batches/prompt_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>

#include "base/content_hash.h"
#include "base/error.h"
#include "decode/batches/continuous_batch.h"
#include "format/safetensors.h"
#include "format/safetensors_write.h"

namespace tril::search {
namespace {

// Of the text so far, which a draft model keeps for the next turn.
constexpr std::int64_t draft_prefix_tokens = 1 << 16;
constexpr std::string_view file_form = "tril kept text 2";

template <class T>
std::vector<T> rows_of(const Tensor& table, std::span<const std::int32_t> slots) {
  const std::vector<T> all = host_copy<T>(table);
  const std::int64_t width = table.size(1);
  std::vector<T> rows;
  rows.reserve(slots.size() * width);
  for (const std::int32_t slot : slots) {
    const auto begin = all.begin() + slot * width;
    rows.insert(rows.end(), begin, begin + width);
  }
  return rows;
}

template <class T>
void put_rows(const Tensor& table, std::span<const std::int32_t> slots, std::span<const std::byte> bytes) {
  std::vector<T> all = host_copy<T>(table);
  const std::int64_t width = table.size(1);
  for (std::size_t i = 0; i < slots.size(); ++i)
    std::memcpy(&all[slots[i] * width], bytes.data() + i * width * sizeof(T), width * sizeof(T));
  host_write<T>(table, all);
}

/// The tensors of a layer and their names in files.
std::vector<std::pair<std::string, Tensor>> tensors_of(const nn::KvCache& cache, std::int64_t layer) {
  const ops::CachedKeysValues& l = cache.layer(layer);
  std::vector<std::pair<std::string, Tensor>> list;
  for (const auto& [name, tensor] : {std::pair{"keys", l.keys},
                                     {"values", l.values},
                                     {"key_scales", l.key_scales},
                                     {"value_scales", l.value_scales}})
    if (tensor) list.emplace_back(fmt::format("layers.{}.{}", layer, name), tensor);
  return list;
}

std::string digest_of(std::span<const std::uint64_t> parts) {
  Hash hash;
  for (const std::uint64_t part : parts) hash.add(static_cast<std::int64_t>(part));
  return fmt::format("{:016x}", hash.value());
}

std::string precision_of(const nn::KvCache::Options& o) {
  return o.precision == nn::KvCache::Precision::int8 ? "int8" : "fp32";
}

}  // namespace

PromptSession::PromptSession(Context& c, const model::Model& model, CacheOptions options, std::string identity,
                             const SpeculativeOptions& speculative)
    : context_(&c),
      options_(options),
      identity_(std::move(identity)),
      state_(c, model, {.cache = options}),
      proposals_(c, state_,
                 {.speculative = speculative, .state = {.cache = options, .prefix_tokens = draft_prefix_tokens}}) {
  check(!model.has_encoder(), "PromptSession", "a {} model translates and does not continue text", model.family());
  if (!state_.cache())
    fail_usage("kept text", fmt::format("a {} model has no cache to keep it in", model.family()),
               "leave `no_cache` out");
}

// The number of tokens at the beginning of a text that need not be read again.
std::int64_t PromptSession::common(std::span<const std::int32_t> tokens) const {
  const auto end = std::mismatch(tokens_.begin(), tokens_.end(), tokens.begin(), tokens.end()).first;
  const std::int64_t same = end - tokens_.begin();
  const std::int64_t beyond = state_.model().length_dependence().beyond;
  if (beyond == 0 || std::max(std::ssize(tokens_), std::ssize(tokens)) <= beyond) return same;
  return given_ == std::ssize(tokens) ? std::min(same, given_) : 0;
}

void PromptSession::was_given(std::int64_t tokens) {
  const nn::LengthDependence dependence = state_.model().length_dependence();
  const bool anew = dependence.read_anew && std::ssize(tokens_) > dependence.beyond && tokens <= dependence.beyond;
  given_ = anew ? 0 : tokens;
}

// Shortens the cache's row to its first `tokens` tokens.
void PromptSession::keep(std::int64_t tokens) {
  // Tokens that have left the window are lost, and a recurrent state cannot be undone: then everything is read again.
  if (tokens < std::ssize(tokens_) && (options_.kept.window > 0 || cache().keeps_states())) tokens = 0;
  if (tokens == 0) {
    cache().reorder({});
    tokens_.clear();
    return;
  }
  if (cache().rows() > 1) cache().reorder(std::vector<std::int32_t>{0});
  if (cache().length(0) > tokens) cache().truncate(0, static_cast<std::int32_t>(tokens));
  tokens_.resize(tokens);
}

// A step whose first row continues the row in the cache.
std::unique_ptr<Step> PromptSession::resumed_step() {
  return state_.new_step({.resumed = static_cast<std::int32_t>(tokens_.size())});
}

void PromptSession::read(std::span<const std::int32_t> tokens, const std::stop_token& stop) {
  keep(common(tokens));
  reused_ = std::ssize(tokens_);
  newly_read_ = std::ssize(tokens) - reused_;
  if (newly_read_ == 0) return;
  const std::unique_ptr<Step> step = resumed_step();
  const std::int32_t sentence = 0, none = 0, given = static_cast<std::int32_t>(tokens.size());
  std::int64_t read = step->reuse_prefix(sentence, tokens);
  std::int32_t parent = -1;
  tokens_.clear();  // until all has been read: the row is incomplete if a step throws
  while (read < std::ssize(tokens) && !stop.stop_requested()) {
    const auto fresh =
        tokens.subspan(read, std::min<std::int64_t>(ContinuousBatch::default_prompt_tokens, std::ssize(tokens) - read));
    const auto count = static_cast<std::int32_t>(fresh.size());
    step->step(*context_, {.ids = fresh,
                           .counts = {&count, 1},
                           .parents = {&parent, 1},
                           .sentences = {&sentence, 1},
                           .cuts = {},
                           .answers = {&none, 1},
                           .prompt_lengths = {&given, 1},
                           .wanted = Wanted::nothing});
    read += std::ssize(fresh);
    parent = 0;
  }
  newly_read_ = read - reused_;
  tokens_.assign(tokens.begin(), tokens.begin() + read);
  was_given(std::ssize(tokens));
}

std::vector<Hypothesis> PromptSession::decode(const Request& request, const SearchPlan& options, const Watch& watch) {
  std::vector<std::int32_t> text{request.start_id};
  text.insert(text.end(), request.prefix.begin(), request.prefix.end());
  // The last token is always read, because its logits are needed.
  keep(std::min(common(text), std::ssize(text) - 1));
  reused_ = std::ssize(tokens_);
  newly_read_ = std::ssize(text) - reused_;
  const std::unique_ptr<Step> step = resumed_step();
  struct Forgotten {  // clears the cache if the search throws, and what the proposer keeps
    PromptSession* text;
    int errors = std::uncaught_exceptions();
    ~Forgotten() {
      if (!text) return;
      text->cache().reorder({});
      if (std::uncaught_exceptions() > errors) text->proposals_.clear();
    }
  } forgotten{this};
  tokens_.clear();
  std::optional<Speculator> speculator;
  if (proposals_.on() && options.takes_proposals()) speculator.emplace(proposals_.new_speculator());
  std::vector<Hypothesis> found =
      search::decode(*context_, *step, {{&request, 1}, options, 0, watch}, speculator ? &*speculator : nullptr)[0];
  const bool one_row = !options.has_beam() && options.n_best == 1 && cache().rows() == 1;
  if (!one_row) return found;
  const std::int64_t given = std::ssize(text);
  text.insert(text.end(), found[0].tokens.begin(), found[0].tokens.end());
  if (speculator) text.pop_back();  // it may not have been read, and the row may go on with rejected proposals
  const std::int32_t read = std::min(cache().length(0), static_cast<std::int32_t>(text.size()));
  text.resize(static_cast<std::size_t>(read));
  tokens_ = std::move(text);
  if (speculator) keep(read);
  was_given(given);
  forgotten.text = nullptr;
  return found;
}

void PromptSession::save(const std::string& path) const {
  check(!tokens_.empty(), path, "nothing has been read yet");
  const std::vector<std::int32_t>& slots = cache().slots(0);
  check(!cache().keeps_states(), path, "recurrent states cannot be saved");
  check(options_.kept.window == 0, path, "a text cannot be saved if only a window of it is cached");
  std::vector<TensorHeader> headers{{"tokens", StoredType::i32, {std::ssize(tokens_)}}};
  std::int64_t layers = 0;
  for (; layers < cache().num_layers(); ++layers)
    for (const auto& [name, tensor] : tensors_of(cache(), layers))
      headers.push_back(
          {name, tensor.dtype() == DType::i8 ? StoredType::i8 : StoredType::f32, {std::ssize(slots), tensor.size(1)}});
  // The header comes first and contains a digest of the rest, so the tensors are read twice.
  const auto each = [&](const auto& take) {
    take("tokens", std::as_bytes(std::span(tokens_)));
    for (std::int64_t l = 0; l < layers; ++l)
      for (const auto& [name, tensor] : tensors_of(cache(), l)) {
        if (tensor.dtype() == DType::i8)
          take(name, std::as_bytes(std::span<const std::int8_t>(rows_of<std::int8_t>(tensor, slots))));
        else
          take(name, std::as_bytes(std::span<const float>(rows_of<float>(tensor, slots))));
      }
  };
  std::vector<std::uint64_t> parts;
  each([&](const std::string&, std::span<const std::byte> bytes) { parts.push_back(content_hash(bytes)); });
  SafetensorsWriter writer(path, headers,
                           {{"cache_precision", precision_of(options_.kept)},
                            {"digest", digest_of(parts)},
                            {"form", std::string(file_form)},
                            {"model", identity_}});
  each([&](const std::string& name, std::span<const std::byte> bytes) { writer.write(name, bytes); });
  writer.commit();
}

void PromptSession::load(const std::string& path) {
  const SafetensorsFile file = SafetensorsFile::open(path);
  const auto expect = [&](const char* key, const std::string& expected, const char* what) {
    const std::string* const value = file.find_metadata(key);
    if (!value || *value != expected)
      fail_usage(path, fmt::format("{}: it has {}, expected {}", what, value ? *value : "none", expected),
                 "remove the file, or pass another one");
  };
  expect("form", std::string(file_form), "it is not a text saved by tril");
  expect("model", identity_, "it was saved with another model, or with weights of another precision");
  expect("cache_precision", precision_of(options_.kept), "its keys and values have another precision");
  if (options_.kept.window > 0)
    fail_usage(path, "a saved text is complete, but an attention window is set", "leave one of them out");
  check(!cache().keeps_states(), path, "recurrent states cannot be read from files");
  const std::vector<std::int32_t> tokens = to_i32(file.at("tokens"));
  const auto n = std::ssize(tokens);
  if (n == 0 || (state_.model().max_positions() > 0 && n > state_.model().max_positions()))
    fail(path, fmt::format("it has {} tokens, but the model has {} positions", n, state_.model().max_positions()));
  for (const std::int32_t token : tokens)
    if (token < 0 || token >= state_.model().vocab_size())
      fail(path, fmt::format("token {} is outside the vocabulary of {}", token, state_.model().vocab_size()));

  keep(0);
  cache().add_rows(1);
  const auto count = static_cast<std::int32_t>(n);
  const std::vector<std::int32_t> slots = cache().extend({&count, 1});
  try {
    std::vector<std::uint64_t> parts{content_hash(file.at("tokens").bytes)};
    for (std::int64_t l = 0; l < cache().num_layers(); ++l)
      for (const auto& [name, tensor] : tensors_of(cache(), l)) {
        const WeightView& view = file.at(name);
        const bool bytes = tensor.dtype() == DType::i8;
        if (view.dtype != (bytes ? StoredType::i8 : StoredType::f32) ||
            view.shape != std::vector<std::int64_t>{n, tensor.size(1)})
          fail(path + ": " + name, fmt::format("expected {} of [{}, {}]", bytes ? "I8" : "F32", n, tensor.size(1)));
        bytes ? put_rows<std::int8_t>(tensor, slots, view.bytes) : put_rows<float>(tensor, slots, view.bytes);
        parts.push_back(content_hash(view.bytes));
      }
    const std::string* const digest = file.find_metadata("digest");
    if (!digest || *digest != digest_of(parts)) fail(path, "it is damaged", "remove the file, or pass another one");
  } catch (...) {
    keep(0);
    throw;
  }
  tokens_ = tokens;
  was_given(std::ssize(tokens_));
}

}  // namespace tril::search
