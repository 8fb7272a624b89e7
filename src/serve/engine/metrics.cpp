#include "serve/engine/metrics.h"

#include <algorithm>
#include <array>

#include "base/memory.h"
#include "base/version.h"

namespace tril::serve {
namespace {

// A label's value in quotes, with quotes and backslashes escaped. It has no line ends.
std::string quoted(const std::string& text) {
  std::string s = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') s += '\\';
    s += c;
  }
  return s + '"';
}

// The text of the metrics: begin() writes the head of one, the others its values.
class Text {
 public:
  void begin(const std::string& name, const char* type, const char* help) {
    name_ = "tril_" + name;
    text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name_, help, name_, type);
  }
  template <class T>
  void value(const std::string& labels, T value, const char* suffix = "") {
    text_ += name_ + suffix + (labels.empty() ? "" : "{" + labels + "}") + fmt::format(" {}\n", value);
  }
  void histogram(const std::string& labels, const Histogram& h, std::span<const double> bounds) {
    const std::string comma = labels.empty() ? "" : labels + ",";
    for (const double bound : bounds) value(comma + fmt::format("le=\"{}\"", bound), h.at_most(bound), "_bucket");
    value(comma + "le=\"+Inf\"", h.count(), "_bucket");
    value(labels, h.sum(), "_sum");
    value(labels, h.count(), "_count");
  }
  std::string take() { return std::move(text_); }

 private:
  std::string name_, text_;
};

constexpr std::array seconds_bounds{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1,  0.2,
                                    0.5,   1.0,   2.0,   5.0,  10.0, 20.0, 50.0, 100.0};
constexpr std::array rows_bounds{1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0};

// How models are loaded and unloaded.
void loading_of_models(Text& text, const std::vector<Models::Status>& models) {
  const auto of_all = [&](const std::string& name, const char* type, const char* help, auto value_of) {
    text.begin(name, type, help);
    for (const Models::Status& s : models) text.value("model=" + quoted(s.name), value_of(s));
  };
  text.begin("model_state", "gauge", "1 for the state that a model is in.");
  for (const Models::Status& s : models)
    for (const auto state :
         {Models::State::unloaded, Models::State::loading, Models::State::ready, Models::State::failed})
      text.value(fmt::format("model={},state=\"{}\"", quoted(s.name), name_of(state)), s.state == state ? 1 : 0);
  of_all("model_memory_bytes", "gauge", "Memory of a loaded model: weights, tokenizer and KV cache.",
         [](const Models::Status& s) { return s.bytes; });
  text.begin("model_idle_seconds", "gauge", "Seconds since a model was last used; absent if it never was.");
  for (const Models::Status& s : models)
    if (s.idle_seconds) text.value("model=" + quoted(s.name), *s.idle_seconds);
  of_all("model_waiting", "gauge", "Requests that wait for a model to be loaded.",
         [](const Models::Status& s) { return s.waiting; });
  of_all("model_loads_total", "counter", "Times that a model was loaded.",
         [](const Models::Status& s) { return s.loads; });
  of_all("model_unloads_total", "counter", "Times that a model was unloaded.",
         [](const Models::Status& s) { return s.unloads; });
  of_all("model_failures_total", "counter", "Times that a model could not be loaded.",
         [](const Models::Status& s) { return s.failures; });
}

}  // namespace

std::string metrics_text(const std::vector<Models::Status>& models, const ServerNumbers& server,
                         const Histogram& seconds) {
  Text text;
  text.begin("build_info", "gauge", "Version of tril.");
  text.value("version=" + quoted(std::string(version)), 1);
  text.begin("peak_memory_bytes", "gauge", "Peak memory of the process.");
  text.value("", static_cast<std::uint64_t>(peak_mib() * 1048576));
  text.begin("connections", "gauge", "Open connections.");
  text.value("", server.connections);
  text.begin("side_waiting", "gauge",
             "Waiting side jobs: scores, attention, schemas, echoed prompts and large bodies.");
  text.value("", server.side_waiting);
  text.begin("side_running", "gauge", "Side jobs that are running.");
  text.value("", server.side_running);
  text.begin("requests_total", "counter", "Responses, by route and status.");
  for (const auto& [what, count] : server.answers)
    text.value(fmt::format("route={},status=\"{}\"", quoted(what.first), what.second), count);
  text.begin("request_seconds", "histogram", "Seconds from a request to the end of its response.");
  text.histogram("", seconds, seconds_bounds);

  const auto each = [&](const std::string& name, const char* type, const char* help, auto value_of) {
    text.begin(name, type, help);
    for (const Models::Status& s : models)
      if (s.model) value_of("model=" + quoted(s.name), *s.model);
  };
  const auto number = [&](const std::string& name, const char* type, const char* help, auto value_of) {
    each(name, type, help, [&](const std::string& label, const ServedModel& m) { text.value(label, value_of(m)); });
  };
  text.begin("model_ready", "gauge", "Whether a model is ready.");
  for (const Models::Status& s : models) text.value("model=" + quoted(s.name), s.model ? 1 : 0);
  loading_of_models(text, models);
  number("waiting", "gauge", "Sentences that are waiting.", [](const ServedModel& m) { return m.engine().waiting(); });
  number("running", "gauge", "Sentences that are being decoded.",
         [](const ServedModel& m) { return m.engine().running(); });
  each("sentences_total", "counter", "Sentences and prompts, by outcome.",
       [&](const std::string& label, const ServedModel& m) {
         const Statistics& s = m.statistics();
         const std::array<std::pair<const char*, const Counter*>, 5> list{{{"ended", &s.ended},
                                                                           {"cancelled", &s.cancelled},
                                                                           {"late", &s.late},
                                                                           {"failed", &s.failed},
                                                                           {"refused", &s.refused}}};
         for (const auto& [name, counter] : list)
           text.value(label + fmt::format(",outcome=\"{}\"", name), counter->value());
       });
  number("source_tokens_total", "counter", "Tokens of sources and prompts.",
         [](const ServedModel& m) { return m.statistics().source_tokens.value(); });
  number("new_tokens_total", "counter", "Tokens generated in all returned hypotheses.",
         [](const ServedModel& m) { return m.statistics().new_tokens.value(); });
  number("proposed_tokens_total", "counter",
         "Tokens that were proposed: by a draft model, draft heads, prompt lookup or predictions.",
         [](const ServedModel& m) { return m.statistics().proposed_tokens.value(); });
  number("accepted_tokens_total", "counter", "Proposed tokens that the model accepted.",
         [](const ServedModel& m) { return m.statistics().accepted_tokens.value(); });
  number("steps_total", "counter", "Decode steps.", [](const ServedModel& m) { return m.statistics().steps.value(); });
  number("cache_tokens", "gauge", "Tokens in the KV cache of running requests.",
         [](const ServedModel& m) { return m.statistics().cache().used_slots; });
  number("prefix_cache_tokens", "gauge", "Tokens in the prefix cache.",
         [](const ServedModel& m) { return m.statistics().cache().prefix_tokens; });
  number("prefix_tokens_reused_total", "counter", "Prompt tokens reused from the prefix cache.",
         [](const ServedModel& m) { return m.statistics().remembered_tokens.value(); });
  number("cache_tokens_reserved", "gauge", "KV cache tokens reserved for running requests.",
         [](const ServedModel& m) { return m.engine().reserved_tokens(); });
  number("cache_tokens_limit", "gauge", "Maximum number of reserved tokens.",
         [](const ServedModel& m) { return m.engine().options().cache_tokens; });
  number("cache_bytes", "gauge", "Memory of the KV cache.",
         [](const ServedModel& m) { return m.statistics().cache().bytes; });
  const auto histogram = [&](const std::string& name, const char* help, auto of, std::span<const double> bounds) {
    each(name, "histogram", help,
         [&](const std::string& label, const ServedModel& m) { text.histogram(label, of(m.statistics()), bounds); });
  };
  histogram(
      "batch_rows", "Rows decoded together in a step.",
      [](const Statistics& s) -> const Histogram& { return s.batch_rows; }, rows_bounds);
  histogram(
      "queue_seconds", "Seconds that a sentence waits in the queue.",
      [](const Statistics& s) -> const Histogram& { return s.queue_seconds; }, seconds_bounds);
  histogram(
      "first_token_seconds", "Seconds from arrival to the first token.",
      [](const Statistics& s) -> const Histogram& { return s.first_token_seconds; }, seconds_bounds);
  histogram(
      "sentence_seconds", "Seconds from arrival to the end.",
      [](const Statistics& s) -> const Histogram& { return s.seconds; }, seconds_bounds);
  each("sentence_seconds_quantile", "gauge",
       "Quantiles of the seconds from arrival to the end since the model was loaded, to within 26%.",
       [&](const std::string& label, const ServedModel& m) {
         for (const double q : {0.5, 0.9, 0.99})
           text.value(label + fmt::format(",quantile=\"{}\"", q), m.statistics().seconds.quantile(q));
       });
  return text.take();
}

}  // namespace tril::serve
