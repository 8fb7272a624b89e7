#include "trace/analyses.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/as_size.h"
#include "trace/head_scores.h"

namespace tril::trace {
namespace {

using Json = nlohmann::ordered_json;

Json lens_json(const model::Model& m, const TextReader& reader, const Input& input) {
  Json rows = Json::array();
  for (const LensRow& row : logit_lens(m, input)) {
    const std::size_t V = row.logits.size() / input.tokens.size();
    std::vector<std::int32_t> best;
    for (auto at = row.logits.begin(); at != row.logits.end(); at += static_cast<std::ptrdiff_t>(V))
      best.push_back(static_cast<std::int32_t>(std::max_element(at, at + static_cast<std::ptrdiff_t>(V)) - at));
    rows.push_back({{"point", row.point}, {"best", reader.pieces(best, false)}, {"best_ids", best}});
  }
  return rows;
}

Json matrix_json(const std::vector<float>& values, std::size_t columns) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < values.size(); i += columns)
    rows.push_back(std::vector<float>(values.begin() + static_cast<std::ptrdiff_t>(i),
                                      values.begin() + static_cast<std::ptrdiff_t>(i + columns)));
  return rows;
}

Json attribution_json(const model::Model& m, const TextReader& reader, const Input& input, std::int64_t token) {
  check(token < std::ssize(input.tokens), "token", "there is no token {}: the text has {}", token, input.tokens.size());
  const std::int32_t id = run_pass(m, input).best()[as_size(token)];
  const Attribution a = attribute(m, input, token, id);
  Json parts = Json::array();
  for (const Attribution::Part& p : a.parts) {
    Json part{{"point", p.point}, {"logit", p.logit}};
    if (p.head >= 0) part["head"] = p.head;
    parts.push_back(std::move(part));
  }
  return {{"token", token},
          {"next", reader.pieces({id}, false)[0]},
          {"next_id", id},
          {"logit", a.logit},
          {"bias", a.bias},
          {"rest", a.rest},
          {"parts", std::move(parts)}};
}

Json scores_json(const model::Model& m, const Input& input, std::int64_t length) {
  Json list = Json::array();
  for (const HeadScore& s : head_scores(m, length, /*seed=*/1, input.source))
    list.push_back({{"layer", s.layer},
                    {"head", s.head},
                    {"previous", s.previous},
                    {"duplicate", s.duplicate},
                    {"induction", s.induction},
                    {"copying", s.copying}});
  return list;
}

}  // namespace

Json analyses_json(const model::Model& m, const TextReader& reader, const Input& input, const Analyses& wanted) {
  Json json = Json::object();
  if (wanted.lens) json["lens"] = lens_json(m, reader, input);
  if (wanted.rollout) {
    if (m.has_encoder()) json["rollout"]["encoder"] = matrix_json(rollout(m, input, "encoder"), input.source.size());
    json["rollout"]["decoder"] = matrix_json(rollout(m, input, "decoder"), input.tokens.size());
  }
  if (wanted.attributed_token) json["attribution"] = attribution_json(m, reader, input, *wanted.attributed_token);
  if (wanted.repeated_tokens > 0) json["head_scores"] = scores_json(m, input, wanted.repeated_tokens);
  return json;
}

}  // namespace tril::trace
