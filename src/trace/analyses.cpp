#include "trace/analyses.h"

#include <nlohmann/json.hpp>

#include "base/as_size.h"

namespace tril::trace {
namespace {

using Json = nlohmann::ordered_json;

Json lens_json(const TextReader& reader, const std::vector<LensRow>& lens, std::size_t tokens) {
  Json rows = Json::array();
  for (const LensRow& row : lens) {
    const std::vector<std::int32_t> best =
        best_ids(row.logits, std::ssize(row.logits) / static_cast<std::int64_t>(tokens));
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

Json attribution_json(const TextReader& reader, const Findings::OfToken& a) {
  Json parts = Json::array();
  for (const Attribution::Part& p : a.found.parts) {
    Json part{{"point", p.point}, {"logit", p.logit}};
    if (p.head >= 0) part["head"] = p.head;
    parts.push_back(std::move(part));
  }
  return {{"token", a.token},         {"next", reader.pieces({a.id}, false)[0]},
          {"next_id", a.id},          {"logit", a.found.logit},
          {"bias", a.found.bias},     {"rest", a.found.rest},
          {"parts", std::move(parts)}};
}

Json scores_json(const std::vector<HeadScore>& scores) {
  Json list = Json::array();
  for (const HeadScore& s : scores)
    list.push_back({{"layer", s.layer},
                    {"head", s.head},
                    {"previous", s.previous},
                    {"duplicate", s.duplicate},
                    {"induction", s.induction},
                    {"copying", s.copying}});
  return list;
}

}  // namespace

Findings analyse(const model::Model& m, const Input& input, const Analyses& wanted) {
  Findings f;
  if (wanted.lens) f.lens = logit_lens(m, input);
  if (wanted.rollout) {
    if (m.has_encoder()) f.encoder_rollout = rollout(m, input, "encoder");
    f.decoder_rollout = rollout(m, input, "decoder");
  }
  if (wanted.attributed_token) {
    const std::int64_t token = *wanted.attributed_token;
    check(token >= 0 && token < std::ssize(input.tokens), "attribute", "there is no token {}: the text has {}", token,
          input.tokens.size());
    const std::int32_t id = run_pass(m, input).best()[as_size(token)];
    f.attribution = {token, id, attribute(m, input, token, id)};
  }
  if (wanted.repeated_tokens > 0) f.head_scores = head_scores(m, wanted.repeated_tokens, /*seed=*/1, input);
  return f;
}

Json findings_json(const TextReader& reader, const Input& input, const Findings& f) {
  Json json = Json::object();
  if (!f.lens.empty()) json["lens"] = lens_json(reader, f.lens, input.tokens.size());
  if (!f.encoder_rollout.empty()) json["rollout"]["encoder"] = matrix_json(f.encoder_rollout, input.source.size());
  if (!f.decoder_rollout.empty()) json["rollout"]["decoder"] = matrix_json(f.decoder_rollout, input.tokens.size());
  if (f.attribution) json["attribution"] = attribution_json(reader, *f.attribution);
  if (!f.head_scores.empty()) json["head_scores"] = scores_json(f.head_scores);
  return json;
}

Json analyses_json(const model::Model& m, const TextReader& reader, const Input& input, const Analyses& wanted) {
  return findings_json(reader, input, analyse(m, input, wanted));
}

}  // namespace tril::trace
