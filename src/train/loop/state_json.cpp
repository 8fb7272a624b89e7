#include "train/loop/state_json.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.h"
#include "base/hash.h"
#include "format/json_file.h"

namespace tril::train {
namespace {

nlohmann::json json_of(const RunningAverage& a) {
  return {{"mean", a.mean}, {"square", a.square}, {"count", a.count}};
}

RunningAverage running_average(const JsonObject& state, std::string_view key) {
  if (!state.has(key)) return {};
  const JsonObject o = state.object(key);
  return {o.get<double>("mean"), o.get<double>("square"), o.get<std::int64_t>("count")};
}

nlohmann::json json_of(const ReportSums& s) {
  std::vector<std::string> groups;
  std::vector<double> norms;
  for (const GroupNorm& g : s.groups) groups.push_back(g.group), norms.push_back(g.norm);
  return {{"loss", s.loss},
          {"norm", s.norm},
          {"seconds", s.seconds},
          {"groups", groups},
          {"group_norms", norms},
          {"noise_trace", s.noise.trace},
          {"noise_signal", s.noise.signal},
          {"noise_updates", s.noise.updates},
          {"tokens", s.tokens},
          {"counted", s.counted},
          {"updates", s.updates},
          {"since", s.since ? nlohmann::json(*s.since) : nlohmann::json()}};
}

ReportSums report_sums(const JsonObject& state, std::int64_t updates) {
  ReportSums s;
  if (!state.has("report_sums")) {
    if (updates > 0) s.since = updates;
    return s;
  }
  const JsonObject o = state.object("report_sums");
  s.loss = o.get<double>("loss"), s.norm = o.get<double>("norm"), s.seconds = o.get<double>("seconds");
  const auto groups = o.get<std::vector<std::string>>("groups");
  const auto norms = o.get<std::vector<double>>("group_norms");
  check(groups.size() == norms.size(), o.where(), "{} groups and {} group_norms", groups.size(), norms.size());
  for (std::size_t i = 0; i < groups.size(); ++i) s.groups.push_back({groups[i], norms[i]});
  s.noise = {o.get<double>("noise_trace"), o.get<double>("noise_signal"), o.get<std::int64_t>("noise_updates")};
  s.tokens = o.get<std::int64_t>("tokens"), s.counted = o.get<std::int64_t>("counted");
  s.updates = o.get<std::int64_t>("updates");
  s.since = o.find<std::int64_t>("since");
  return s;
}

// The checksum of everything else in state.json.
std::string checksum_of(const nlohmann::json& state) {
  return fmt::format("{:016x}", hash_of(state.dump()));
}

}  // namespace

std::string text_of(const TrainingState& s) {
  const nlohmann::json corpus = s.corpus;
  nlohmann::json state{{"format", 1},
                       {"updates", s.position.updates},
                       {"epochs", s.position.epochs},
                       {"minutes", s.position.minutes},
                       {"target_tokens", s.position.tokens},
                       {"corpus", corpus},
                       {"optimizer_steps", s.optimizer_steps},
                       {"skipped", s.skipped},
                       {"rollbacks", s.rollbacks},
                       {"rate_factor", s.rate_factor},
                       {"usual_loss", json_of(s.usual.loss)},
                       {"usual_gradient_norm", json_of(s.usual.gradient_norm)},
                       {"report_sums", json_of(s.sums)},
                       {"best", s.best ? nlohmann::json(*s.best) : nlohmann::json()},
                       {"best_update", s.best_update},
                       {"stalled", s.stalled},
                       {"validation_due", s.validation_due},
                       {"shown_update", s.shown_update},
                       {"batches", s.batches},
                       {"snapshots", s.snapshots},
                       {"options", nlohmann::json::parse(s.options)}};
  state["checksum"] = checksum_of(state);
  return state.dump(2) + "\n";
}

TrainingState state_in(const std::string& file) {
  const nlohmann::json json = read_json(file);
  const JsonObject o(json, file);
  if (const auto sum = o.find<std::string>("checksum")) {  // older versions wrote none
    nlohmann::json rest = json;
    rest.erase("checksum");
    if (*sum != checksum_of(rest)) fail(file, "is damaged: its checksum does not match");
  }
  TrainingState s;
  const auto count = [&](const char* key) {
    const auto n = o.get<std::int64_t>(key);
    check(n >= 0, file, "{}: expected 0 or more, got {}", key, n);
    return n;
  };
  s.position = {count("updates"), count("epochs"), o.get<double>("minutes"), count("target_tokens")};
  s.corpus = o.object("corpus").json().get<CorpusState>();
  s.optimizer_steps = count("optimizer_steps");
  s.skipped = count("skipped");
  s.rollbacks = o.get<std::int64_t>("rollbacks", 0);
  s.rate_factor = o.get<double>("rate_factor", 1.0);
  s.usual = {running_average(o, "usual_loss"), running_average(o, "usual_gradient_norm")};
  s.sums = report_sums(o, s.position.updates);
  s.best = o.find<double>("best");
  s.best_update = o.get<std::int64_t>("best_update");
  s.stalled = o.get<std::int64_t>("stalled");
  s.validation_due = o.find<bool>("validation_due").value_or(false);
  s.shown_update = o.get<std::int64_t>("shown_update");
  s.batches = o.get<std::int64_t>("batches", 0);
  s.snapshots = o.get<std::vector<std::string>>("snapshots");
  s.options = o.object("options").json().dump();
  return s;
}

}  // namespace tril::train
