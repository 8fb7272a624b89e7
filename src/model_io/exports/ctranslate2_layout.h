// The variables of a CTranslate2 model, and the weights that each is made of: the inverse of ctranslate2_model.h.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "model/spec/model.h"

namespace tril::model {

/// Rows [begin, begin + count) of a weight; count 0: all from `begin` on.
struct WeightRows {
  std::string weight;  ///< the name of a parameter
  std::int64_t begin = 0, count = 0;
};

struct Ctranslate2Variable {
  std::string name;
  std::vector<WeightRows> parts;         ///< its rows, part after part; empty: its values are `made`
  std::vector<float> made = {};          ///< values of an attribute or a computed table
  std::vector<std::int64_t> shape = {};  ///< of `made`; [] is one number
  enum class Kind : std::uint8_t {
    matrix,  ///< of linear layers and embeddings: quantised on request
    values,  ///< floats
    flag,    ///< an integer of 8, 16 or 32 bits
    integer16,
    integer32,
    number,  ///< always float32
  } kind = Kind::values;
};

struct Ctranslate2Layout {
  std::string specification;
  std::uint32_t revision = 0;
  std::vector<Ctranslate2Variable> variables;
  std::vector<std::pair<std::string, std::string>> aliases;
  std::int64_t words = 0;         ///< of the vocabularies
  bool starts_from_zero = false;  ///< translations begin with a zero embedding, the row after the words
  double norm_eps = 0;
};

/// @param tokens  the number of the tokenizer's ids. Rows beyond them are left out: CTranslate2 would generate them.
/// @throws Error(usage) naming the family, or the key of its config, that CTranslate2 does not support
Ctranslate2Layout ctranslate2_layout(const Model& m, std::int64_t tokens);

}  // namespace tril::model
