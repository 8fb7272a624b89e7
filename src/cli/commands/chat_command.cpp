// tril chat: a conversation with a language model. Earlier turns stay in the cache: a turn costs only its own tokens.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/cores.h"
#include "base/file.h"
#include "base/log.h"
#include "base/message_text.h"
#include "base/number_text.h"
#include "base/progress.h"
#include "base/streams.h"
#include "base/utf8.h"
#include "chat/conversation.h"
#include "cli/commands/commands.h"
#include "cli/io/interrupt.h"
#include "cli/io/standard_output.h"
#include "cli/options/model_identity.h"
#include "decode/batches/parallel.h"
#include "decode/batches/prompt_session.h"
#include "decode/models/constraint_fields.h"
#include "decode/models/decoding_options.h"
#include "decode/models/model_set.h"
#include "decode/texts/text_stream.h"
#include "format/json_text.h"
#include "model_io/source/model_source.h"

namespace tril::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t default_new_tokens = 512;
constexpr std::uint64_t most_file_bytes = std::uint64_t{64} << 20;

struct ChatOptions {
  DecodingOptions decoding;
  ModelSetOptions others;
  ConstraintOptions constraint;
  std::string system, format = "auto", template_file, load;
};

/// The options that /set may change during the conversation.
Fields talk_fields(ChatOptions& o) {
  Fields f;
  f.group("Answers");
  Fields lengths;
  add_new_token_fields(lengths, o.decoding.search, [](std::string_view field, std::string_view fallback) {
    return unset_text(field, field == "max-new-tokens" ? "512" : fallback);
  });
  f.include(lengths, {"max-new-tokens", "stop"});
  add_choice_fields(f, o.decoding);
  return f;
}

Fields fields_of(ChatOptions& o) {
  Fields f;
  f.group("Model");
  add_model_fields(f, o.decoding);
  add_cache_precision_field(f, o.decoding);
  f.group("Speculative decoding");
  add_speculative_fields(f, o.others);
  f.group("Chat");
  f.add("system", &o.system, "system message at the beginning of the chat").letter('s').value_name("TEXT");
  f.add("load", &o.load, "continue a chat that /save wrote").value_name("FILE");
  f.add("format", &o.format,
        "prompt format: the chat template of the model's directory, or plain lines (User: ... and Assistant: ...); "
        "auto: the template if there is one")
      .choices({"auto", "template", "plain"});
  f.add("template", &o.template_file, "chat template to use instead of the directory's").value_name("FILE");
  f.include(talk_fields(o));
  add_constraint_fields(f, o.constraint);
  return f;
}

using SpecialTokens = std::vector<std::pair<std::string, std::string>>;

ConversationTemplate published_template(const std::string& source, const SpecialTokens& tokens,
                                        const std::string& model) {
  try {
    return ConversationTemplate(source, tokens, model + ": chat template");
  } catch (const Error& error) {
    throw Error(error.kind(), error.where(), error.message(),
                (error.hint().empty() ? "" : error.hint() + "; ") + "or pass --template FILE, or --format plain");
  }
}

/// Formats turns as text for the model, and knows what ends an answer besides the end token.
class Format {
 public:
  Format(const ChatOptions& o, const Tokenizer& tokenizer) {
    const std::optional<std::string> published = tokenizer.chat_template();
    const SpecialTokens tokens = tokenizer.special_tokens();
    if (!o.template_file.empty()) {
      if (o.format == "plain") fail_usage("--template", "--format plain uses no template", "leave one of them out");
      template_.emplace(read_any_text(o.template_file, most_file_bytes), tokens, o.template_file);
    } else if (o.format != "plain" && published) {
      template_ = published_template(*published, tokens, o.decoding.model);
    } else if (o.format == "template") {
      fail_usage("--format", o.decoding.model + " has no chat template",
                 "pass one with --template, or pass --format plain");
    }
  }
  bool is_plain() const { return !template_; }
  std::vector<std::string> stops() const {
    return is_plain() ? std::vector<std::string>{"\nUser:"} : std::vector<std::string>{};
  }

  std::vector<std::int32_t> ids(const Tokenizer& tokenizer, const Json& messages) const {
    if (template_) return tokenizer.encode(template_->render(messages, true), Side::target);
    std::string text;
    for (const Json& m : messages) {
      const std::string role = m["role"], content = m["content"];
      text += (role == "system" ? "" : role == "user" ? "User: " : "Assistant: ") + content + "\n";
    }
    std::vector<std::int32_t> ids = tokenizer.frame(Side::target).prefix;
    tokenizer.encode(text + "Assistant:", Side::target, ids);
    return ids;
  }

 private:
  std::optional<ConversationTemplate> template_;
};

class Chat {
 public:
  explicit Chat(ChatOptions& o)
      : o_(o),
        terminal_(isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1),
        source_(model::ModelSource::open(o.decoding.model)),
        model_(load_model(source_, o.decoding)),
        tokenizer_(source_.tokenizer()),
        published_(published_generation(source_)),
        format_(o, *tokenizer_),
        context_(arena_),
        constraint_(make_constraint(o.constraint, *tokenizer_)),
        talk_fields_(talk_fields(o)),
        others_(o.others, o.decoding, *model_, tokenizer_.get()) {
    search::check_language_model(*model_, *tokenizer_);
    settle_placement(o_.decoding);  // before this thread is pinned
    const search::GeneratorOptions g = generator_options(o_.decoding, published_, *model_, *tokenizer_);
    const search::ParallelOptions& p = g.decoding;
    team_ = search::team_of_one(*model_, p.threads, p.placement);
    pinned_.emplace(p.placement, 0);
    memory_.emplace(p.placement.numa, MemoryOf::all_threads);
    context_.set_team(team_.get());
    kept_ = std::make_unique<search::PromptSession>(context_, *model_, g.decoding.session.cache,
                                                    model_identity(o.decoding), others_.speculative());
    reset();
    if (!o.load.empty()) load(o.load);
  }

  int run() {
    if (terminal_)
      std::cerr << format_count(model_->parameters().count())
                << " parameters; /help lists the commands, Ctrl-C stops an answer, Ctrl-D ends the chat\n";
    for (;;) {
      if (terminal_) write_stdout("> ");
      std::optional<std::string> line = interrupt_.read_line();
      ++line_;
      while (line && line->ends_with('\\')) {  // continues on the next line
        if (terminal_) write_stdout("  ");
        const std::optional<std::string> more = interrupt_.read_line();
        if (!more) break;
        ++line_;
        line->back() = '\n';
        *line += *more;
      }
      if (!line) break;
      try {
        check_text(*line);
        if (line->starts_with('/') && !line->starts_with("//")) {
          if (!command(*line)) break;
        } else if (!line->empty()) {
          say(line->starts_with("//") ? line->substr(1) : *line);
        }
      } catch (const Error& error) {
        if (!terminal_) throw;
        std::cerr << message_text(error.what()) << "\n";
      }
    }
    if (terminal_) write_stdout("\n");
    if (answers_ > 0)
      spdlog::info("{} of {}, {:.1f} tokens/s; {} read, {} reused from the cache", counted(answers_, "answer"),
                   counted(format_count(new_tokens_), "token"),
                   static_cast<double>(new_tokens_) / std::max(seconds_, 1e-9),
                   counted(format_count(read_), "token was", "tokens were"), format_count(reused_));
    report_speculation(kept_->speculation());
    return exit_success;
  }

 private:
  /// @throws Error if the user's text is not UTF-8
  void check_text(const std::string& text) const {
    const auto fault = find_utf8_fault(text);
    if (!fault) return;
    const std::size_t newline = text.substr(0, fault->offset).rfind('\n');
    const std::size_t begin = newline == text.npos ? 0 : newline + 1;  // of the invalid line
    const std::string_view behind = std::string_view(text).substr(begin);
    fail(fmt::format("standard input: line {}", line_ - std::count(behind.begin(), behind.end(), '\n')),
         fmt::format("is not valid UTF-8 (byte 0x{:02X} at column {})", fault->byte, find_utf8_fault(behind)->column));
  }

  // --- commands ---

  bool command(const std::string& line) {
    const std::size_t space = std::min(line.find(' '), line.size());
    const std::string name = line.substr(1, space - 1), rest = line.substr(std::min(space + 1, line.size()));
    const auto needs = [&](const char* what) {
      if (rest.empty()) fail_usage("/" + name, fmt::format("expected {}", what));
    };
    if (name == "exit" || name == "quit") return false;
    if (name == "help") {
      help();
    } else if (name == "reset") {
      reset();
    } else if (name == "system") {
      o_.system = rest;
      reset();
    } else if (name == "undo") {
      undo();
    } else if (name == "retry") {
      if (!undo()) fail_usage("/retry", "nothing has been said yet");
      say(last_said_);
    } else if (name == "save") {
      needs("a file");
      write_output(rest, json_text(Json{{"messages", messages_}}, 2) + "\n");
    } else if (name == "load") {
      needs("a file");
      load(rest);
    } else if (name == "set") {
      set(rest);
    } else {
      const std::string near =
          did_you_mean(name, {"help", "reset", "system", "undo", "retry", "save", "load", "set", "exit"});
      fail_usage("/" + name, "there is no such command", near.empty() ? "/help lists them" : near);
    }
    return true;
  }

  void help() const {
    write_stdout(
        "/reset            start over\n/system TEXT      start over with this system message\n/undo             remove "
        "the last turn\n/retry            generate another answer to the last turn\n/save FILE        write the chat "
        "as JSON\n/load FILE        continue a saved chat\n/set              list the settings and their values\n/set "
        "NAME VALUE   change a setting: /set temperature 0.7\n/exit             end the chat, like Ctrl-D\nA line that "
        "ends with \\ continues on the next line; one that begins with // is sent with a single /.\n");
  }

  void set(const std::string& rest) {
    if (rest.empty()) {
      std::string all;
      for (const Field& f : talk_fields_)
        all += fmt::format("{} {}\n", f.name(), f.text().empty() ? "(unset)" : f.text());
      write_stdout(all);
      return;
    }
    const std::size_t space = std::min(rest.find(' '), rest.size());
    std::string name = rest.substr(0, space), value = rest.substr(std::min(space + 1, rest.size()));
    if (name.starts_with("--")) name = name.substr(2);
    std::replace(name.begin(), name.end(), '_', '-');
    const ChatOptions before = o_;
    try {
      talk_fields_.set_from_text(name, value.empty() && talk_fields_.at(name, "/set").is_flag() ? "true" : value,
                                 "/set");
      generator_options(o_.decoding, published_, *model_, *tokenizer_);
    } catch (...) {
      o_ = before;
      throw;
    }
  }

  void reset() {
    messages_ = Json::array();
    if (!o_.system.empty()) messages_.push_back({{"role", "system"}, {"content", o_.system}});
  }

  bool undo() {
    while (!messages_.empty() && messages_.back()["role"] != "system") {
      const Json last = messages_.back();
      messages_.erase(messages_.size() - 1);
      if (last["role"] == "user") {
        last_said_ = last["content"];
        return true;
      }
    }
    return false;
  }

  void load(const std::string& path) {
    const Json file = Json::parse(read_any_text(path, most_file_bytes), nullptr, false);
    const bool good = file.is_object() && file.contains("messages") && file["messages"].is_array() &&
                      std::all_of(file["messages"].begin(), file["messages"].end(), [](const Json& m) {
                        return m.is_object() && m.contains("role") && m["role"].is_string() && m.contains("content") &&
                               m["content"].is_string();
                      });
    if (!good)
      fail(path, "is not a chat: expected {\"messages\": [{\"role\": ..., \"content\": ...}, ...]}",
           "pass a file that /save wrote");
    messages_ = file["messages"];
  }

  // --- turns ---

  void say(const std::string& text) {
    messages_.push_back({{"role", "user"}, {"content", text}});
    try {
      answer();
    } catch (...) {
      messages_.erase(messages_.size() - 1);
      throw;
    }
  }

  /// The conversation as tokens. If it leaves no room for an answer, the oldest turns are dropped.
  std::vector<std::int32_t> prompt(std::int64_t room) {
    const std::int64_t positions = model_->max_positions();
    for (std::size_t left_out = 0;; ++left_out) {
      std::vector<std::int32_t> ids = format_.ids(*tokenizer_, messages_);
      if (ids.empty())
        fail("", "the chat template renders the chat to no tokens",
             "pass --template FILE with another one, or --format plain");
      if (positions == 0 || std::ssize(ids) + std::min(room, positions / 4) <= positions + 1) {
        if (left_out > 0)
          spdlog::warn("the model's {} positions are full: {} left out", positions,
                       counted(left_out, "turn was", "turns were"));
        return ids;
      }
      std::size_t first = 0;  // of the oldest turn
      while (first < messages_.size() && messages_[first]["role"] == "system") ++first;
      std::size_t next = first + 1;
      while (next < messages_.size() && messages_[next]["role"] != "user") ++next;
      if (next >= messages_.size())
        fail_usage("",
                   fmt::format("the message has {}, but the model has {}", counted(ids.size(), "token"),
                               counted(positions, "position")),
                   "shorten the message");
      messages_.erase(messages_.begin() + static_cast<std::ptrdiff_t>(first),
                      messages_.begin() + static_cast<std::ptrdiff_t>(next));
    }
  }

  search::SearchPlan search_options(const search::GeneratorOptions& g, std::vector<std::string>& stops) const {
    search::SearchPlan s = g.decoding.search;
    if (s.has_beam()) {  // set by the directory: answers are streamed
      s.beam_size = 1;
      s.alternatives = false;
    }
    s.constraint = constraint_;
    for (std::int64_t id = tokenizer_->size(Side::target); id < model_->vocab_size(); ++id)
      s.suppress_ids.push_back(static_cast<std::int32_t>(id));
    stops = o_.decoding.search.stops;
    if (!constraint_)
      for (const std::string& stop : format_.stops()) stops.push_back(stop);
    if (!stops.empty()) s.ends = search::stop_test(tokenizer_, stops);
    return s;
  }

  void answer() {
    std::vector<std::string> stops;
    const search::GeneratorOptions g = generator_options(o_.decoding, published_, *model_, *tokenizer_);
    const search::SearchPlan options = search_options(g, stops);
    const std::int64_t wanted = g.max_new_tokens.value_or(default_new_tokens);
    const std::vector<std::int32_t> ids = prompt(wanted);
    const std::int64_t positions = model_->max_positions(), given = std::ssize(ids);
    const std::int64_t most = positions == 0 ? wanted : std::min(wanted, positions - given + 1);
    search::Request request{
        .start_id = ids[0],
        .min_length = static_cast<std::int32_t>(std::min<std::int64_t>(g.min_new_tokens.value_or(0), most)),
        .max_length = static_cast<std::int32_t>(most),
        .prefix = {ids.begin() + 1, ids.end()},
        .number = asked_++};
    search::TextStream stream(tokenizer_, stops, {ids.end() - std::min<std::ptrdiff_t>(8, std::ssize(ids)), ids.end()});
    std::string text;
    const auto show = [&](std::string piece) {
      if (text.empty() && format_.is_plain()) piece.erase(0, std::min(piece.find_first_not_of(' '), piece.size()));
      text += piece;
      if (!piece.empty()) write_stdout(piece);
    };
    const auto begun = std::chrono::steady_clock::now();
    const std::stop_token stop = interrupt_.begin_answer();
    std::vector<search::Hypothesis> found;
    try {
      found = kept_->decode(request, options,
                            {.on_token =
                                 [&](const search::NewToken& t) {
                                   if (t.token >= 0) show(stream.push(t.token));
                                 },
                             .on_partial = {},
                             .stop = stop});
      show(stream.finish());
    } catch (...) {
      interrupt_.end_answer();
      throw;
    }
    interrupt_.end_answer();
    write_stdout("\n");
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    ++answers_;
    new_tokens_ += std::ssize(found[0].tokens);
    read_ += kept_->newly_read(), reused_ += kept_->reused();
    if (found[0].stop_reason == search::StopReason::cancelled && terminal_) std::cerr << "(ended)\n";
    messages_.push_back({{"role", "assistant"}, {"content", text}});
  }

  Interrupt interrupt_;  // first: before any other thread
  ChatOptions& o_;
  bool terminal_;
  model::ModelSource source_;
  std::unique_ptr<model::Model> model_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  model::GenerationConfig published_;
  Format format_;
  Arena arena_;
  std::unique_ptr<Team> team_;
  std::optional<PinnedThread> pinned_;
  std::optional<MemoryPlaced> memory_;
  Context context_;
  std::shared_ptr<const search::Constraint> constraint_;
  Fields talk_fields_;
  ModelSet others_;  ///< what proposes tokens; outlives kept_
  std::unique_ptr<search::PromptSession> kept_;
  Json messages_;
  std::string last_said_;
  std::int64_t line_ = 0;  ///< the last line read from standard input
  std::int64_t answers_ = 0, new_tokens_ = 0, read_ = 0, reused_ = 0;
  std::uint64_t asked_ = 0;  ///< the index of the next answer's random numbers
  double seconds_ = 0;
};

}  // namespace

void add_chat(App& app) {
  auto o = std::make_shared<ChatOptions>();
  app.add(
      {.name = "chat",
       .summary = "chat with a language model",
       .description =
           "Reads a line, answers, and reads the next; the model keeps the earlier turns in its cache and reads only "
           "what is new. The model's chat template formats the chat. Lines that begin with / are commands: /help lists "
           "them. Without a terminal only the answers are printed, so that it works in pipes.",
       .examples = {{"tril chat --model llama", "with the settings of its directory"},
                    {"tril chat -m llama --system \"Answer in one word.\" --temperature 0.7", "with a system message"},
                    {"tril chat -m big --draft-model small", "with a small model that proposes tokens"},
                    {"tril chat -m plays --format plain", "with a model that has no chat template"}},
       .fields = fields_of(*o),
       .reads_config = true,
       .models = {"model", "adapter", "draft-model", "draft-heads"},
       .apply_preset = {},
       .run = [o](const Invocation&) { return Chat(*o).run(); }});
}

}  // namespace tril::cli
