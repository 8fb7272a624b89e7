#include "capi/handles.h"

#include <algorithm>
#include <new>

namespace tril::capi {

void check_given(const void* argument, const char* name) {
  if (!argument) throw Error(ErrorKind::usage, name, "is NULL");
}

std::vector<tril_alignment_point> points_of(const std::vector<v0::AlignmentPoint>& points) {
  std::vector<tril_alignment_point> list;
  for (const v0::AlignmentPoint& p : points) list.push_back({p.source, p.target});
  return list;
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

namespace {

// The exception that is being handled.
Error current_error() {
  try {
    throw;
  } catch (const Error& e) {
    return e;
  } catch (const std::bad_alloc&) {
    return {ErrorKind::failure, "memory", "is exhausted"};
  } catch (const std::exception& e) {
    return {ErrorKind::failure, "", e.what()};
  } catch (...) {
    return {ErrorKind::failure, "", "an exception of an unknown kind"};
  }
}

}  // namespace

void store_current(tril_error** error) noexcept {
  if (!error) return;
  try {
    *error = new tril_error{current_error()};
  } catch (const std::exception&) {  // no memory for an error
    *error = nullptr;
  }
}

v0::Options list_of(const tril_options* options) {
  if (!options) return {};
  if (options->fault) std::rethrow_exception(options->fault);
  return options->list;
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
  if (!options || options->fault) return;
  try {
    tril::capi::check_given(name, "name");
    tril::capi::check_given(value, name);
    std::string known = name;
    std::replace(known.begin(), known.end(), '_', '-');
    const auto at = std::find_if(options->list.begin(), options->list.end(),
                                 [&](const tril::v0::Option& option) { return option.name == known; });
    if (at == options->list.end()) {
      options->list.push_back({std::move(known), value});
    } else {
      std::vector<std::string> texts = at->value.texts();
      texts.emplace_back(value);
      at->value = std::move(texts);
    }
  } catch (...) {
    options->fault = std::current_exception();
  }
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
