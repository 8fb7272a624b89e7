// Servers to compare tril serve with: the same HTTP server and library, without continuous batching. Either each
// request is translated by itself when a worker is free, or requests are gathered for some milliseconds and
// translated together, while the next ones wait until all of them are done.
//
//   bench_plain --model DIR --port 8081 [--gather 10]
#include <CLI/CLI.hpp>
#include <condition_variable>
#include <deque>
#include <iostream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/cores.h"
#include "decode/texts/translator.h"
#include "model_io/contents/generation_config.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "serve/http/http_server.h"

namespace {

using namespace tril;

struct Asked {
  std::string text;
  std::shared_ptr<serve::Responder> out;
};

class Queue {
 public:
  void push(Asked asked) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(asked));
    }
    changed_.notify_one();
  }
  /// One request, or all that arrive within `gather` of the first.
  std::vector<Asked> pop(std::chrono::milliseconds gather, std::size_t most) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !waiting_.empty(); });
    if (gather.count() > 0) changed_.wait_for(lock, gather, [&] { return waiting_.size() >= most; });
    std::vector<Asked> list;
    while (!waiting_.empty() && list.size() < most) {
      list.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
    }
    return list;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Asked> waiting_;
};

}  // namespace

int main(int argc, char** argv) {
  std::string directory;
  int port = 8081, gather = 0, workers = thread_count(0), batch = 32, beam = 4;
  CLI::App app("A server that batches nothing, or by waiting");
  app.add_option("--model", directory, "a model's directory")->required();
  app.add_option("--port", port, "");
  app.add_option("--gather", gather, "milliseconds for which requests are gathered; 0: each by itself");
  app.add_option("--threads", workers, "");
  app.add_option("--batch-size", batch, "most that are gathered");
  app.add_option("--beam-size", beam, "");
  CLI11_PARSE(app, argc, argv);

  const auto source = model::ModelSource::open(directory);
  const auto model = model::load(source, source.stored_precision());
  const std::shared_ptr<const Tokenizer> tokenizer = source.tokenizer();
  const model::GenerationConfig& published = source.generation();
  search::TranslatorOptions o;
  o.decoding.search.beam_size = beam;
  o.decoding.search.eos_ids =
      published.eos_token_ids.empty() ? std::vector{model->special_ids().eos} : published.eos_token_ids;
  o.decoding.search.bad_words = published.bad_words_ids;
  o.decoding.search.forced_eos_id = published.forced_eos_token_id.value_or(-1);
  if (model->parameters().precision() == nn::Precision::int8)
    o.decoding.session.cache.kept.precision = nn::KvCache::Precision::int8;

  Queue queue;
  const auto work = [&] {
    search::Translator translator(*model, tokenizer, o);
    for (;;) {
      const std::vector<Asked> list =
          queue.pop(std::chrono::milliseconds(gather), gather > 0 ? static_cast<std::size_t>(batch) : 1);
      std::vector<std::string> texts;
      for (const Asked& a : list) texts.push_back(a.text);
      const auto translations = translator.translate(texts);
      for (std::size_t i = 0; i < list.size(); ++i)
        list[i].out->send({.body = nlohmann::json{{"translatedText", translations[i][0].text}}.dump()});
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < workers; ++i) threads.emplace_back(work);
  const serve::HttpServer server({.port = static_cast<std::uint16_t>(port)},
                                 [&](serve::HttpRequest r, std::shared_ptr<serve::Responder> out) {
                                   const auto body = nlohmann::json::parse(r.body, nullptr, false);
                                   if (!body.is_object() || !body.contains("q") || !body["q"].is_string())
                                     return out->send({.status = 400, .body = "{}"});
                                   queue.push({body["q"].get<std::string>(), std::move(out)});
                                 });
  std::cerr << "listening on " << server.port() << std::endl;
  for (std::thread& t : threads) t.join();
}
