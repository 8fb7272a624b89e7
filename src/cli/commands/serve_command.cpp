// tril serve: serves models over HTTP to many clients at once.
#include <spdlog/spdlog.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <semaphore>
#include <sstream>

#include "base/cores.h"
#include "base/file.h"
#include "base/printable.h"
#include "chat/chat_template.h"
#include "cli/commands/commands.h"
#include "cli/io/access_log.h"
#include "cli/io/blocked_signals.h"
#include "cli/options/decoding_options.h"
#include "decode/texts/search_setup.h"
#include "model_io/model_source.h"
#include "serve/api/service.h"
#include "serve/http/http_server.h"
#include "tokenizer/files/language_tag.h"
#include "unicode/trim.h"

namespace tril::cli {
namespace {

constexpr int most_http_threads = 256;

struct ServeOptions {
  std::vector<std::string> models, languages, cors_origins;
  DecodingOptions decoding;
  std::int64_t queue_size = 1024, cache_tokens = 0, prompt_tokens = 512, prefix_tokens = 16'384;
  bool deterministic = false;
  ServeOptions() {
    decoding.batch_size = 48;
  }  // requests that join at a step cost less per sentence than batches of tril translate's 32

  std::string host = "127.0.0.1", api_key_file, admin_key_file, tls_certificate, tls_key, access_log = "-";
  std::int64_t port = 8080, http_threads = 0, max_connections = 1024, max_body_kib = 4096, max_texts = 256,
               max_characters = 200'000, max_new_tokens = 4096;
  double request_timeout = 120, idle_timeout = 75;
  serve::UnknownFields unknown_fields = serve::UnknownFields::warn;
  bool allow_anyone = false, log_texts = false;
};

Fields fields_of(ServeOptions& o) {
  Fields f;
  f.group("Models");
  f.add("model", &o.models, "a model directory or a GGUF file, or several as NAME=DIR; the first is the default")
      .value_name("[NAME=]DIR")
      .letter('m')
      .required();
  precision_field(
      f.add("precision", &o.decoding.precision, "precision of the weights; unset: as the directory stores them"));
  f.add("languages", &o.languages,
        "languages of a model: NAME=en:de; unset: as its tokenizer_config.json says; for a model with tags (>>de<<), "
        "the default target of requests, - for texts without a tag; not for a model with language tokens")
      .value_name("NAME=FROM:TO");
  f.add("beam-size", &o.decoding.search.beam_size,
        "default beam size of requests; unset: as the model's directory says, or 1")
      .letter('b')
      .at_least(1)
      .at_most(64);
  f.group("Resources");
  f.add("threads", &o.decoding.threads, "number of cores to use; 0: all").at_least(0).at_most(4096);
  f.add("batch-size", &o.decoding.batch_size, "number of sentences that a worker decodes together")
      .at_least(1)
      .at_most(10'000);
  f.add("queue-size", &o.queue_size,
        "maximum number of waiting sentences, half of them from one client; further requests get 429")
      .at_least(1)
      .at_most(10'000'000);
  f.add("cache-tokens", &o.cache_tokens,
        "size of the KV cache in tokens of all hypotheses, which bounds memory; 0: 262144")
      .at_least(0)
      .at_most(1e12);
  f.add("cache-precision", &o.decoding.cache_precision,
        "number format of the KV cache; unset: int8 with --precision int8 or int4, else fp32")
      .choices({"fp32", "int8"})
      .value_name("NAME");
  f.add("prompt-tokens", &o.prompt_tokens, "number of prompt or source tokens that are read between two decode steps")
      .at_least(1)
      .at_most(1'000'000);
  f.add("prefix-tokens", &o.prefix_tokens,
        "size of the prefix cache in tokens of prompts and answers, in addition to --cache-tokens; the least recently "
        "used are dropped first; 0, or with --deterministic: no prefix cache")
      .at_least(0)
      .at_most(1e12);
  f.add("deterministic", &o.deterministic,
        "give answers that are the same to the last bit, whatever other requests are running; slower");
  f.group("Server");
  f.add("host", &o.host, "address to listen on; addresses that other machines can reach need keys")
      .value_name("ADDRESS");
  f.add("port", &o.port, "port to listen on; 0: any free port").at_least(0).at_most(65'535);
  f.add("http-threads", &o.http_threads, "number of threads for connections; 0: one for every four of --threads")
      .at_least(0)
      .at_most(most_http_threads);
  f.add("api-key-file", &o.api_key_file,
        "file of keys, one per line; requests must carry one of them; TRIL_API_KEY is one too")
      .value_name("FILE");
  f.add("admin-key-file", &o.admin_key_file,
        "file of keys of administrators, who may load and unload models and have priority")
      .value_name("FILE");
  f.add("allow-anyone", &o.allow_anyone, "allow requests without keys from other machines");
  f.add("cors-origins", &o.cors_origins, "origins of pages whose browsers may send requests; *: any")
      .value_name("ORIGIN");
  f.add("tls-certificate", &o.tls_certificate, "certificate chain in PEM; enables HTTPS, with --tls-key")
      .value_name("FILE");
  f.add("tls-key", &o.tls_key, "private key of the certificate").value_name("FILE");
  f.add("access-log", &o.access_log,
        "file for the access log, a JSON object for each request; - is standard output; none: no log")
      .value_name("FILE");
  f.add("log-texts", &o.log_texts, "include the texts of requests in the access log");
  f.add("unknown-fields", &o.unknown_fields,
        "unknown fields in a request: refuse them with 400, warn of them in the answer's \"warnings\", or ignore them",
        serve::unknown_fields_names());
  f.group("Limits");
  f.add("max-connections", &o.max_connections, "maximum number of connections").at_least(1).at_most(1'000'000);
  f.add("max-body-kib", &o.max_body_kib, "maximum size of a request body in KiB").at_least(1).at_most(60'000);
  f.add("max-texts", &o.max_texts, "maximum number of texts in a request").at_least(1).at_most(100'000);
  f.add("max-characters", &o.max_characters, "maximum number of bytes in a request's texts")
      .at_least(1)
      .at_most(60'000'000);
  f.add("max-new-tokens", &o.max_new_tokens, "maximum number of new tokens that a request may ask for")
      .at_least(1)
      .at_most(1'000'000);
  f.add("request-timeout", &o.request_timeout, "seconds after which a request is cut off")
      .value_name("SECONDS")
      .above(0)
      .at_most(1e6);
  f.add("idle-timeout", &o.idle_timeout, "seconds after which an idle connection is closed")
      .value_name("SECONDS")
      .above(0)
      .at_most(1e6);
  f.needs("tls-certificate", "tls-key", "a certificate needs its key");
  f.needs("tls-key", "tls-certificate", "a key needs its certificate");
  return f;
}

// "de=models/de" -> {"de", "models/de"}; a directory without a name is named by its last component.
std::pair<std::string, std::string> named(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals != std::string::npos) return {serve::model_name(text.substr(0, equals)), text.substr(equals + 1)};
  std::filesystem::path path = std::filesystem::path(text).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return {serve::model_name(path.filename().string()), text};
}

// Refuses a name that is given twice: its value would be ambiguous.
void check_names(const std::vector<std::string>& values, const std::string& flag) {
  std::map<std::string, std::string> known;
  for (const std::string& value : values)
    if (const auto [first, is_new] = known.emplace(named(value).first, value); !is_new)
      fail_usage(flag,
                 fmt::format("\"{}\" and \"{}\" are both called \"{}\"", printable(first->second), printable(value),
                             printable(first->first)),
                 "give each a different name: NAME=VALUE");
}

// The source and target language given for a model.
struct LanguagePair {
  std::string model, from, to;
};

// "de=en:de" -> {"de", "en", "de"}. @throws Error(usage), quoting it, for anything else
LanguagePair language_pair(const std::string& text) {
  const auto [model, pair] = named(text);
  const std::size_t colon = pair.find(':');
  const bool sound = text.find('=') != std::string::npos && !model.empty() && colon != std::string::npos && colon > 0 &&
                     colon + 1 < pair.size() && pair.find(':', colon + 1) == std::string::npos &&
                     pair.find_first_of(" \t") == std::string::npos;
  if (!sound)
    fail_usage("--languages", fmt::format("expected NAME=FROM:TO, got \"{}\"", printable(text)),
               "for example de=en:de: model de translates from en into de");
  return {model, pair.substr(0, colon), pair.substr(colon + 1)};
}

// The pairs of --languages, all checked before anything is loaded.
std::vector<LanguagePair> language_pairs(const std::vector<std::string>& values) {
  std::vector<LanguagePair> pairs;
  for (const std::string& text : values) pairs.push_back(language_pair(text));
  check_names(values, "--languages");
  return pairs;
}

void check_length(const std::string& where, std::string_view key) {
  check(key.size() >= 8, where, "a key of {} characters is easy to guess, expected at least 8", key.size());
}

std::vector<std::string> read_keys(const std::string& path) {
  std::vector<std::string> keys;
  if (path.empty()) return keys;
  std::istringstream lines(read_text(path, 1 << 20));
  return from_files([&] {
    for (std::string line; std::getline(lines, line);)
      if (const std::string_view key = trim(line); !key.empty() && key[0] != '#') {
        check_length(printable(path, 400), key);
        keys.emplace_back(key);
      }
    check(!keys.empty(), printable(path, 400), "has no key");
    return keys;
  });
}

serve::Keys keys_of(const ServeOptions& o) {
  serve::Keys keys{read_keys(o.api_key_file), read_keys(o.admin_key_file)};
  if (const char* const key = std::getenv("TRIL_API_KEY"); key && *key) {
    check_length("TRIL_API_KEY", key);
    keys.api.emplace_back(key);
  }
  return keys;
}

bool is_own_machine(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

// Renders a chat by the template of the model's directory; empty if there is none. An invalid template causes a warning
// at once and an error for each chat request; the model's other routes work.
std::function<std::string(const nlohmann::ordered_json&, bool)> chat_of(const Tokenizer& tokenizer,
                                                                        const std::string& directory) {
  const std::optional<std::string> source = tokenizer.chat_template();
  if (!source) return {};
  std::shared_ptr<const ChatTemplate> chat;
  try {
    chat = std::make_shared<const ChatTemplate>(*source, directory + ": chat template");
  } catch (const Error& error) {
    spdlog::warn("{}; chat requests are refused, all others are served", error.what());
    return [error](const nlohmann::ordered_json&, bool) -> std::string { throw error; };
  }
  return [chat, special_tokens = tokenizer.special_tokens()](const nlohmann::ordered_json& messages, bool answers) {
    return chat->render({.messages = messages,
                         .tools = nullptr,
                         .documents = nullptr,
                         .add_generation_prompt = answers,
                         .special_tokens = special_tokens,
                         .variables = nullptr,
                         .now = {}});
  };
}

serve::Loaded load(const ServeOptions& o, const std::string& name, const std::string& directory) {
  DecodingOptions d = o.decoding;
  d.model = directory;
  serve::Loaded l;
  const auto source = model::ModelSource::open(directory);
  l.model = load_model(source, d);
  l.tokenizer = source.tokenizer();
  const model::GenerationConfig published = published_generation(source);
  search::ParallelOptions decoding;
  if (l.model->has_encoder()) {
    search::TranslatorOptions t = translator_options(d, published, *l.model, *l.tokenizer);
    decoding = t.decoding;
    l.text = t;
    const StatedLanguages stated = l.tokenizer->stated_languages();
    l.source_language = stated.source;
    // For a model with tags, the file gives one code for all of them ("roa"), which puts no tag before a text.
    if (tagged_languages(*l.tokenizer).empty()) l.target_language = stated.target;
  } else {
    d.search.beam_size.reset();
    search::GeneratorOptions g = generator_options(d, published, *l.model, *l.tokenizer);
    decoding = g.decoding;
    l.continuation = g;
    l.chat = chat_of(*l.tokenizer, directory);
    if (!published.search.top_k) d.search.top_k = decoding.search.sampling.top_k = 0;  // as OpenAI's clients expect
  }
  l.asked = search::combined(d.search, published);
  l.search = decoding.search;
  for (const std::string& text : o.languages)
    if (const LanguagePair pair = language_pair(text); pair.model == name)
      l.source_language = pair.from, l.target_language = pair.to;
  l.engine = {.threads = decoding.threads,
              .batch_size = decoding.batch_size,
              .queue_size = static_cast<std::size_t>(o.queue_size),
              .cache_tokens = o.cache_tokens,
              .session = {.cache = decoding.cache,
                          .prompt_tokens = static_cast<std::int32_t>(o.prompt_tokens),
                          .prefix_tokens = o.prefix_tokens,
                          .attention = l.model->alignment_heads().value_or(model::AlignmentHeads{})},
              .deterministic = o.deterministic};
  return l;
}

// An error of one thread that another thread ends with.
class Refused {
 public:
  void say(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
  }
  void rethrow() {
    const std::lock_guard lock(mutex_);
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
};

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

// A cache without room for anything but its text is a mistake.
void check_cache(const serve::Loaded& l, const std::string& name, const ServeOptions& o) {
  if (o.cache_tokens == 0) return;
  const int workers = serve::Engine::workers_of(*l.model, l.engine);
  const serve::CacheNeeds needs = serve::cache_needs(l, o.max_new_tokens);
  if (o.cache_tokens / workers >= needs.least) return;
  fail_usage("--cache-tokens",
             fmt::format("{} cannot hold any request to model {}: the shortest may need {} for each of {} workers",
                         o.cache_tokens, name, needs.least, workers),
             fmt::format("{} can hold its longest", needs.most * workers));
}

// Languages given for a model that they have no effect on are a mistake.
void check_languages(const serve::Loaded& l, const std::string& name, const ServeOptions& o) {
  for (const std::string& text : o.languages) {
    const LanguagePair pair = language_pair(text);
    if (pair.model != name) continue;
    if (!l.model->has_encoder())
      fail_usage("--languages", fmt::format("model {} continues text and does not translate", name), "leave it out");
    if (!l.tokenizer->languages().empty())
      fail_usage(
          "--languages",
          fmt::format("the vocabulary of model {} lists its languages, and it translates between all of them", name),
          "leave it out; requests set source and target");
    const std::vector<std::string> tags = tagged_languages(*l.tokenizer);
    if (!tags.empty() && pair.to != "-" && std::find(tags.begin(), tags.end(), pair.to) == tags.end())
      fail_usage("--languages",
                 fmt::format("model {} has no tag >>{}<<; it has {}", name, printable(pair.to), fmt::join(tags, ", ")),
                 fmt::format("{}={}:{} sets the default target of requests, - if their texts have no tag", name,
                             pair.from, tags.front()));
  }
}

// Whether a model has become ready. If no model can be loaded, the server ends with an error; after one has served, it
// continues without the models that it loses. @throws Error if none was ready and none is coming
bool has_begun(const serve::Models& models) {
  using State = serve::Models::State;
  const std::vector<serve::Models::Status> list = models.status();
  if (std::any_of(list.begin(), list.end(), [](const auto& s) { return s.state == State::ready; })) return true;
  if (std::any_of(list.begin(), list.end(), [](const auto& s) { return s.state != State::failed; })) return false;
  const auto sound = std::find_if(list.begin(), list.end(), [](const auto& s) { return !s.refused; });
  const serve::Models::Status& worst = sound == list.end() ? list[0] : *sound;
  const std::string what =
      list.size() == 1 ? fmt::format("{} cannot be loaded: {}", worst.name, worst.error)
                       : fmt::format("none of the {} can be loaded; {}: {}", list.size(), worst.name, worst.error);
  throw Error(worst.refused ? ErrorKind::usage : ErrorKind::failure, "--model", what);
}

int serve(const ServeOptions& o) {
  const BlockedSignals signals{SIGINT, SIGTERM, SIGHUP};
  serve::ServiceOptions options;
  options.keys = keys_of(o);
  options.origins.own_names_only = is_own_machine(o.host) && options.keys.api.empty();
  if (!is_own_machine(o.host) && options.keys.api.empty() && !o.allow_anyone)
    fail_usage("--host", fmt::format("{} accepts other machines without a key", o.host),
               "pass --api-key-file, or --allow-anyone if that is what you want");
  options.origins.allowed = o.cors_origins;
  options.log_texts = o.log_texts;
  options.unknown_fields = o.unknown_fields;
  options.most_body_bytes = static_cast<std::size_t>(o.max_body_kib) * 1024;
  const std::string log_file = o.access_log == "none" ? "" : o.access_log;
  AccessLog log(log_file);
  if (!log_file.empty()) options.log = [&](const std::string& line) { log.write(line); };
  options.request_seconds = o.request_timeout;
  options.most_texts = static_cast<std::size_t>(o.max_texts);
  options.most_characters = static_cast<std::size_t>(o.max_characters);
  options.most_new_tokens = o.max_new_tokens;

  check_names(o.models, "--model");
  const std::vector<LanguagePair> languages = language_pairs(o.languages);
  Refused refused;
  std::vector<serve::ModelLoader> loaders;
  for (const std::string& text : o.models) {
    const auto [name, directory] = named(text);
    check(!name.empty() && !directory.empty(), "--model", "expected [NAME=]DIR, got \"{}\"", text);
    try {
      model::ModelSource::open(directory);
    } catch (const Error& error) {
      fail_usage("--model", error.what());
    }
    // Models are loaded while the server runs; one that its first loading refuses ends the server.
    loaders.push_back({name, [o, &refused, first = true, n = name, d = directory]() mutable {
                         const bool at_start = std::exchange(first, false);
                         serve::Loaded l = load(o, n, d);
                         try {
                           check_languages(l, n, o);
                           check_cache(l, n, o);
                         } catch (...) {
                           if (at_start) refused.say(std::current_exception());
                           throw;
                         }
                         return l;
                       }});
  }

  for (const LanguagePair& pair : languages)
    if (std::none_of(loaders.begin(), loaders.end(), [&](const serve::ModelLoader& l) { return l.name == pair.model; }))
      fail_usage("--languages", "there is no model " + pair.model + " in --model");

  // They have little work compared to decoding, and each additional one competes more for the cores.
  const int http_threads = o.http_threads > 0 ? static_cast<int>(o.http_threads)
                                              : std::clamp(thread_count(o.decoding.threads) / 4, 1, most_http_threads);
  serve::Models models(std::move(loaders));
  serve::Service service(options, models);
  serve::HttpServer server({.address = o.host == "localhost" ? "127.0.0.1" : o.host,
                            .port = static_cast<std::uint16_t>(o.port),
                            .threads = http_threads,
                            .certificate_file = o.tls_certificate,
                            .key_file = o.tls_key,
                            .most_connections = static_cast<std::size_t>(o.max_connections),
                            .most_body_bytes = options.most_body_bytes,
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

  for (bool begun = false;;) {
    const int signal = signals.wait(std::chrono::milliseconds(100));
    if (signal == SIGHUP) {
      spdlog::info("reloading the models");
      models.reload();
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
  return exit_success;
}

}  // namespace

void add_serve(App& app) {
  auto o = std::make_shared<ServeOptions>();
  app.add(
      {.name = "serve",
       .summary = "serve translation and text generation over HTTP",
       .description =
           "Implements the APIs of LibreTranslate (/translate) and OpenAI (/v1/completions, /v1/chat/completions), and "
           "gives scores, tokens and attention; /openapi.json describes all routes. Continuous batching: requests join "
           "and leave the running batch at every step. Options may also be set in the environment: TRIL_PORT is "
           "--port. SIGHUP reloads the models without dropping a request; SIGTERM finishes the running requests and "
           "exits, a second one exits at once.",
       .examples =
           {{"tril serve --model models/de", "only on this machine, port 8080"},
            {"tril serve -m de=models/de plays=models/plays --precision int8 --port 9000", "two models"},
            {"tril serve -m de=models/de --host 0.0.0.0 --api-key-file keys --tls-certificate c.pem --tls-key k.pem",
             "for other machines, with HTTPS and keys"}},
       .fields = fields_of(*o),
       .reads_config = true,
       .reads_environment = true,
       .apply_preset = {},
       .run = [o](const Invocation&) { return serve(*o); }});
}

}  // namespace tril::cli
