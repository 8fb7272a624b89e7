#include "model_io/contents/generation_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "model/families/bart_variants.h"
#include "model/families/marian.h"
#include "model_io/contents/inner_generation_keys.h"

namespace tril::model {
namespace {

std::int32_t to_id(const JsonObject& o, std::string_view key, std::int64_t id) {
  if (id < 0 || id > std::numeric_limits<std::int32_t>::max())
    o.fail_at(key, "expected a token id of at least 0, got " + std::to_string(id));
  return static_cast<std::int32_t>(id);
}

std::optional<std::int32_t> find_id(const JsonObject& o, std::string_view key) {
  const auto id = o.find<std::int64_t>(key);
  return id ? std::optional(to_id(o, key, *id)) : std::nullopt;
}

// A single id or a list of ids.
std::vector<std::int32_t> find_ids(const JsonObject& o, std::string_view key) {
  std::vector<std::int32_t> ids;
  if (!o.has(key)) return ids;
  if (!o.json().at(std::string(key)).is_array()) return {*find_id(o, key)};
  for (std::int64_t id : o.get<std::vector<std::int64_t>>(key)) ids.push_back(to_id(o, key, id));
  return ids;
}

std::optional<std::int32_t> find_first_id(const JsonObject& o, std::string_view key) {
  const auto ids = find_ids(o, key);
  return ids.empty() ? std::nullopt : std::optional(ids.front());
}

std::optional<std::int64_t> find_count(const JsonObject& o, std::string_view key) {
  const auto n = o.find<std::int64_t>(key);
  if (n && (*n < 0 || *n > std::numeric_limits<std::int32_t>::max()))
    o.fail_at(key, "expected a count from 0 to 2147483647, got " + std::to_string(*n));
  return n;
}

std::optional<std::string> find_early_stopping(const JsonObject& o) {
  constexpr std::string_view key = "early_stopping";
  if (!o.has(key)) return std::nullopt;
  const nlohmann::json& value = o.json().at(std::string(key));
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_string() && value.get<std::string>() == "never") return "never";
  o.fail_at(key, "expected true, false or \"never\"");
}

std::vector<std::vector<std::int32_t>> find_words(const JsonObject& o) {
  constexpr std::string_view key = "bad_words_ids";
  std::vector<std::vector<std::int32_t>> words;
  if (!o.has(key)) return words;
  const nlohmann::json& list = o.json().at(std::string(key));
  const auto expect = [&](bool ok) {
    if (!ok) o.fail_at(key, "expected a list of lists of token ids, none of them empty");
  };
  expect(list.is_array());
  for (const nlohmann::json& word : list) {
    expect(word.is_array() && !word.empty());
    words.emplace_back();
    for (const nlohmann::json& id : word) {
      expect(id.is_number_integer());
      // an unsigned value beyond int64 becomes negative, and is refused with negative ids
      words.back().push_back(to_id(o, key, id.get<std::int64_t>()));
    }
  }
  return words;
}

// Adds the unsupported keys whose values would change results.
std::vector<std::string> find_not_obeyed(const JsonObject& o) {
  std::vector<std::string> found;
  const auto number = [&](const char* key, double idle) {
    if (const auto value = o.find<double>(key); value && *value != idle)
      found.push_back(std::string(key) + " " + o.json().at(key).dump());
  };
  number("encoder_repetition_penalty", 1);
  number("epsilon_cutoff", 0);
  number("word_penalty", 0);
  number("eta_cutoff", 0);
  number("top_h", 1);
  number("penalty_alpha", 0);
  number("guidance_scale", 1);
  number("num_return_sequences", 1);
  if (o.has("max_time")) found.push_back("max_time " + o.json().at("max_time").dump());
  for (const char* key : {"sequence_bias", "force_words_ids", "constraints", "exponential_decay_length_penalty",
                          "forced_decoder_ids", "stop_strings", "watermarking_config", "dola_layers"})
    if (o.has(key) && !(o.json().at(key).is_array() && o.json().at(key).empty())) found.emplace_back(key);
  if (o.find<bool>("token_healing").value_or(false)) found.emplace_back("token_healing");
  if (o.find<bool>("do_sample").value_or(false) && o.find<std::int64_t>("num_beams").value_or(1) > 1)
    found.emplace_back("do_sample true with a beam");
  return found;
}

std::optional<double> find_number(const JsonObject& o, std::string_view key, const Range& range) {
  const auto value = o.find<double>(key);
  if (value && !range.has(*value)) o.fail_at(key, fmt::format("expected a number {}, got {}", range.text(), *value));
  return value;
}

SearchOptions find_search(const JsonObject& o) {
  SearchOptions s;
  s.beam_size = find_count(o, "num_beams");
  if (s.beam_size && !limits::beam_size.has(static_cast<double>(*s.beam_size)))
    o.fail_at("num_beams", fmt::format("expected a number {}, got {}", limits::beam_size.text(), *s.beam_size));
  if (const auto groups = find_count(o, "num_beam_groups"); groups.value_or(0) > 1) s.beam_groups = groups;
  s.diversity_penalty = find_number(o, "diversity_penalty", limits::diversity_penalty);
  s.length_penalty = find_number(o, "length_penalty", limits::length_penalty);
  s.early_stopping = find_early_stopping(o);
  s.no_repeat_ngram = find_count(o, "no_repeat_ngram_size");
  s.encoder_no_repeat_ngram = find_count(o, "encoder_no_repeat_ngram_size");
  s.repetition_penalty = find_number(o, "repetition_penalty", limits::repetition_penalty);
  s.sampling = o.find<bool>("do_sample").value_or(false) && s.beam_size.value_or(1) == 1;
  s.temperature = find_number(o, "temperature", limits::temperature);
  s.top_k = find_count(o, "top_k");
  s.top_p = find_number(o, "top_p", limits::probability);
  s.min_p = find_number(o, "min_p", limits::probability);
  s.typical_p = find_number(o, "typical_p", limits::typical_p);
  return s;
}

// True if bos_token_id is forced, by the key of the first BART models, which overrides forced_bos_token_id.
bool forces_bos(const JsonObject& o) {
  return o.find<bool>("force_bos_token_to_be_generated").value_or(false);
}

}  // namespace

std::optional<nn::AttentionHeads> read_alignment_heads(const JsonObject& o) {
  constexpr std::string_view key = "alignment_heads";
  if (!o.has(key)) return std::nullopt;
  const nlohmann::json& list = o.json().at(std::string(key));
  const auto expect = [&](bool ok) {
    if (!ok) o.fail_at(key, "expected a list of pairs [layer, head], counted from 0, none of them twice");
  };
  expect(list.is_array());
  nn::AttentionHeads found;
  for (const nlohmann::json& pair : list) {
    expect(pair.is_array() && pair.size() == 2 && pair[0].is_number_unsigned() && pair[1].is_number_unsigned() &&
           pair[0].get<std::uint64_t>() < 1000 && pair[1].get<std::uint64_t>() < 1'000'000);
    const auto layer = pair[0].get<std::int64_t>();
    const auto head = pair[1].get<std::int32_t>();
    if (found.layer >= 0 && found.layer != layer) return std::nullopt;  // reported in not_obeyed
    expect(std::find(found.heads.begin(), found.heads.end(), head) == found.heads.end());
    found.layer = layer;
    found.heads.push_back(head);
  }
  return found.heads.empty() ? std::nullopt : std::optional(found);
}

GenerationConfig read_generation_config(const JsonObject& o) {
  check(o.json().is_object(), o.where(), "expected an object, got {}", o.json().type_name());

  GenerationConfig g;
  g.where = o.where();
  g.search = find_search(o);
  g.max_length = find_count(o, "max_length");
  g.max_new_tokens = find_count(o, "max_new_tokens");
  g.min_length = find_count(o, "min_length");
  g.min_new_tokens = find_count(o, "min_new_tokens");
  g.eos_token_ids = find_ids(o, "eos_token_id");
  g.pad_token_id = find_first_id(o, "pad_token_id");
  g.bos_token_id = find_id(o, "bos_token_id");
  g.decoder_start_token_id = find_first_id(o, "decoder_start_token_id");
  g.forced_bos_token_id = find_id(o, "forced_bos_token_id");
  if (forces_bos(o)) g.forced_bos_token_id = g.bos_token_id;
  g.forced_eos_token_id = find_first_id(o, "forced_eos_token_id");
  g.bad_words_ids = find_words(o);
  g.suppress_tokens = find_ids(o, "suppress_tokens");
  g.begin_suppress_tokens = find_ids(o, "begin_suppress_tokens");
  g.renormalize_logits = o.find<bool>("renormalize_logits").value_or(false);
  g.alignment_heads = read_alignment_heads(o);
  g.not_obeyed = find_not_obeyed(o);
  if (!g.alignment_heads && o.has("alignment_heads") && !o.json().at("alignment_heads").empty())
    g.not_obeyed.emplace_back("alignment_heads of several layers");
  return g;
}

void check_ids(const GenerationConfig& g, std::int64_t vocab_size) {
  const auto known = [&](std::int32_t id, const char* key) {
    if (id >= vocab_size)
      fail(g.where, fmt::format("{}: there is no token {}: the vocabulary has {}", key, id, vocab_size), "remove it");
  };
  for (const std::int32_t id : g.eos_token_ids) known(id, "eos_token_id");
  for (const std::int32_t id : g.suppress_tokens) known(id, "suppress_tokens");
  for (const std::int32_t id : g.begin_suppress_tokens) known(id, "begin_suppress_tokens");
  for (const auto& word : g.bad_words_ids)
    for (const std::int32_t id : word) known(id, "bad_words_ids");
  known(g.forced_bos_token_id.value_or(0), "forced_bos_token_id");
  known(g.forced_eos_token_id.value_or(0), "forced_eos_token_id");
}

std::vector<std::int32_t> read_end_tokens(const JsonObject& document) {
  constexpr std::string_view key = "eos_token_id";
  if (document.has(key) && document.json().at(std::string(key)) == -1) return {};
  return find_ids(document, key);
}

namespace {

// -1: none.
std::int32_t default_forced_eos(std::string_view model_type) {
  if (model_type == "marian") return marian_defaults().forced_eos_token_id;
  const BartVariant* variant = find_bart_variant(model_type);
  return variant ? variant->defaults.forced_eos_token_id : -1;
}

// The keys about generation that are absent from config.json, and that `transformers` has values for.
nlohmann::json generation_defaults(std::string_view model_type) {
  nlohmann::json defaults = nlohmann::json::object();
  if (const std::int32_t id = default_forced_eos(model_type); id >= 0) defaults["forced_eos_token_id"] = id;
  if (model_type == "blenderbot") defaults["encoder_no_repeat_ngram_size"] = 3;
  return defaults;
}

}  // namespace

nlohmann::json generation_of_config(const JsonObject& config) {
  const nlohmann::json all = with_inner_generation_keys(config.json());
  nlohmann::json generation = generation_defaults(config.get<std::string>("model_type", ""));
  for_generation_keys([&](const std::string& key) {
    if (!all.contains(key)) return;
    generation.erase(key);  // null means none, whatever the default
    if (!all.at(key).is_null()) generation[key] = all.at(key);
  });
  if (forces_bos(config) && config.has("bos_token_id"))
    generation["forced_bos_token_id"] = config.json().at("bos_token_id");
  return generation;
}

}  // namespace tril::model
