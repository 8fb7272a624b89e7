// lara_mini: Lara 4 Mini.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "format/json_file.h"
#include "model/spec/model.h"

namespace tril::model {

std::unique_ptr<Model> make_lara_mini(const JsonObject& config);

/// The numbers of rows of in_proj_qkv, in_proj_z, in_proj_b and in_proj_a, which the publisher's files hold in one matrix.
std::array<std::int64_t, 4> lara_mini_input_rows(const JsonObject& config);

}  // namespace tril::model
