// A cache of a model's weights in the packed form for serving (`packed-int8.tril`). It is mapped instead of computed, so that
// the model starts at once, pages are read on demand, and processes share them.
//
// A file is one page of header (JSON padded with spaces) and nn::Parameters::serving_image(). The header identifies the
// weights, and has hashes of the whole image and of a sample of its pages. The sample is checked before serving. An image of
// other weights, or a damaged one, is not used. Every processor reads every image; one of bf16 has the form that is faster on the
// processor that wrote it (nn::ServingForm).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "model/spec/model.h"
#include "model_io/source/model_source.h"

namespace tril::model {

/// The path of a model's image for a precision.
std::filesystem::path packed_image_path(const ModelSource& model, nn::Precision precision);

/// Writes it atomically. @return its size in bytes
std::size_t write_packed_image(const ModelSource& model, nn::ServingForm form, int threads = 1);

/// Lets `m`, which was made for `model` and has no weights yet, serve from an existing image. Returns false if there is none.
/// Warns and returns false if the image is of other weights or another version of tril, or if its sample is damaged.
bool adopt_packed_image(Model& m, const ModelSource& model, nn::Precision precision);

enum class PackedState : std::uint8_t {
  sound,
  damaged,
  of_others,  ///< made from other weights, or by another version of tril
};

/// Checks the whole image of a precision; nothing if there is none.
std::optional<PackedState> packed_image_state(const ModelSource& model, nn::Precision precision);

}  // namespace tril::model
