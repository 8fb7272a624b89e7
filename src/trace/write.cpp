#include "trace/write.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "format/npz_write.h"
#include "format/safetensors_write.h"

namespace tril::trace {
namespace {

StoredType stored_type(DType type) {
  return type == DType::f32 ? StoredType::f32 : type == DType::u8 ? StoredType::u8 : StoredType::i32;
}

}  // namespace

nlohmann::ordered_json values_json(const Trace& trace) {
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  for (const Value& v : trace.values()) {
    nlohmann::ordered_json data = nlohmann::ordered_json::array();
    if (v.type == DType::f32) {
      // A float as the shortest decimal number that reads back as it needs no more than the digits of a float.
      for (const float x : v.floats()) {
        const std::string digits = fmt::format("{}", x);
        double decimal = 0;
        std::from_chars(digits.data(), digits.data() + digits.size(), decimal);
        data.push_back(std::isfinite(x) ? nlohmann::ordered_json(decimal) : nullptr);
      }
    } else {
      for (const std::int32_t x : v.ints()) data.push_back(x);
    }
    all[v.name] = {{"shape", v.shape}, {"data", std::move(data)}};
  }
  return all;
}

void write_npz(const std::string& path, const Trace& trace) {
  NpzWriter writer(path);
  for (const Value& v : trace.values())
    if (v.type == DType::f32)
      writer.write(v.name, v.shape, v.floats());
    else
      writer.write(v.name, v.shape, v.ints());
  writer.commit();
}

void write_safetensors(const std::string& path, const Trace& trace, const std::string& about) {
  std::vector<WeightView> tensors;
  for (const Value& v : trace.values())
    tensors.push_back({.name = v.name, .dtype = stored_type(v.type), .shape = v.shape, .bytes = v.bytes, .form = {}});
  tril::write_safetensors(path, tensors, {{"about", about}});
}

}  // namespace tril::trace
