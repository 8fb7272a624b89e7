// Options that are an amount of memory ("2GiB") or of time ("10m").
#pragma once

#include <cstdint>

#include "base/fields.h"

namespace tril::cli {

/// Bytes: a number with KiB, MiB, GiB, TiB, kB, MB, GB, TB or B; or 0.
TextForm<std::int64_t> memory_form();
/// Seconds: a number with s, m, h or d; or 0.
TextForm<double> time_form();

}  // namespace tril::cli
