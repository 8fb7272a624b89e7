// The handles of the C interface, and the border that no exception crosses.
#pragma once

#include <tril/tril.h>
#include <tril/tril_c.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

struct tril_error {
  tril::Error error;
};
struct tril_options {
  tril::v0::Options list;
};
struct tril_model {
  tril::v0::Model model;
};
struct tril_stop {
  std::stop_source source;
};
struct tril_translator {
  tril::v0::Translator translator;
};
struct tril_generator {
  tril::v0::Generator generator;
};
struct tril_tokenizer {
  tril::v0::Tokenizer tokenizer;
};
struct tril_ids {
  std::vector<std::int32_t> list;
};
struct tril_scorer {
  tril::v0::Scorer scorer;
};
struct tril_scores {
  std::vector<tril::v0::Score> list;
};

namespace tril::capi {

/// Throws Error(usage) for a null argument.
void check_given(const void* argument, const char* name);

/// The texts of an array. @throws Error(usage) if it or one of its texts is null
std::vector<std::string> texts_of(const char* const* texts, std::size_t count, const char* name);

/// A copy for tril_string_free().
char* copy_of(const std::string& text);

/// Stores an error for the caller, if it wants one.
void store(tril_error** error, const Error& e) noexcept;

inline v0::Options list_of(const tril_options* options) {
  return options ? options->list : v0::Options{};
}

/// What `call` returns, a pointer; null after an exception, which becomes *error.
template <class Call>
auto guarded(tril_error** error, const Call& call) noexcept -> decltype(call()) {
  if (error) *error = nullptr;
  try {
    return call();
  } catch (const Error& e) {
    store(error, e);
  } catch (const std::bad_alloc&) {
    store(error, Error(ErrorKind::failure, "memory", "is exhausted"));
  } catch (const std::exception& e) {
    store(error, Error(ErrorKind::failure, "", e.what()));
  } catch (...) {
    store(error, Error(ErrorKind::failure, "", "an exception of an unknown kind"));
  }
  return nullptr;
}

}  // namespace tril::capi
