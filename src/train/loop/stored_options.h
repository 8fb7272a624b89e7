// The options of a run as its checkpoints and reports hold them, and what a resumed run may not change.
#pragma once

#include <string>

#include "base/fields.h"

namespace tril::train {

/// Reads values written by to_json(fields). Unknown keys of former options are ignored; missing ones keep their
/// defaults.
void fields_from_json(Fields& fields, const std::string& json_text, const std::string& where);

/// The differing options that affect a run's weights: "seed was 1, now 2"; "" if the run may resume.
std::string forbidden_changes(const Fields& was, const Fields& now);

}  // namespace tril::train
