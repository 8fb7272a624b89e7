// Models of the public interface: opened by path or name.
#include <tril/model.h>
#include <tril/stop_reason.h>

#include "base/error.h"
#include "base/utf8.h"
#include "decode/models/decoding_options.h"
#include "decode/prompts/choose_prompt.h"
#include "hub/find_model.h"
#include "library/model_state.h"
#include "library/named_options.h"
#include "search/stop_reason.h"

namespace tril {
namespace library {
namespace {

struct OpenOptions {
  DecodingOptions decoding;
  ModelSetOptions others;
  bool pull = false;
};

Fields fields_of(OpenOptions& o) {
  Fields f, all;
  add_model_fields(all, o.decoding);
  f.include(all, {"adapter", "precision"});
  add_ensemble_fields(f, o.others);
  add_speculative_fields(f, o.others);
  f.add("pull", &o.pull, "download the model from the hub if it is not in the cache");
  return f;
}

}  // namespace

std::string path_of_model(const std::string& path_or_name, bool pull) {
  return hub::find_model(path_or_name, {.pull = pull, .remedy = "set `pull`"});
}

std::shared_ptr<const search::TranslationPrompt> prompt_of(const v0::ModelState& m, const std::string& asked) {
  if (m.model->has_encoder()) return nullptr;
  return std::make_shared<const search::TranslationPrompt>(search::choose_prompt(m.source, asked).prompt, *m.tokenizer,
                                                           m.source.name());
}

void check_utf8(std::string_view text, const std::string& where) {
  if (const auto fault = find_utf8_fault(text))
    fail_usage(where, fmt::format("is not valid UTF-8 (byte 0x{:02X} at column {})", fault->byte, fault->column));
}

}  // namespace library

namespace v0 {

Model::Model(std::shared_ptr<const ModelState> state) : state_(std::move(state)) {}

Model Model::open(const std::string& path_or_name, const Options& options) {
  library::OpenOptions o;
  Fields fields = library::fields_of(o);
  library::set_options(fields, options);
  if (!o.decoding.adapter.empty()) o.decoding.adapter = library::path_of_model(o.decoding.adapter, o.pull);
  if (!o.others.draft_model.empty()) o.others.draft_model = library::path_of_model(o.others.draft_model, o.pull);
  if (!o.others.draft_heads.empty()) o.others.draft_heads = library::path_of_model(o.others.draft_heads, o.pull);
  for (std::string& other : o.others.models) other = library::path_of_model(other, o.pull);
  const auto source = model::ModelSource::open(library::path_of_model(path_or_name, o.pull));
  std::shared_ptr<const model::Model> model = load_model(source, o.decoding);
  std::shared_ptr<const tril::Tokenizer> tokenizer = source.tokenizer();
  ModelSet others(o.others, o.decoding, *model, tokenizer.get());
  return Model(std::make_shared<const ModelState>(
      ModelState{source, std::move(model), std::move(tokenizer), std::move(others), changed_weights_by(o.decoding)}));
}

std::vector<OptionInfo> Model::option_list() {
  library::OpenOptions o;
  return library::list_of(library::fields_of(o));
}

std::string Model::path() const {
  return state_->source.path().string();
}
std::string Model::family() const {
  return std::string(state_->model->family());
}
bool Model::has_encoder() const {
  return state_->model->has_encoder();
}
std::int64_t Model::parameters() const {
  return state_->model->parameters().count();
}
std::int64_t Model::max_positions() const {
  return state_->model->max_positions();
}
Tokenizer Model::tokenizer() const {
  return Tokenizer(std::make_shared<const TokenizerState>(state_->tokenizer));
}

static_assert(static_cast<int>(StopReason::refused) == static_cast<int>(search::StopReason::refused));

std::string name_of(StopReason reason) {
  return std::string(search::name_of(static_cast<search::StopReason>(reason)));
}

}  // namespace v0
}  // namespace tril
