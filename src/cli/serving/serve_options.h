// The options of `tril serve`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.h"
#include "cli/options/decoding_options.h"
#include "serve/api/service.h"

namespace tril::cli {

inline constexpr int most_http_threads = 256;

struct ServeOptions {
  std::vector<std::string> models, adapters, languages, cors_origins;
  DecodingOptions decoding;
  std::int64_t queue_size = 1024, cache_tokens = 0, prompt_tokens = 512, prefix_tokens = 16'384;
  bool deterministic = false;
  ServeOptions() {
    decoding.batch_size =
        48;  // requests that join at a step cost less per sentence than batches of tril translate's 32
  }

  std::string host = "127.0.0.1", api_key_file, admin_key_file, tls_certificate, tls_key, access_log = "-";
  std::int64_t port = 8080, http_threads = 0, max_connections = 1024, max_body_kib = 4096, max_texts = 256,
               max_characters = 200'000, max_new_tokens = 4096;
  double request_timeout = 120, idle_timeout = 75;
  serve::UnknownFields unknown_fields = serve::UnknownFields::warn;
  bool allow_anyone = false, log_texts = false;
};

/// Which must not move.
Fields fields_of(ServeOptions& o);

}  // namespace tril::cli
