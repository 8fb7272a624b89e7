// Traces for C.
#include <algorithm>

#include "capi/handles.h"

using tril::capi::check_given;
using tril::capi::guarded;

namespace {

// Null for an index outside.
const tril::v0::TracedValue* value_at(const tril_traced* traced, std::size_t index) {
  return index < tril_traced_size(traced) ? &traced->trace.values()[index] : nullptr;
}

}  // namespace

tril_tracer* tril_tracer_new(const tril_model* model, const tril_options* options, tril_error** error) {
  return guarded(error, [&] {
    check_given(model, "model");
    return new tril_tracer{tril::v0::Tracer(model->model, tril::capi::list_of(options))};
  });
}
tril_traced* tril_trace(const tril_tracer* tracer, const char* text, const char* target, const tril_stop* stop,
                        tril_error** error) {
  return guarded(error, [&] {
    check_given(tracer, "tracer");
    check_given(text, "text");
    const std::stop_token token = stop ? stop->source.get_token() : std::stop_token();
    return new tril_traced{tracer->tracer.trace(text, target ? target : "", {}, token)};
  });
}
size_t tril_traced_size(const tril_traced* traced) {
  return traced ? traced->trace.values().size() : 0;
}
size_t tril_traced_find(const tril_traced* traced, const char* name) {
  if (!traced || !name) return tril_traced_size(traced);
  const auto& values = traced->trace.values();
  const auto at = std::find_if(values.begin(), values.end(), [&](const auto& value) { return value.name == name; });
  return static_cast<size_t>(at - values.begin());
}
const char* tril_traced_name(const tril_traced* traced, size_t index) {
  const auto* const value = value_at(traced, index);
  return value ? value->name.c_str() : nullptr;
}
const int64_t* tril_traced_shape(const tril_traced* traced, size_t index, size_t* rank) {
  const auto* const value = value_at(traced, index);
  if (rank) *rank = value ? value->shape.size() : 0;
  return value ? value->shape.data() : nullptr;
}
tril_element_type tril_traced_type(const tril_traced* traced, size_t index) {
  const auto* const value = value_at(traced, index);
  if (!value) return TRIL_NO_VALUE;
  if (!value->ids.empty()) return TRIL_INT32;
  return value->mask.empty() ? TRIL_FLOAT32 : TRIL_UINT8;
}
const void* tril_traced_data(const tril_traced* traced, size_t index) {
  const auto* const value = value_at(traced, index);
  if (!value) return nullptr;
  if (!value->ids.empty()) return value->ids.data();
  return value->mask.empty() ? static_cast<const void*>(value->floats.data()) : value->mask.data();
}
void tril_traced_free(tril_traced* traced) {
  delete traced;
}
void tril_tracer_free(tril_tracer* tracer) {
  delete tracer;
}
