// tril serve: serves models over HTTP to many clients at once.
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <semaphore>
#include <thread>

#include "base/cores.h"
#include "base/printable.h"
#include "cli/commands/commands.h"
#include "cli/commands/run_server.h"
#include "cli/io/access_log.h"
#include "cli/io/blocked_signals.h"
#include "cli/serving/model_loaders.h"
#include "cli/serving/named_values.h"
#include "cli/serving/serve_options.h"
#include "cli/serving/served_terms.h"
#include "cli/serving/server_keys.h"
#include "model_io/adapters/adapter.h"
#include "model_io/adapters/medusa_files.h"
#include "model_io/source/model_source.h"
#include "serve/api/classroom.h"
#include "serve/api/service.h"
#include "serve/api/suggestions.h"
#include "serve/dialects/dialects.h"
#include "serve/http/http_server.h"

namespace tril::cli {
namespace {

bool is_own_machine(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

// Drains the server, on a thread created at the start: at the end no thread might be available.
class Drainer {
 public:
  explicit Drainer(std::function<void()> drain) : drain_(std::move(drain)), thread_([this] { run(); }) {}
  ~Drainer() {
    go_.release();
    thread_.join();
  }
  Drainer(const Drainer&) = delete;
  Drainer& operator=(const Drainer&) = delete;

  void begin() {
    begun_ = true;
    go_.release();
  }
  bool is_done() const { return done_; }

 private:
  void run() {
    go_.acquire();
    if (begun_) drain_();
    done_ = true;
  }

  std::function<void()> drain_;
  std::counting_semaphore<2> go_{0};
  std::atomic<bool> begun_ = false, done_ = false;
  std::thread thread_;
};

// Whether a model has become ready, or can be loaded on demand. If no model can be loaded, the server ends with an error; after one has served, it
// continues without the models that it loses. @throws Error if none was ready and none is coming
bool has_begun(const serve::Models& models) {
  using State = serve::Models::State;
  const std::vector<serve::Models::Status> list = models.status();
  if (std::any_of(list.begin(), list.end(), [](const auto& s) { return s.offered; })) return true;
  if (std::any_of(list.begin(), list.end(), [](const auto& s) { return s.state != State::failed; })) return false;
  const auto sound = std::find_if(list.begin(), list.end(), [](const auto& s) { return !s.refused; });
  const serve::Models::Status& worst = sound == list.end() ? list[0] : *sound;
  const std::string what =
      list.size() == 1 ? fmt::format("{} cannot be loaded: {}", worst.name, worst.error)
                       : fmt::format("none of the {} can be loaded; {}: {}", list.size(), worst.name, worst.error);
  throw Error(worst.refused ? ErrorKind::usage : ErrorKind::failure, "--model", what);
}

// A browser names the origin of a page as scheme://host[:port], in lower case. Any other text would never match.
void check_origins(const std::vector<std::string>& origins) {
  for (const std::string& origin : origins) {
    const std::size_t scheme = origin.find("://");
    const std::string host = scheme == std::string::npos ? "" : origin.substr(scheme + 3);
    const bool is_origin = scheme != 0 && !host.empty() && host.find('/') == std::string::npos &&
                           std::none_of(origin.begin(), origin.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
    if (!is_origin && origin != "*" && origin != "null")
      fail_usage("--cors-origins",
                 fmt::format("expected scheme://host[:port] in lower case, got \"{}\"", printable(origin)),
                 "for example https://example.org or http://localhost:3000");
  }
}

struct NamedFlag {
  std::string flag, form, example;
};
// Refuses values that name no model.
void check_values(const std::vector<std::string>& values, const std::vector<serve::ModelLoader>& loaders,
                  const NamedFlag& of) {
  check_names(values, of.flag);
  for (const std::string& value : values)
    if (value.find('=') == value.npos || std::none_of(loaders.begin(), loaders.end(), [&](const serve::ModelLoader& l) {
          return l.name == named(value).first;
        }))
      fail_usage(of.flag, fmt::format("expected {} with a model of --model, got \"{}\"", of.form, printable(value)),
                 "for example " + of.example);
}

// Mistakes that are found before models are loaded. Values have names.
void check_proposals(const ServeOptions& o) {
  std::vector<std::string> known;
  for (const std::string& model : o.models) known.push_back(named(model).first);
  const auto open_each = [&](const char* flag, const std::vector<std::string>& values, const auto& open) {
    std::vector<std::string> used;
    for (const std::string& value : values) {
      const auto [name, directory] = named(value);
      if (value.find('=') == value.npos || std::find(known.begin(), known.end(), name) == known.end())
        fail_usage(flag, fmt::format("\"{}\" names no served model", printable(value)),
                   fmt::format("pass NAME=DIR with one of these names: {}", fmt::join(known, ", ")));
      if (std::find(used.begin(), used.end(), name) != used.end())
        fail_usage(flag, fmt::format("is given twice for model {}", name), "a model can have one");
      used.push_back(name);
      try {
        open(directory);
      } catch (const Error& error) {
        fail_usage(flag, error.what());
      }
    }
  };
  open_each("--draft-model", o.draft_models, [](const std::string& path) { model::ModelSource::open(path); });
  open_each("--draft-heads", o.draft_heads, [](const std::string& path) { model::MedusaFiles::open(path); });
  const std::string flag = !o.draft_models.empty()         ? "--draft-model"
                           : !o.draft_heads.empty()        ? "--draft-heads"
                           : o.proposals.prompt_lookup > 0 ? "--prompt-lookup"
                                                           : "";
  if (o.deterministic && !flag.empty())
    fail_usage(flag, "cannot be combined with --deterministic: steps of several tokens are rounded differently",
               "leave one of the two out");
  if (o.proposals.draft_tokens && flag.empty())
    fail_usage("--draft-tokens", "has no effect without proposed tokens",
               "pass --draft-model, --draft-heads or --prompt-lookup");
}

}  // namespace

void run_server(ServeOptions o, const ServerSignals& signals) {
  check_origins(o.cors_origins);
  settle_placement(o.decoding);  // reports mistakes before models are loaded, and warns once for all of them
  const int threads = static_cast<int>(o.decoding.threads);
  const serve::TrustedProxies proxies(o.trusted_proxies);
  serve::ServiceOptions options;
  options.keys = keys_of(o);
  options.origins.own_names_only = is_own_machine(o.host) && options.keys.api.empty();
  if (!is_own_machine(o.host) && options.keys.api.empty() && !o.allow_anyone)
    fail_usage("--host", fmt::format("{} accepts other machines without a key", o.host),
               "pass --api-key-file, or --allow-anyone if that is what you want");
  options.origins.allowed = o.cors_origins;
  options.log_texts = o.log_texts;
  options.unknown_fields = o.unknown_fields;
  options.most_body_bytes = o.max_body_kib * 1024;
  const std::string log_file = o.access_log == "none" ? "" : o.access_log;
  AccessLog log(log_file);
  if (!log_file.empty()) options.log = [&](const std::string& line) { log.write(line); };
  options.request_seconds = o.request_timeout;
  options.pivots = pivot_options(o);
  options.most_requests = o.requests;
  options.most_texts = o.max_texts;
  options.most_characters = o.max_characters;
  options.most_new_tokens = o.max_new_tokens;
  options.documents = document_limits(o);
  options.suggestions_file = o.suggestions;
  options.most_suggestion_bytes = static_cast<std::uint64_t>(o.max_suggestions);
  options.glossaries = glossaries_of(o);
  if (!o.glossary_dir.empty()) options.usage_file = o.glossary_dir + "/usage.counts";
  options.memories = std::make_shared<const serve::ServedMemories>(memories_of(o));

  // Read again by the server. Mistakes in these files are reported before models are loaded.
  serve::HttpServer::check_certificate(o.tls_certificate, o.tls_key);
  if (!o.suggestions.empty()) serve::Suggestions(o.suggestions, options.most_suggestion_bytes);

  if (o.classroom) {
    options = serve::for_classroom(std::move(options));
    options.side_threads = threads;  // nothing decodes
  }

  // The first model of a directory may be another one tomorrow, so only a model of --model can be meant without its name.
  for (std::vector<std::string>* const list : {&o.draft_models, &o.draft_heads})
    if (!o.models.empty()) give_to_first(*list, o.models);
  o.models = models_of(o);
  const std::vector<LanguagePair> languages = language_pairs(o.languages);
  for (const NamedAdapter& a : named_adapters(o.adapters, o.models)) try {
      model::Adapter::open(a.directory);
    } catch (const Error& error) {
      fail_usage("--adapter", error.what());
    }
  check_proposals(o);
  Refused refused, late;  // of models at the start, and of those that have appeared later
  std::vector<serve::ModelLoader> loaders = model_loaders(o, refused);
  for (const LanguagePair& pair : languages)
    if (std::none_of(loaders.begin(), loaders.end(), [&](const serve::ModelLoader& l) { return l.name == pair.model; }))
      fail_usage("--languages", "there is no model " + pair.model + " in --model");
  check_values(o.prompt_templates, loaders, {"--prompt-template", "NAME=TEXT", "lm=general"});
  check_values(o.shortlists, loaders, {"--shortlist", "NAME=FILE", "de=models/de/lex.s2t"});

  // They have little work compared to decoding, and each additional one competes more for the cores.
  const int http_threads =
      o.http_threads > 0 ? static_cast<int>(o.http_threads) : std::clamp(threads / 4, 1, most_http_threads);
  serve::Models models(std::move(loaders), models_options(o));
  serve::Service service(options, models);
  serve::add_dialects(service);
  serve::HttpServer server(
      {.address = o.host == "localhost" ? "127.0.0.1" : o.host,
       .port = static_cast<std::uint16_t>(o.port),
       .threads = http_threads,
       .trusted_proxies = proxies,
       .certificate_file = o.tls_certificate,
       .key_file = o.tls_key,
       .most_connections = o.max_connections,
       .most_body_bytes = options.most_body_bytes,
       .takes_uploads = [&](std::string_view path) { return service.takes_files(path); },
       .upload_bytes = service.most_upload_bytes(),
       .judge_upload = [&](const serve::HttpRequest& arrived) { return service.judge_upload(arrived); },
       .refusal = [&](std::string_view path, int status,
                      const std::string& message) { return service.refusal(path, status, message); },
       .most_upload_bytes = static_cast<std::size_t>(options.documents.memory),
       .idle_seconds = o.idle_timeout,
       .crowded = [&] { return models.crowded(); }},
      [&](serve::HttpRequest request, std::shared_ptr<serve::Responder> responder) {
        service.handle(std::move(request), std::move(responder));
      });
  service.set_connections([&] { return server.connections(); });
  Drainer drainer([&] {
    service.drain();
    server.drain();
    const auto until = serve::Clock::now() + std::chrono::seconds(10);
    while (server.connections() > 0 && serve::Clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  });
  spdlog::info("listening on {}://{}:{}", o.tls_certificate.empty() ? "http" : "https", o.host, server.port());
  if (signals.listening) signals.listening(server.port());

  for (bool begun = false;;) {
    const int signal = signals.wait(std::chrono::milliseconds(100));
    if (signal == SIGHUP) {
      spdlog::info("reloading the models");
      models.reload();
      models.add(new_model_loaders(o, models, late));
      // An invalid new value is reported, and the old one stays.
      const auto again = [](const auto& read) {
        try {
          read();
        } catch (const Error& error) {
          spdlog::error("{}", error.what());
        }
      };
      again([&] { service.set_keys(keys_of(o)); });
      again([&] {
        if (!o.tls_certificate.empty()) server.reload_certificate();
      });
    } else if (signal != 0) {
      break;
    }
    refused.rethrow();
    begun = begun || has_begun(models);
  }

  // Requests in progress are finished; a second signal does not wait for them.
  spdlog::info("finishing the running requests");
  service.stop_taking();
  drainer.begin();
  const auto began = serve::Clock::now();
  while (!drainer.is_done())
    if (const int signal = signals.wait(std::chrono::milliseconds(100));
        (signal == SIGINT || signal == SIGTERM) && serve::Clock::now() - began > std::chrono::milliseconds(500))
      signals.end_by(signal);
}

void add_serve(App& app) {
  auto o = std::make_shared<ServeOptions>();
  app.add(
      {.name = "serve",
       .summary = "serve translation and text generation over HTTP",
       .description =
           "Implements the APIs of LibreTranslate (/translate, and /translate_file for files), DeepL (/v2), Google "
           "(/language/translate/v2), Microsoft (/translator/text/v3.0) and OpenAI (/v1/completions, "
           "/v1/chat/completions), and returns scores, tokens and attention; /openapi.json describes all routes. "
           "Continuous batching: requests join and leave the running batch at every step. Options may also be set in "
           "the environment: TRIL_PORT is --port. SIGHUP reloads the models without dropping a request, and finds new "
           "ones in --models; SIGTERM cancels files, finishes the other requests and exits; a second SIGTERM exits at "
           "once.",
       .examples =
           {{"tril serve --model models/de", "only on this machine, port 8080"},
            {"tril serve -m de=models/de --classroom --host 0.0.0.0 --allow-anyone",
             "for a class: only the page that shows how models compute"},
            {"tril serve -m de=models/de plays=models/plays --precision int8 --port 9000", "two models"},
            {"tril serve --models models --model-memory 2GiB --idle-unload 10m",
             "any number of models, loaded when requests need them"},
            {"tril serve -m big=models/big --draft-model models/small",
             "a language model whose tokens a smaller one proposes"},
            {"tril serve -m de=models/de --host 0.0.0.0 --api-key-file keys --tls-certificate c.pem --tls-key k.pem",
             "for other machines, with HTTPS and keys"}},
       .fields = fields_of(*o),
       .reads_config = true,
       .reads_environment = true,
       .models = {"model", "adapter", "draft-model", "draft-heads"},
       .outputs = {"access-log", "suggestions"},
       .apply_preset = {},
       .run = [o](const Invocation&) {
         const BlockedSignals signals{SIGINT, SIGTERM, SIGHUP};
         run_server(*o, {.wait = [&](std::chrono::milliseconds most) { return signals.wait(most); },
                         .end_by = [&](int signal) { signals.end_by(signal); }});
         return exit_success;
       }});
}

}  // namespace tril::cli
