// What serving makes of a model's weights, kept beside them as it lies in memory (`packed-int8.tril`): mapped instead of
// made, it is there at once, little of it is read before it is used, and the processes of a machine share it.
//
// A file is a page of header, JSON and spaces, and the image of nn::Parameters::serving_image(). The header says of which
// weights it is, and has hashes of the image: of all of it, and of a sample of its pages, which is looked at before it is
// served. An image of other weights, or one that is damaged, is not used. Images are the same for every processor.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "model/spec/model.h"
#include "model_io/model_source.h"

namespace tril::model {

/// Where the image of a model is for a precision.
std::filesystem::path packed_image_path(const ModelSource& model, nn::Precision precision);

/// Writes it, whole or not at all. Returns its bytes.
std::size_t write_packed_image(const ModelSource& model, nn::Precision precision);

/// Has `m`, made for `model` and without weights yet, serve out of the image that is there. False where there is none; one
/// that does not belong to these weights or to this version of tril, or is damaged where it is looked at, is a warning, and
/// false.
bool adopt_packed_image(Model& m, const ModelSource& model, nn::Precision precision);

enum class PackedState : std::uint8_t {
  sound,
  damaged,
  of_others,  ///< of other weights, or of another version of tril
};

/// What the image of a precision is worth, all of which is read; nothing where there is none.
std::optional<PackedState> packed_image_state(const ModelSource& model, nn::Precision precision);

}  // namespace tril::model
