#include "cli/commands/inspect_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/message_text.h"
#include "perf/model_cost.h"
#include "perf/model_parts.h"

namespace tril::cli {
namespace {

using CostJson = nlohmann::ordered_json;

CostJson whole(double number) {
  return static_cast<std::int64_t>(std::llround(number));
}

CostJson json_of(const train::MultiplyAdds& m) {
  return {{"total", whole(m.total())},
          {"products", whole(m.products)},
          {"attention", whole(m.attention)},
          {"recurrent", whole(m.recurrent)}};
}

// "1.25 million"
std::string in_words(double number) {
  for (const auto& [size, name] : {std::pair{1e12, "trillion"}, {1e9, "billion"}, {1e6, "million"}})
    if (number >= size) return fmt::format("{:.4g} {}", number / size, name);
  return fmt::format("{:.0f}", number);
}

std::string sum_in_words(const CostJson& m) {
  std::string text = in_words(m["total"].get<double>());
  std::string parts;
  for (const char* part : {"products", "attention", "recurrent"})
    if (m[part] > 0) parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", part, in_words(m[part].get<double>()));
  return text + (parts.empty() ? "" : fmt::format(" ({})", parts));
}

}  // namespace

CostJson cost_json(model::Model& m, std::optional<std::int64_t> length) {
  constexpr std::int64_t usual = 512;
  const std::int64_t positions = m.max_positions(),
                     tokens = length.value_or(positions > 0 ? std::min(usual, positions) : usual);
  check(positions == 0 || tokens <= positions, "length", "{} tokens, but the model has {} positions", tokens,
        positions);
  CostJson out{{"parts", CostJson::array()}};
  double active = 0;
  for (const train::ModelPart& part : train::parts_of(m)) {
    active += part.active;
    out["parts"].push_back({{"side", part.encoder      ? "encoder"
                                     : m.has_encoder() ? "decoder"
                                                       : ""},
                            {"part", train::name_of(part.kind)},
                            {"parameters", part.parameters},
                            {"active", whole(part.active)}});
    // A table or an output matrix is of no side.
    if (part.kind == train::PartKind::embeddings || part.kind == train::PartKind::output)
      out["parts"].back()["side"] = "";
  }
  out["active_parameters"] = whole(active);
  try {
    const train::ModelCost cost = train::cost_of(m, tokens);
    out["token"] = {{"length", cost.length},
                    {"multiply_adds", json_of(cost.token)},
                    {"cache_bytes", whole(cost.cache_bytes)},
                    {"state_bytes", whole(cost.state_bytes)}};
    if (m.has_encoder())
      out["token"].update({{"source_multiply_adds", json_of(cost.source)}, {"memory_bytes", whole(cost.memory_bytes)}});
  } catch (const Error& e) {
    out["no_cost"] = e.message();
  }
  return out;
}

std::string cost_text(const CostJson& cost) {
  std::string text;
  const auto line = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{:<14} {}\n", name, value);
  };
  double total = 0;
  for (const CostJson& part : cost["parts"]) total += part["parameters"].get<double>();
  bool first = true;
  for (const CostJson& part : cost["parts"]) {
    const std::string side = part["side"].get<std::string>();
    std::string value = fmt::format("{:>14} {:>5.1f}%  {}{}", part["parameters"].get<std::int64_t>(),
                                    100 * part["parameters"].get<double>() / std::max(total, 1.0),
                                    side.empty() ? "" : side + ": ", part["part"].get<std::string>());
    if (part["active"] != part["parameters"])
      value += fmt::format(", {} for a token", part["active"].get<std::int64_t>());
    line(first ? "by part" : "", value);
    first = false;
  }
  if (cost["active_parameters"].get<double>() < total)
    line("active", fmt::format("{} parameters for a token", cost["active_parameters"].get<std::int64_t>()));
  if (cost.contains("no_cost")) {
    line("operations", message_text(fmt::format("not known: {}", cost["no_cost"].get<std::string>())));
    return text;
  }
  const CostJson& token = cost["token"];
  line("operations", fmt::format("{} multiply-adds for token {}", sum_in_words(token["multiply_adds"]),
                                 token["length"].get<std::int64_t>()));
  if (token.contains("source_multiply_adds"))
    line("", fmt::format("{} for each of {} source tokens", sum_in_words(token["source_multiply_adds"]),
                         token["length"].get<std::int64_t>()));
  std::string cache;
  const auto add = [&](const char* key, const char* of) {
    if (token.contains(key) && token[key] > 0)
      cache += fmt::format("{}{} bytes {}", cache.empty() ? "" : ", ", token[key].get<std::int64_t>(), of);
  };
  add("cache_bytes", "a token");
  add("state_bytes", "a text of any length");
  add("memory_bytes", "a source token");
  line("cache", cache.empty() ? "nothing" : "in float32 " + cache);
  return text;
}

}  // namespace tril::cli
