#include "cli/serving/serve_options.h"

#include "cli/options/quantity_forms.h"
#include "serve/api/schedule.h"
#include "serve/api/search_fields.h"
#include "serve/engine/engine.h"

namespace tril::cli {

Fields fields_of(ServeOptions& o) {
  Fields f;
  f.group("Models");
  f.add("model", &o.models,
        fmt::format("one model, or several as NAME=DIR, of which the first is the default; DIR: {}", forms_of_models))
      .value_name("[NAME=]DIR")
      .letter('m');
  f.add("models", &o.model_directories,
        "directories of models: each directory and each model file in them is served as a model of that name")
      .value_name("DIR");
  f.add("load", &o.load,
        "when to load a model: at-start, or on-demand for its first request; unset: at-start, but on-demand with "
        "--model-memory or --idle-unload")
      .choices({"at-start", "on-demand"});
  f.add("model-memory", &o.model_memory,
        "maximum memory of all loaded models, such as 2GiB: weights, tokenizers and KV caches; the least recently used "
        "models are unloaded to make room for others; with --load at-start, as many models are loaded as fit; 0: no "
        "limit",
        memory_form())
      .value_name("SIZE");
  f.add("idle-unload", &o.idle_unload, "unload a model after this time without requests, such as 10m; 0: never",
        time_form())
      .value_name("TIME");
  f.add("adapter", &o.adapters,
        "PEFT adapters (LoRA, rsLoRA, DoRA): NAME=DIR for the first model, MODEL:NAME=DIR for another; DIR may also be "
        "OWNER/NAME on the hub; a request with \"model\": \"MODEL:NAME\" uses one")
      .value_name("[MODEL:]NAME=DIR");
  f.add(
       "shortlist", &o.shortlists,
       "vocabulary shortlist of a model that translates: NAME=FILE, a binary file (lex.*.bin) or a table made by `tril "
       "shortlist`; NAME=none: all tokens; unset: the lex.*.bin in a Marian model's directory, if there is one")
      .value_name("NAME=FILE");
  precision_field(
      f.add("precision", &o.decoding.precision, "precision of the weights; unset: as the directory stores them"));
  f.add("languages", &o.languages,
        "source and target language of a model: NAME=en:de; the languages of a language model that translates: "
        "NAME=en,de,fr; for a model with tags (>>de<<), the target is the default "
        "of requests, and - means no tag; not for a model with language tokens; unset: as its tokenizer_config.json "
        "says")
      .value_name("NAME=FROM:TO");
  f.add("prompt-template", &o.prompt_templates,
        "prompt with which a language model translates, as for `tril translate`; needs the model's --languages unless "
        "its publisher lists them")
      .value_name("NAME=TEXT|FILE|NAME");
  f.add("max-pivots", &o.max_pivots,
        "maximum number of languages between source and target, if no model translates directly: fr -> en -> de has "
        "one; "
        "0: none")
      .at_least(0)
      .at_most(serve::most_pivots);
  f.add("pivot", &o.pivot, "languages to prefer as pivots, the best first; unset: the first in the order of --model")
      .value_name("LANGUAGE");
  f.add("glossary", &o.glossaries,
        "glossaries for requests with \"glossary\": \"NAME\": .tsv, .csv or .tbx files; if a file does not state its "
        "languages, put them before it: NAME=en:de:FILE")
      .value_name("NAME=FILE");
  f.add("glossary-dir", &o.glossary_dir,
        "directory for the glossaries that clients upload (POST /glossaries), and for the counts of characters that "
        "each key has had translated; unset: they are kept in memory only")
      .value_name("DIR");
  f.add("memory", &o.memories,
        "translation memories for requests with \"memory\": \"NAME\": .tmx or .tsv files, each after its languages: "
        "NAME=en:de:FILE")
      .value_name("NAME=FROM:TO:FILE");
  f.add("beam-size", &o.decoding.search.beam_size,
        "default beam size of requests; unset: as the model's directory says, or 1")
      .letter('b')
      .within(serve::served_beams);
  f.group("Speculative decoding");
  f.add("draft-model", &o.draft_models,
        "a small model with the same vocabulary as the first model, or as the model NAME; it proposes tokens that the "
        "model checks in one step; the answers are the same up to rounding; for requests with greedy search or one "
        "sample")
      .value_name("[NAME=]DIR");
  f.add("draft-heads", &o.draft_heads,
        "Medusa heads that were trained for the first model, or for the model NAME; they propose tokens from "
        "its last hidden state")
      .value_name("[NAME=]DIR");
  add_proposal_fields(f, o.proposals);
  f.group("Resources");
  add_threads_field(f, o.decoding.threads);
  add_placement_fields(f, o.decoding.placement);
  f.add("batch-size", &o.decoding.batch_size, "number of sentences that a worker decodes together").within(batch_sizes);
  f.add("queue-size", &o.queue_size,
        "maximum number of waiting sentences; one client may have half of them; further requests get 429")
      .at_least(1)
      .at_most(10'000'000);
  f.add("cache-tokens", &o.cache_tokens,
        fmt::format("size of the KV cache in tokens of all hypotheses, which bounds memory; 0: {}",
                    serve::default_cache_tokens))
      .at_least(0)
      .at_most(1e12);
  add_cache_precision_field(f, o.decoding);
  f.add("prompt-tokens", &o.prompt_tokens, "number of prompt or source tokens that are read between two decode steps")
      .at_least(1)
      .at_most(1'000'000);
  f.add("prefix-tokens", &o.prefix_tokens,
        "size of the prefix cache in tokens of prompts and answers, in addition to --cache-tokens; the least recently "
        "used are dropped first; 0: no prefix cache, as with --deterministic")
      .at_least(0)
      .at_most(1e12);
  f.add("deterministic", &o.deterministic,
        "give answers that are the same to the last bit, whatever other requests are running; slower");
  f.group("Server");
  f.add("host", &o.host, "address to listen on; if other machines can reach it, requests need keys")
      .value_name("ADDRESS");
  f.add("port", &o.port, "port to listen on; 0: any free port").at_least(0).at_most(65'535);
  f.add("http-threads", &o.http_threads, "number of threads for connections; 0: one for every four of --threads")
      .at_least(0)
      .at_most(most_http_threads);
  f.add("api-key-file", &o.api_key_file,
        "file of API keys, one per line; a request needs one of them, or the key in TRIL_API_KEY; a line KEY "
        "characters=N limits the characters that the key may have translated until the server stops, or in all with "
        "--glossary-dir; KEY requests=N requests-per-hour=N requests-per-day=N are the key's own limits of requests, "
        "instead of the options'")
      .value_name("FILE");
  f.add("admin-key-file", &o.admin_key_file,
        "file of administrators' keys, one per line; administrators may load and unload models and set priorities")
      .value_name("FILE");
  f.add("allow-anyone", &o.allow_anyone, "allow requests without keys from other machines");
  f.add("classroom", &o.classroom,
        "for a class: serve only the page that shows how models compute, and what it asks (POST /trace, /search and "
        "/score), within smaller bounds and on all threads; nothing can be changed");
  f.add("trusted-proxies", &o.trusted_proxies,
        "addresses or networks of reverse proxies, such as 127.0.0.1 or 10.0.0.0/8, whose header X-Forwarded-For names "
        "the client; unset: the header is ignored")
      .value_name("ADDRESS");
  f.add("cors-origins", &o.cors_origins, "origins of web pages that may send requests; *: any").value_name("ORIGIN");
  f.add("tls-certificate", &o.tls_certificate, "certificate chain in PEM; enables HTTPS, with --tls-key")
      .value_name("FILE");
  f.add("tls-key", &o.tls_key, "private key of the certificate").value_name("FILE");
  f.add("access-log", &o.access_log,
        "file for the access log, a JSON object for each request; - is standard output; none: no log")
      .value_name("FILE");
  f.add("log-texts", &o.log_texts, "include the texts of requests in the access log");
  f.add("unknown-fields", &o.unknown_fields,
        "what to do with unknown fields of a request: refuse it with 400, report them in the response's \"warnings\", "
        "or ignore them",
        serve::unknown_fields_names());
  f.add("suggestions", &o.suggestions,
        "file to which POST /suggest appends users' translations, as JSON lines; unset: suggestions are refused")
      .value_name("FILE");
  f.group("Limits");
  f.add("max-connections", &o.max_connections, "maximum number of connections").at_least(1).at_most(1'000'000);
  constexpr double most_requests = 1e9;
  f.add("requests-per-minute", &o.requests.per_minute,
        "maximum number of requests of a client in a minute; a client is a key, or an address without one; a list of "
        "texts counts as many requests; not for administrators; further requests get 429; 0: no limit")
      .at_least(0)
      .at_most(most_requests);
  f.add("requests-per-hour", &o.requests.per_hour, "likewise in an hour").at_least(0).at_most(most_requests);
  f.add("requests-per-day", &o.requests.per_day, "likewise in 24 hours").at_least(0).at_most(most_requests);
  f.add("max-body-kib", &o.max_body_kib, "maximum size of a request body in KiB").at_least(1).at_most(60'000);
  f.add("max-texts", &o.max_texts, "maximum number of texts in a request").at_least(1).at_most(100'000);
  f.add("max-characters", &o.max_characters, "maximum number of bytes in a request's texts")
      .at_least(1)
      .at_most(60'000'000);
  f.add("max-document", &o.max_document, "maximum size of a file to translate, such as 16MiB; 0: no files",
        memory_form())
      .value_name("SIZE");
  f.add("document-memory", &o.document_memory,
        "maximum size of all files in translation (each counted twice) and of all translations not yet downloaded; one "
        "client may use half; files that are arriving have a separate limit of the same size",
        memory_form())
      .value_name("SIZE");
  f.add("keep-documents", &o.keep_documents,
        "time after which a translated file is deleted if it is not downloaded, such as 10m", time_form())
      .value_name("TIME");
  f.add("document-timeout", &o.document_timeout,
        "time after which the translation of a file fails, including its waiting time, such as 1h", time_form())
      .value_name("TIME");
  f.add("max-suggestions", &o.max_suggestions, "maximum size of the file of --suggestions", memory_form())
      .value_name("SIZE");
  f.add("max-new-tokens", &o.max_new_tokens, "maximum number of new tokens that a request may ask for")
      .at_least(1)
      .at_most(1'000'000);
  f.add("request-timeout", &o.request_timeout,
        "seconds after which the decoding of a request ends with the result so far")
      .value_name("SECONDS")
      .within(serve::served_seconds);
  f.add("idle-timeout", &o.idle_timeout, "seconds after which an idle connection is closed")
      .value_name("SECONDS")
      .within(serve::served_seconds);
  f.needs("tls-certificate", "tls-key", "a certificate needs its key");
  f.needs("tls-key", "tls-certificate", "a key needs its certificate");
  return f;
}

}  // namespace tril::cli
