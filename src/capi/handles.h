// The handles of the C interface, and the border that no exception crosses.
#pragma once

#include <tril/tril.h>
#include <tril/tril_c.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

struct tril_error {
  tril::Error error;
};
struct tril_options {
  tril::v0::Options list;
  std::exception_ptr fault;  ///< the first of tril_options_set(), for the function that takes the options
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
  std::vector<std::vector<tril_alignment_point>> alignments = {};  ///< of each score
};
struct tril_tracer {
  tril::v0::Tracer tracer;
};
struct tril_traced {
  tril::v0::Trace trace;
};

namespace tril::capi {

/// Throws Error(usage) for a null argument.
void check_given(const void* argument, const char* name);

/// The texts of an array. @throws Error(usage) if it or one of its texts is null
std::vector<std::string> texts_of(const char* const* texts, std::size_t count, const char* name);

/// The same for C.
std::vector<tril_alignment_point> points_of(const std::vector<v0::AlignmentPoint>& points);

/// A copy for tril_string_free().
char* copy_of(const std::string& text);

/// Stores the exception that is being handled for the caller, if it wants an error.
void store_current(tril_error** error) noexcept;

/// @throws the exception of tril_options_set()
v0::Options list_of(const tril_options* options);

/// What `call` returns, a pointer; null after an exception, which becomes *error.
template <class Call>
auto guarded(tril_error** error, const Call& call) noexcept -> decltype(call()) {
  if (error) *error = nullptr;
  try {
    return call();
  } catch (...) {
    store_current(error);
  }
  return nullptr;
}

}  // namespace tril::capi
