#include "tokenizer/models/piece_table.h"

#include <nlohmann/json.hpp>

#include "base/element.h"
#include "base/error.h"

namespace tril {
namespace {

constexpr std::int32_t most_gap = 1 << 20;  // a gap takes memory that no file's size limits

}  // namespace

PieceTable PieceTable::parse(std::string_view text, const std::string& where) {
  return of(nlohmann::json::parse(text, nullptr, false), where);
}

PieceTable PieceTable::of(const nlohmann::json& json, const std::string& where) {
  if (!json.is_object() || json.empty()) fail(where, "is not a JSON object of pieces and their ids");
  // A gap takes memory that the size of the file does not limit.
  const auto limit = std::ssize(json) + 100'000;
  PieceTable table;
  for (const auto& [piece, id] : json.items()) {
    if (!id.is_number_integer() || id.get<double>() < 0 || id.get<double>() >= static_cast<double>(limit))
      fail(where,
           fmt::format("the id of \"{}\" is {}, expected an integer from 0 to {}", piece,
                       id.is_structured() ? std::string(id.type_name()) : id.dump(), limit - 1));  // dump() recurses
    const auto i = id.get<std::size_t>();
    if (i >= table.pieces_.size()) table.pieces_.resize(i + 1);
    if (table.ids_.contains(piece)) continue;
    if (!table.pieces_[i].empty())
      fail(where, fmt::format("\"{}\" and \"{}\" have the same id {}", table.pieces_[i], piece, i));
    table.pieces_[i] = piece;
    table.ids_.emplace(piece, static_cast<std::int32_t>(i));
  }
  return table;
}

void PieceTable::put(const std::string& piece, std::int32_t id) {
  check(id >= size() && id - size() <= most_gap && !find(piece), "pieces",
        "\"{}\" cannot get the id {} after {} pieces", piece, id, size());
  pieces_.resize(static_cast<std::size_t>(id));
  add(piece);
}

void PieceTable::add(const std::string& piece) {
  if (ids_.emplace(piece, size()).second) pieces_.push_back(piece);
}

std::optional<std::int32_t> PieceTable::find(std::string_view piece) const {
  const auto found = ids_.find(piece);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

const std::string& PieceTable::piece(std::int32_t id) const {
  check(id >= 0 && id < size() && !element(pieces_, id).empty(), "tokenizer",
        "id {} is outside the vocabulary of {} pieces", id, size());
  return element(pieces_, id);
}

std::string PieceTable::json() const {
  std::string text = "{";
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    if (pieces_[i].empty()) continue;
    text += text.size() > 1 ? ",\n  " : "\n  ";
    text += nlohmann::json(pieces_[i]).dump() + ": " + std::to_string(i);
  }
  return text + "\n}\n";
}

}  // namespace tril
