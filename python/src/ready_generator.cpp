#include "ready_generator.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <chrono>

#include "errors.h"

namespace tril::python {

namespace nb = nanobind;

Fields fields_of(GenerateOptions& o) {
  Fields f;
  f.group("Text");
  f.add("n", &o.decoding.search.n_best, "number of generations for each prompt: samples, or the best of a beam")
      .at_least(1)
      .at_most(10'000);
  f.add("scores", &o.scores, "compute log-probabilities in greedy search and sampling; a beam always has them");
  f.add("logprobs", &o.logprobs,
        "give the log-probability of each token, and this many of the likeliest tokens at its place")
      .at_least(0)
      .at_most(1000);
  f.group("Search");
  add_continuation_fields(f, o.decoding);
  add_deterministic_field(f, o.deterministic);
  add_choice_fields(f, o.decoding);
  add_constraint_fields(f, o.constraint);
  return f;
}

ReadyGenerator::ReadyGenerator(std::shared_ptr<const Loaded> loaded, const std::vector<const Arguments*>& given)
    : loaded_(std::move(loaded)), fields_(fields_of(options_)) {
  for (const Arguments* one : given) set(fields_, *one);
  with_python_words(fields_, [&] {
    fields_.check_complete();
    make();
    return 0;
  });
}

void ReadyGenerator::make() {
  const cli::LoadedModel& m = loaded_->model;
  search::check_language_model(*m.model, *m.tokenizer);
  loaded_->place(options_.decoding);
  settled_ = generator_options(options_.decoding, m.published, *m.model, *m.tokenizer);
  search::SearchPlan& s = settled_.decoding.search;
  if (options_.logprobs && s.has_beam())
    fail_usage("logprobs", "is not supported with a beam or alternatives, which score texts and not tokens",
               "pass beam_size=1, and no alternatives");
  s.scores = options_.scores || options_.logprobs;
  if (options_.logprobs) s.top_log_probs = static_cast<std::int32_t>(*options_.logprobs);
  settled_.decoding.deterministic = options_.deterministic;
  s.constraint = make_constraint(options_.constraint, *m.tokenizer, SchemaForm::file_or_text);
  loaded_->others.give_to(settled_.decoding);
  shown_ = {.tokenizer = m.tokenizer, .scores = s.scores || s.has_beam(), .alignment = {}};
  window_ = static_cast<std::size_t>(std::int64_t{settled_.decoding.batch_size} * settled_.decoding.threads * 8);
  static_cast<void>(search::Generator(*m.model, m.tokenizer, settled_));  // reports mistakes before the first call
}

std::vector<std::vector<search::Generation>> ReadyGenerator::continued(const Prompts& prompts,
                                                                       const search::OnText& on_text,
                                                                       const std::stop_token& stop) {
  // A new one for each call: the numbers of its prompts, which samples depend on, begin at 0.
  search::Generator generator(*loaded_->model.model, loaded_->model.tokenizer, settled_);
  std::vector<std::vector<search::Generation>> all;
  for (std::size_t begin = 0; begin < prompts.texts.size() && !stop.stop_requested(); begin += window_) {
    const std::span<const std::string> texts =
        std::span(prompts.texts).subspan(begin, std::min(window_, prompts.texts.size() - begin));
    std::vector<std::vector<std::int32_t>> ids;
    if (prompts.of_template)
      for (const std::string& text : texts) ids.push_back(loaded_->model.tokenizer->encode(text, Side::target));
    for (auto& list :
         prompts.of_template ? generator.generate_after(ids, on_text, stop) : generator.generate(texts, on_text, stop))
      all.push_back(std::move(list));
  }
  while (all.size() < prompts.texts.size()) {
    all.emplace_back(1);
    all.back()[0].stop_reason = search::StopReason::cancelled;
  }
  return all;
}

std::vector<std::shared_ptr<TextGeneration>> ReadyGenerator::generate(const Prompts& prompts,
                                                                      const std::stop_token& stop) {
  std::vector<std::shared_ptr<TextGeneration>> results;
  with_python_words(fields_, [&] {
    background_.run(
        [&](const std::stop_token& token) {
          for (std::vector<search::Generation>& list : continued(prompts, {}, token)) {
            auto one = std::make_shared<TextGeneration>();
            for (search::Generation& g : list) one->hypotheses.push_back(shown(std::move(g), shown_));
            one->text = one->hypotheses.front()->text;
            results.push_back(std::move(one));
          }
        },
        stop);
    return 0;
  });
  return results;
}

void ReadyGenerator::begin(Prompts prompt) {
  if (settled_.decoding.search.has_beam())
    fail_usage("stream", "is not supported with a beam or alternatives, whose text is known only at the end",
               "pass beam_size=1, and no alternatives");
  check(settled_.decoding.search.n_best == 1, "n", "a stream has one text, got {}", settled_.decoding.search.n_best);
  pieces_.clear();
  ended_ = false;
  background_.begin([this, prompt = std::move(prompt)](const std::stop_token& stop) {
    const auto take = [&](const search::TextPiece& piece) {
      {
        const std::lock_guard lock(mutex_);
        if (!piece.text.empty()) pieces_.push_back(piece.text);
      }
      grown_.notify_all();
    };
    const auto finish = [&] {
      {
        const std::lock_guard lock(mutex_);
        ended_ = true;
      }
      grown_.notify_all();
    };
    try {
      continued(prompt, take, stop);
    } catch (...) {
      finish();
      throw;
    }
    finish();
  });
}

std::optional<std::string> ReadyGenerator::next_piece() {
  for (;;) {
    bool there = false;
    {
      const nb::gil_scoped_release others;
      std::unique_lock lock(mutex_);
      there = grown_.wait_for(lock, std::chrono::milliseconds(50), [&] { return ended_ || !pieces_.empty(); });
      if (there && !pieces_.empty()) {
        std::string piece = std::move(pieces_.front());
        pieces_.pop_front();
        return piece;
      }
    }
    obey_signals();
    if (!there) continue;
    while (!background_.is_idle()) background_.wait(std::chrono::milliseconds(50));  // it ends now
    with_python_words(fields_, [&] {
      background_.rethrow();
      return 0;
    });
    return std::nullopt;
  }
}

}  // namespace tril::python
