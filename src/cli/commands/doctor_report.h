// The output of `tril doctor`: what it found, as JSON and as text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "doctor/expected_speed.h"
#include "doctor/finding.h"
#include "doctor/hub_check.h"
#include "doctor/machine.h"

namespace tril::cli {

nlohmann::ordered_json json_of(const doctor::Machine& m);
nlohmann::ordered_json json_of(const doctor::HubState& hub);
nlohmann::ordered_json json_of(const doctor::ExpectedSpeed& speed);
nlohmann::ordered_json json_of(const doctor::Finding& finding);

/// The whole output as text.
std::string doctor_text(const nlohmann::ordered_json& report);

}  // namespace tril::cli
