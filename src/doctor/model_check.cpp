#include "doctor/model_check.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/printable.h"
#include "chat/conversation.h"
#include "model_io/contents/generation_config.h"
#include "model_io/contents/stored_weight.h"
#include "model_io/families/family_list.h"
#include "model_io/source/packed_image.h"
#include "model_io/source/registry.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::doctor {
namespace {

namespace fs = std::filesystem;

std::string text_of(const Error& e) {
  return e.where().empty() ? e.message() : fmt::format("{}: {}", e.where(), e.message());
}

// Then it is a model, and damaged if it cannot be opened.
bool begins_with_gguf(const fs::path& path) {
  std::error_code unreadable;
  if (!fs::is_regular_file(path, unreadable)) return false;
  std::array<char, 4> begin{};
  std::ifstream(path, std::ios::binary).read(begin.data(), begin.size());
  return std::string_view(begin.data(), begin.size()) == "GGUF";
}

class ModelChecks {
 public:
  explicit ModelChecks(fs::path path) : path_(std::move(path)) {}

  CheckedModel run() {
    permissions();
    const bool is_gguf = begins_with_gguf(path_);
    const char* const id = is_gguf ? "weights-damaged" : "model-unknown";
    const char* const why = is_gguf ? "the model cannot be loaded" : "no command can open it";
    if (attempt(id, why, [&] { out_.source = model::ModelSource::open(path_); }) && configuration()) {
      const bool readable = weights();
      tokenizer();
      if (readable) packed();
    }
    return std::move(out_);
  }

 private:
  void add(std::string id, Severity severity, std::string what, std::string why, std::string hint) {
    out_.findings.push_back({std::move(id), severity, std::move(what), std::move(why), std::move(hint)});
  }

  // True if `step` succeeded; otherwise its error is a finding.
  template <class Step>
  bool attempt(const char* id, const char* why, const Step& step) {
    try {
      step();
      return true;
    } catch (const Error& e) {
      add(id, Severity::error, text_of(e), why, e.hint());
      return false;
    }
  }

  void permissions() {
    std::error_code unreadable;
    std::vector<fs::path> paths{path_};
    if (fs::is_directory(path_, unreadable))
      for (fs::directory_iterator at(path_, unreadable), end; !unreadable && at != end; at.increment(unreadable))
        paths.push_back(at->path());
    for (const fs::path& one : paths) {
      const bool folder = fs::is_directory(one, unreadable);
      // A directory in that of the model, such as the checkpoints of a run, is not needed to open the model.
      if ((folder && one != path_) || access(one.c_str(), F_OK) != 0) continue;
      if (access(one.c_str(), folder ? R_OK | X_OK : R_OK) != 0)
        add("file-permissions", Severity::error, fmt::format("{} may not be read", printable(one.string(), 200)),
            "the model cannot be opened",
            fmt::format("chmod a+r{} {}", folder ? "x" : "", printable(one.string(), 200)));
    }
  }

  bool configuration() {
    try {
      out_.model = model::make(*out_.source);
      return true;
    } catch (const Error& e) {
      std::string type;
      try {
        type = out_.source->config().get<std::string>("model_type");
        if (type == "tril") type = out_.source->config().get<std::string>("architecture");
      } catch (const Error&) {
        type.clear();  // the configuration itself is damaged, which `e` says
      }
      const std::vector<std::string> known = model::families();
      if (type.empty() || std::find(known.begin(), known.end(), type) != known.end()) {
        add("config-invalid", Severity::error, text_of(e), "the model cannot be built", e.hint());
        return false;
      }
      const std::string near = nearest(type, known);
      add("family-unsupported", Severity::error, fmt::format("the family '{}' is not supported", printable(type, 40)),
          "the model cannot be built",
          near.empty() ? "`tril families` lists the supported ones"
                       : fmt::format("the nearest name is {}; `tril families` lists all", near));
      return false;
    }
  }

  // True if the weights can be read.
  bool weights() {
    bool there = false;
    if (!attempt("weights-missing", "the model cannot be loaded", [&] { there = out_.source->has_weights(); }))
      return false;
    if (!there) {
      add("weights-missing", Severity::error, fmt::format("{} has no weights", printable(path_.string(), 200)),
          "the model cannot be loaded", "download the model again, or copy all of its files");
      return false;
    }
    return attempt("weights-damaged", "the model cannot be loaded", [&] {
      if (const std::string problem = problem_of_weights(*out_.model, out_.source->weights()); !problem.empty())
        add("weights-incomplete", Severity::error, problem, "the model cannot be loaded",
            "download the model again; `tril inspect` shows what its files hold");
    });
  }

  void tokenizer() {
    bool there = false;
    if (!attempt("tokenizer-missing", "no text can be read", [&] { there = out_.source->has_tokenizer(); })) return;
    if (!there) {
      add("tokenizer-missing", Severity::error, "there is no tokenizer",
          "the model reads and writes ids only, not text",
          "copy the files of the tokenizer beside the weights: tokenizer.json, or the SentencePiece or vocabulary "
          "files");
      return;
    }
    std::shared_ptr<const Tokenizer> tokenizer;
    if (!attempt("tokenizer-damaged", "no text can be read", [&] { tokenizer = out_.source->tokenizer(); })) return;
    if (const std::string problem = misfit_of(*out_.model, *tokenizer); !problem.empty())
      add("tokenizer-misfit", Severity::error, problem, "some texts have ids that the model does not know",
          "use the tokenizer that belongs to the model");
    special_ids(*tokenizer);
    chat_template(*tokenizer);
  }

  void special_ids(const Tokenizer& tokenizer) {
    std::vector<std::int32_t> ends;
    const auto read = [&] {
      model::check_ids(out_.source->generation(), out_.model->vocab_size());
      ends = out_.source->end_tokens();
    };
    if (!attempt("generation-config", "no command translates or generates with the model", read)) return;
    const SpecialIds known = out_.model->special_ids(), its = tokenizer.special(Side::target);
    if (ends.empty() && known.eos >= 0) ends = {known.eos};
    if (!ends.empty() && its.eos >= 0 && std::find(ends.begin(), ends.end(), its.eos) == ends.end())
      add("special-ids", Severity::warning,
          fmt::format("the model ends a text with id {}, but the tokenizer's end token is id {}", ends.front(),
                      its.eos),
          "texts may not end, or may end too early",
          "compare eos_token_id of generation_config.json and of the tokenizer");
    for (const std::int32_t id : ends)
      if (id >= out_.model->vocab_size())
        add("special-ids", Severity::error,
            fmt::format("the end id {} is not in the vocabulary of {}", id, out_.model->vocab_size()),
            "no text ends by itself", "correct eos_token_id in config.json");
  }

  void chat_template(const Tokenizer& tokenizer) {
    std::optional<std::string> source;
    if (!attempt("chat-template", "`tril chat` and the chat routes fail",
                 [&] { source = tokenizer.chat_template(); }) ||
        !source)
      return;
    attempt("chat-template", "`tril chat` and the chat routes fail", [&] {
      ConversationTemplate(*source, tokenizer.special_tokens())
          .render(nlohmann::ordered_json::array({{{"role", "user"}, {"content", "Hello"}}}), true);
    });
  }

  void packed() {
    using enum nn::Precision;
    for (const nn::Precision precision : {fp32, bf16, int8, int4, blocks}) {
      std::optional<model::PackedState> state;
      attempt("packed-image", "the model starts more slowly, without it",
              [&] { state = model::packed_image_state(*out_.source, precision); });
      if (!state || *state == model::PackedState::sound) continue;
      add("packed-image", *state == model::PackedState::damaged ? Severity::error : Severity::warning,
          fmt::format(
              "{} is {}", model::packed_image_path(*out_.source, precision).filename().string(),
              *state == model::PackedState::damaged ? "damaged" : "made from other weights, or by another version"),
          "the model starts more slowly, without it", "run `tril pack` again");
    }
  }

  fs::path path_;
  CheckedModel out_;
};

}  // namespace

std::string problem_of_weights(const model::Model& m, const WeightFiles& files) {
  try {
    for (const nn::Parameter& p : m.parameters().all()) model::find_weight(m, p, files);
    return "";
  } catch (const Error& e) {
    return e.what();
  }
}

std::string misfit_of(const model::Model& m, const Tokenizer& tokenizer) {
  const auto misfit = [&](const char* name, Side side, std::int64_t size) {
    const std::int64_t ids = tokenizer.size(side);
    return ids > size ? fmt::format("tokenizer: its {} {} ids do not fit the model's vocabulary of {}", ids, name, size)
                      : "";
  };
  const std::string source = m.has_encoder() ? misfit("source", Side::source, m.source_vocab_size()) : "";
  return source.empty() ? misfit("target", Side::target, m.vocab_size()) : source;
}

CheckedModel check_model(const std::filesystem::path& path) {
  return ModelChecks(path).run();
}

}  // namespace tril::doctor
