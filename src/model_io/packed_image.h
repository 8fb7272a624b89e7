// A cache of a model's weights in the packed form for serving (`packed-int8.tril`): it is mapped instead of computed,
// so it is available at once, is read on demand, and is shared by the processes of a machine.
//
// A file is a page of header (JSON padded with spaces) and the image of nn::Parameters::serving_image(). The header
// identifies the weights, and has hashes of the whole image and of a sample of its pages, which is checked before
// serving. An image of other weights, or a damaged one, is not used. Images are the same for every processor.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "model/spec/model.h"
#include "model_io/model_source.h"

namespace tril::model {

/// The path of a model's image for a precision.
std::filesystem::path packed_image_path(const ModelSource& model, nn::Precision precision);

/// Writes it atomically. @return its size in bytes
std::size_t write_packed_image(const ModelSource& model, nn::Precision precision);

/// Makes `m`, built for `model` and still without weights, serve from an existing image. False if there is none; if the
/// image is of other weights or another version of tril, or its checked part is damaged, warns and returns false.
bool adopt_packed_image(Model& m, const ModelSource& model, nn::Precision precision);

enum class PackedState : std::uint8_t {
  sound,
  damaged,
  of_others,  ///< of other weights, or of another version of tril
};

/// Checks the whole image of a precision; nothing if there is none.
std::optional<PackedState> packed_image_state(const ModelSource& model, nn::Precision precision);

}  // namespace tril::model
