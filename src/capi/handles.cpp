#include "capi/handles.h"

namespace tril::capi {

void check_given(const void* argument, const char* name) {
  if (!argument) throw Error(ErrorKind::usage, name, "is NULL");
}

std::vector<std::string> texts_of(const char* const* texts, std::size_t count, const char* name) {
  if (count > 0) check_given(texts, name);
  std::vector<std::string> list;
  for (std::size_t i = 0; i < count; ++i) {
    check_given(texts[i], (std::string(name) + " " + std::to_string(i + 1)).c_str());
    list.emplace_back(texts[i]);
  }
  return list;
}

char* copy_of(const std::string& text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (!copy) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

void store(tril_error** error, const Error& e) noexcept {
  if (error) *error = new (std::nothrow) tril_error{e};
}

}  // namespace tril::capi

using tril::capi::guarded;

const char* tril_version(void) {
  return TRIL_VERSION;
}
int tril_abi_version(void) {
  return TRIL_ABI_VERSION;
}

tril_error_kind tril_error_get_kind(const tril_error* error) {
  return error && error->error.kind() == tril::ErrorKind::usage ? TRIL_USAGE : TRIL_FAILURE;
}
const char* tril_error_message(const tril_error* error) {
  return error ? error->error.what() : "";
}
const char* tril_error_where(const tril_error* error) {
  return error ? error->error.where().c_str() : "";
}
const char* tril_error_hint(const tril_error* error) {
  return error ? error->error.hint().c_str() : "";
}
void tril_error_free(tril_error* error) {
  delete error;
}
void tril_string_free(char* text) {
  std::free(text);
}

tril_options* tril_options_new(void) {
  return new (std::nothrow) tril_options;
}
void tril_options_set(tril_options* options, const char* name, const char* value) {
  if (!options || !name || !value) return;
  for (tril::v0::Option& option : options->list)
    if (option.name == name) {
      std::vector<std::string> texts = option.value.texts();
      texts.emplace_back(value);
      option.value = std::move(texts);
      return;
    }
  options->list.push_back({name, value});
}
void tril_options_free(tril_options* options) {
  delete options;
}

tril_stop* tril_stop_new(void) {
  return guarded(nullptr, [] { return new tril_stop; });
}
void tril_stop_request(tril_stop* stop) {
  if (stop) stop->source.request_stop();
}
void tril_stop_free(tril_stop* stop) {
  delete stop;
}

tril_model* tril_model_open(const char* path_or_name, const tril_options* options, tril_error** error) {
  return guarded(error, [&] {
    tril::capi::check_given(path_or_name, "path_or_name");
    return new tril_model{tril::v0::Model::open(path_or_name, tril::capi::list_of(options))};
  });
}
int tril_model_has_encoder(const tril_model* model) {
  return model && model->model.has_encoder() ? 1 : 0;
}
void tril_model_free(tril_model* model) {
  delete model;
}
