#include "model_io/exports/ctranslate2_export.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/half.h"
#include "format/ctranslate2_write.h"
#include "format/json_text.h"
#include "model_io/contents/stored_weight.h"
#include "model_io/exports/ctranslate2_layout.h"
#include "model_io/source/registry.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::model {
namespace {

using VariableKind = Ctranslate2Variable::Kind;
namespace fs = std::filesystem;

StoredType stored_type_of(VariableKind kind, Ctranslate2Type type) {
  switch (kind) {
    case VariableKind::flag:
      return StoredType::i8;
    case VariableKind::integer16:
      return StoredType::i16;
    case VariableKind::integer32:
      return StoredType::i32;
    case VariableKind::number:
      return StoredType::f32;
    default:
      break;
  }
  if (kind == VariableKind::matrix && type == Ctranslate2Type::int8) return StoredType::i8;
  if (type == Ctranslate2Type::f16) return StoredType::f16;
  return type == Ctranslate2Type::bf16 ? StoredType::bf16 : StoredType::f32;
}

template <class T>
void append_number(std::vector<std::byte>& bytes, T value) {
  const auto* const from = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), from, from + sizeof value);
}

std::vector<std::byte> numbers_as(StoredType type, const std::vector<float>& values, const std::string& name) {
  std::vector<std::byte> bytes;
  bytes.reserve(values.size() * size_of(type));
  for (const float v : values) {
    if (!std::isfinite(v) || (type == StoredType::f16 && std::abs(v) >= 65520))
      fail(name, fmt::format("contains {}, which {} cannot hold", v, name_of(type)),
           std::isfinite(v) ? "pass `type` bf16 or f32" : "the model is damaged: train or download it again");
    if (type == StoredType::f32)
      append_number(bytes, v);
    else if (type == StoredType::f16)
      append_number(bytes, f32_to_f16(v));
    else if (type == StoredType::bf16)
      append_number(bytes, f32_to_bf16(v));
    else if (type == StoredType::i8)
      append_number(bytes, static_cast<std::int8_t>(v));
    else if (type == StoredType::i16)
      append_number(bytes, static_cast<std::int16_t>(v));
    else
      append_number(bytes, static_cast<std::int32_t>(v));
  }
  return bytes;
}

// Quantises as CTranslate2 does: each row times 127 / its largest magnitude, rounded to even.
std::vector<std::byte> quantised(const std::vector<float>& values, std::int64_t rows, std::vector<float>& scales,
                                 const std::string& name) {
  const std::int64_t width = std::ssize(values) / rows;
  std::vector<std::byte> bytes;
  for (auto row = values.begin(); row != values.end(); row += width) {
    float most = 0;
    for (const float v : std::span(row, row + width)) {
      if (!std::isfinite(v))
        fail(name, fmt::format("contains {}", v), "the model is damaged: train or download it again");
      most = std::max(most, std::abs(v));
    }
    if (most == 0) most = 127;
    const float scale = 127.0f / std::max(most, 127.0f / std::numeric_limits<float>::max());
    scales.push_back(scale);
    for (const float v : std::span(row, row + width))
      bytes.push_back(static_cast<std::byte>(static_cast<std::int8_t>(std::nearbyint(v * scale))));
  }
  return bytes;
}

class Ctranslate2Exporter {
 public:
  Ctranslate2Exporter(const ModelSource& source, Ctranslate2Type type)
      : source_(source),
        type_(type),
        model_(make(source)),
        tokenizer_(tokenizer_of(source)),
        layout_(ctranslate2_layout(*model_, ids_used())) {
    for (const nn::Parameter& p : model_->parameters().all()) by_name_[p.name] = &p;
    if (layout_.starts_from_zero) check_zero_start();
  }

  void write(const fs::path& directory) const {
    write_vocabularies(directory);
    write_file_atomic((directory / "config.json").string(), json_text(config(), 2) + "\n");
    save_tokenizer(*tokenizer_, directory.string());
    write_weights((directory / "model.bin").string());
  }

 private:
  static std::shared_ptr<const Tokenizer> tokenizer_of(const ModelSource& source) {
    if (!source.has_tokenizer()) fail_usage(source.name(), "has no tokenizer, and CTranslate2 needs its vocabulary");
    return source.tokenizer();
  }

  // The ids of the tokenizer and of the model's special tokens.
  std::int64_t ids_used() const {
    const SpecialIds ids = model_->special_ids();
    const std::int64_t special = std::max({ids.pad, ids.bos, ids.eos, ids.unk, ids.decoder_start});
    return std::max<std::int64_t>({special + 1, tokenizer_->size(Side::source), tokenizer_->size(Side::target)});
  }

  std::vector<std::int64_t> shape_of(const Ctranslate2Variable& v) const {
    if (v.parts.empty()) return v.shape;
    std::vector<std::int64_t> shape{0};
    for (const WeightRows& part : v.parts) shape[0] += rows_of(part);
    const Shape& s = by_name_.at(v.parts[0].weight)->shape;
    if (s.rank() == 2 && !is_flat(s)) shape.push_back(s[1]);
    return shape;
  }
  // final_logits_bias [1, words] is a vector.
  static bool is_flat(const Shape& s) { return s.rank() == 2 && s[0] == 1; }
  std::int64_t rows_of(const WeightRows& part) const {
    const Shape& s = by_name_.at(part.weight)->shape;
    return part.count > 0 ? part.count : (is_flat(s) ? s[1] : s[0]) - part.begin;
  }

  std::vector<float> values_of(const WeightRows& part) const {
    const nn::Parameter& p = *by_name_.at(part.weight);
    const StoredWeight stored = from_files([&] { return find_weight(*model_, p, source_.weights()); });
    const auto zeros = [&] { return std::vector<float>(static_cast<std::size_t>(p.shape.count())); };
    std::vector<float> values = stored.values ? floats_of(p, stored) : zeros();
    if (stored.added != 0)  // norms that files store minus one, as CTranslate2 does too
      for (float& v : values) v -= stored.added;
    const std::int64_t width = p.shape.count() / (is_flat(p.shape) ? p.shape[1] : p.shape[0]);
    const auto from = values.begin() + width * part.begin;
    return {from, from + width * rows_of(part)};
  }

  std::vector<float> values_of(const Ctranslate2Variable& v) const {
    if (v.parts.empty()) return v.made;
    std::vector<float> all;
    for (const WeightRows& part : v.parts) {
      const std::vector<float> values = values_of(part);
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }

  void write_weights(const std::string& path) const {
    Ctranslate2Header header{.specification = layout_.specification,
                             .revision = layout_.revision,
                             .variables = {},
                             .aliases = layout_.aliases};
    for (const Ctranslate2Variable& v : layout_.variables) {
      const StoredType type = stored_type_of(v.kind, type_);
      header.variables.push_back({v.name, type, shape_of(v)});
      if (v.kind == VariableKind::matrix && type == StoredType::i8)
        header.variables.push_back({v.name + "_scale", StoredType::f32, {shape_of(v)[0]}});
    }
    Ctranslate2Writer writer(path, header);
    for (const Ctranslate2Variable& v : layout_.variables) {
      const StoredType type = stored_type_of(v.kind, type_);
      const std::vector<float> values = values_of(v);
      if (v.kind != VariableKind::matrix || type != StoredType::i8) {
        writer.write(v.name, numbers_as(type, values, v.name));
        continue;
      }
      std::vector<float> scales;
      writer.write(v.name, quantised(values, shape_of(v)[0], scales, v.name));
      writer.write(v.name + "_scale", std::as_bytes(std::span(scales)));
    }
    writer.commit();
  }

  // Translations begin with the row after the words, which is zero in CTranslate2.
  void check_zero_start() const {
    const std::string name =
        by_name_.contains("model.shared.weight") ? "model.shared.weight" : "model.decoder.embed_tokens.weight";
    const std::vector<float> row = values_of(WeightRows{name, layout_.words, 1});
    if (std::any_of(row.begin(), row.end(), [](float v) { return v != 0; }))
      fail_usage(name, fmt::format("row {}, with which translations begin, is not zero, as CTranslate2 assumes",
                                   layout_.words));
  }

  // The pieces in the order of their ids; ids without a piece get a made-up name.
  nlohmann::json pieces_of(Side side) const {
    nlohmann::json pieces = nlohmann::json::array();
    for (std::int64_t id = 0; id < layout_.words; ++id) {
      std::string piece = fmt::format("<unused{}>", id);
      if (id < tokenizer_->size(side)) {
        try {
          piece = tokenizer_->piece(static_cast<std::int32_t>(id), side);
        } catch (const Error&) {  // a gap among the ids
        }
      }
      pieces.push_back(std::move(piece));
    }
    return pieces;
  }

  void write_vocabularies(const fs::path& directory) const {
    const auto write = [&](const char* name, const nlohmann::json& pieces) {
      write_file_atomic((directory / name).string(), json_text(pieces, 2) + "\n");
    };
    const nlohmann::json target = pieces_of(Side::target);
    if (!model_->has_encoder()) return write("vocabulary.json", target);
    if (tokenizer_->shared_vocabulary()) return write("shared_vocabulary.json", target);
    write("source_vocabulary.json", pieces_of(Side::source));
    write("target_vocabulary.json", target);
  }

  nlohmann::json config() const {
    const SpecialIds& special = tokenizer_->special(Side::target);
    const SpecialIds own = model_->special_ids();
    const auto piece = [&](std::int32_t id, const char* otherwise) {
      return id >= 0 && id < std::min<std::int64_t>(layout_.words, tokenizer_->size(Side::target))
                 ? tokenizer_->piece(id, Side::target)
                 : std::string(otherwise);
    };
    const std::string eos = piece(own.eos >= 0 ? own.eos : special.eos, "</s>");
    nlohmann::json json{{"unk_token", piece(special.unk, "")},
                        {"bos_token", piece(own.bos, eos.c_str())},
                        {"eos_token", eos},
                        {"layer_norm_epsilon", layout_.norm_eps}};
    if (!model_->has_encoder()) return json;
    json["decoder_start_token"] = layout_.starts_from_zero ? eos : piece(own.decoder_start, eos.c_str());
    // The tokenizer's files define the tokens that are added to texts.
    json["add_source_bos"] = json["add_source_eos"] = false;
    return json;
  }

  const ModelSource& source_;
  Ctranslate2Type type_;
  std::unique_ptr<Model> model_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  Ctranslate2Layout layout_;
  std::map<std::string, const nn::Parameter*> by_name_;
};

}  // namespace

void export_ctranslate2(const ModelSource& source, const fs::path& directory, Ctranslate2Type type) {
  Ctranslate2Exporter(source, type).write(directory);
}

}  // namespace tril::model
