// The options of `tril serve`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "decode/models/decoding_options.h"
#include "decode/models/model_set.h"
#include "serve/api/service.h"
#include "serve/engine/engine.h"

namespace tril::cli {

inline constexpr int most_http_threads = 256;

struct ServeOptions {
  std::vector<std::string> models, model_directories, adapters, languages, shortlists, prompt_templates, cors_origins,
      trusted_proxies;
  std::vector<std::string> pivot, glossaries, memories;
  std::string glossary_dir;
  std::int64_t max_pivots = serve::PivotOptions{}.most;
  std::optional<std::string> load;  ///< "at-start", "on-demand"; unset: follows from the next two
  std::int64_t model_memory = 0;    ///< bytes; 0: no bound
  double idle_unload = 0;           ///< seconds; 0: never
  DecodingOptions decoding;
  std::uint64_t queue_size = serve::EngineOptions{}.queue_size;
  std::int64_t cache_tokens = 0, prompt_tokens = 512, prefix_tokens = 16'384;
  bool deterministic = false;
  std::vector<std::string> draft_models, draft_heads;  ///< NAME=DIR, or DIR of the first model
  ModelSetOptions proposals;                           ///< of all models
  ServeOptions() {
    decoding.batch_size = 48;  // joining a running batch costs less per sentence than a batch of tril translate's 32
  }

  std::string host = "127.0.0.1", api_key_file, admin_key_file, tls_certificate, tls_key, access_log = "-";
  std::int64_t port = 8080, http_threads = 0, max_new_tokens = serve::ServiceOptions{}.most_new_tokens;
  serve::RequestLimits requests;  ///< of a client
  std::uint64_t max_connections = 1024, max_body_kib = serve::ServiceOptions{}.most_body_bytes / 1024,
                max_texts = serve::ServiceOptions{}.most_texts,
                max_characters = serve::ServiceOptions{}.most_characters;
  std::int64_t max_document = static_cast<std::int64_t>(serve::DocumentLimits{}.most_bytes),
               document_memory = serve::DocumentLimits{}.memory;
  std::string suggestions;
  std::int64_t max_suggestions = static_cast<std::int64_t>(serve::ServiceOptions{}.most_suggestion_bytes);
  double document_timeout = serve::DocumentLimits{}.timeout_seconds,
         keep_documents = serve::DocumentLimits{}.keep_seconds;
  double request_timeout = serve::ServiceOptions{}.request_seconds, idle_timeout = 75;
  serve::UnknownFields unknown_fields = serve::ServiceOptions{}.unknown_fields;
  bool allow_anyone = false, log_texts = false, classroom = false;
};

/// The fields point into the options, which must not move.
Fields fields_of(ServeOptions& o);

}  // namespace tril::cli
