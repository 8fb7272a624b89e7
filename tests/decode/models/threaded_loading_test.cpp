// A model that several threads load is the one that a single thread loads.
#include "decode/models/decoding_options.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "model_io/source/registry.h"
#include "support/small_translators.h"

namespace tril::search {
namespace {

TEST(ThreadedLoading, GivesTheSameWeights) {
  const auto directory = std::filesystem::temp_directory_path() / ("tril_loading_" + std::to_string(getpid()));
  model::save(*small::marian(1, 48, 6), directory);
  const auto source = model::ModelSource::open(directory);
  for (const char* precision : {"fp32", "bf16", "int8", "int4"}) {
    const auto image = [&](std::int64_t threads) {
      DecodingOptions o;
      o.precision = precision, o.threads = threads;
      const auto m = load_model(source, o);
      const std::span<const std::byte> bytes = m->parameters().serving_image();
      return std::vector(bytes.begin(), bytes.end());
    };
    const std::vector<std::byte> alone = image(1);
    EXPECT_GT(alone.size(), 1000u);
    EXPECT_EQ(image(4), alone) << precision;
  }
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace tril::search
