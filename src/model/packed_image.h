// What serving makes of a model's weights, kept beside them as it lies in memory (`packed-int8.tril`): mapped instead of
// made, it is there at once, nothing of it is read before it is used, and the processes of a machine share it.
//
// A file is a page of header, JSON and spaces, and the image of nn::Parameters::serving_image(). The header says of which
// weights it is; an image of others is not used. Images are the same for every processor.
#pragma once

#include <filesystem>

#include "model/model.h"

namespace tril::model {

/// Where the image of a directory (or GGUF file) is for a precision.
std::filesystem::path packed_image_path(const std::filesystem::path& model, nn::Precision precision);

/// Writes it, whole or not at all. Returns its bytes.
std::size_t write_packed_image(const std::filesystem::path& model, nn::Precision precision);

/// Has `m`, made for `model` and without weights yet, serve out of the image that is there. False where there is none; one
/// that does not belong to these weights or to this version of tril is a warning, and false.
bool adopt_packed_image(Model& m, const std::filesystem::path& model, nn::Precision precision);

}  // namespace tril::model
