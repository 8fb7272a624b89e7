// Pieces and their ids: the contents of vocab.json.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/element.h"

namespace tril {

class PieceTable {
 public:
  /// Reads {"piece": id, ...}; `where` names it in errors. Ids are non-negative and unique, with few gaps.
  static PieceTable parse(std::string_view json, const std::string& where);

  static PieceTable of(const nlohmann::json& object, const std::string& where);

  /// Gives `piece` an id beyond all others; ids between are a gap.
  void put(const std::string& piece, std::int32_t id);
  /// Gives `piece` the next id, unless it has one.
  void add(const std::string& piece);

  std::optional<std::int32_t> find(std::string_view piece) const;
  std::int32_t size() const { return static_cast<std::int32_t>(pieces_.size()); }
  bool has(std::int32_t id) const { return id >= 0 && id < size() && !element(pieces_, id).empty(); }
  /// The piece of `id`; an id outside the table or in a gap is an error.
  const std::string& piece(std::int32_t id) const;
  /// {"piece": id, ...} in the order of the ids.
  std::string json() const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>{}(s); }
  };
  std::vector<std::string> pieces_;  ///< "" in a gap
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> ids_;
};

}  // namespace tril
