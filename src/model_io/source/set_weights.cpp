#include "model_io/source/set_weights.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

#include "base/as_size.h"
#include "base/team.h"
#include "model_io/contents/read_values.h"
#include "model_io/gguf/gguf_weights.h"
#include "model_io/source/memory_budget.h"

namespace tril::model {
namespace {

// The rows of a weight in blocks. What was read of the file is released, lest it be in memory beside the packed weight.
nn::BlockRows blocks_of(const nn::Parameter& p, const WeightView& view, const WeightFiles& files) {
  constexpr std::int64_t packed_at_once = 32, at_once = 4 << 20;  // rows, bytes
  nn::BlockRows rows{.format = p.quantized.format, .row = view.stored_blocks->row};
  const auto row_bytes = static_cast<std::int64_t>(kern::block_row_bytes(as_size(p.shape[1]), rows.format));
  if (std::ssize(view.bytes) != p.shape[0] * row_bytes) return rows;  // of several tensors
  rows.row = [row = rows.row, &files, bytes = view.bytes, row_bytes,
              released = std::int64_t{0}](std::int64_t i) mutable {
    const std::int64_t read = i / packed_at_once * packed_at_once * row_bytes;
    if (read - released >= at_once) {
      files.release(bytes.subspan(as_size(released), as_size(read - released)));
      released = read;
    }
    return row(i);
  };
  return rows;
}

// Memory for the values of one weight after the other. New memory for each would be cleared first, and the system clears its pages
// once more when they are first used. Memory for a large weight, such as an embedding, is not kept for the others.
class Workspace {
 public:
  /// @param most_kept  values
  explicit Workspace(std::size_t most_kept) : most_kept_(most_kept) {}

  std::span<float> of(std::size_t count) {
    if (count > count_) {
      memory_.reset();  // before the larger one exists
      memory_ = std::make_unique_for_overwrite<float[]>(count);
      count_ = count;
    }
    return {memory_.get(), count};
  }
  void release_large() {
    if (count_ > most_kept_) memory_.reset(), count_ = 0;
  }

 private:
  std::unique_ptr<float[]> memory_;
  std::size_t most_kept_, count_ = 0;
};

// True if the weight is served in the integers or blocks in which it is stored.
bool keeps_its_form(const nn::Parameter& p, const StoredWeight& stored) {
  return p.quantized &&
         (p.quantized.format != kern::BlockFormat::none || (stored.bits() != 0 && p.quantized.bits == stored.bits()));
}

// How many rows of a weight are read at a time; 0: all. Large matrices are not in memory as a whole in float32.
std::int64_t rows_at_once(const nn::Parameters& parameters, const nn::Parameter& p, const StoredWeight& stored) {
  constexpr std::int64_t panel = 32, values_at_once = 1 << 20;
  const WeightView& view = *stored.values;
  const bool is_plain =
      view.dtype == StoredType::f32 || view.dtype == StoredType::f16 || view.dtype == StoredType::bf16;
  if (!parameters.is_set_in_parts(p) || !stored.as_in_model() || stored.bits() != 0 || !is_plain) return 0;
  const std::int64_t rows =
      std::max<std::int64_t>(1, values_at_once / std::max<std::int64_t>(1, p.shape[1]) / panel) * panel;
  return rows < p.shape[0] ? rows : 0;
}

// Values that are stored as in the model are not copied first.
void set(nn::Parameters& parameters, nn::Parameter& p, const StoredWeight& stored, const WeightFiles& files,
         Workspace& workspace) {
  const kern::Kernels& kernels = kern::best();
  const WeightView& view = *stored.values;
  if (keeps_its_form(p, stored)) {
    if (p.quantized.format != kern::BlockFormat::none) return parameters.set(kernels, p, blocks_of(p, view, files));
    const auto bytes = [](const WeightView* v) {
      return v ? std::span(reinterpret_cast<const std::uint8_t*>(v->bytes.data()), v->bytes.size())
               : std::span<const std::uint8_t>();
    };
    const std::vector<float> scales = to_f32(*stored.scales);
    return parameters.set(kernels, p, {stored.bits(), bytes(&view), bytes(stored.multipliers), scales});
  }
  if (const std::int64_t at_once = rows_at_once(parameters, p, stored); at_once > 0) {
    for (std::int64_t row = 0; row < p.shape[0]; row += at_once) {
      const std::int64_t rows = std::min(at_once, p.shape[0] - row);
      const WeightView part = rows_of(view, row, rows);
      const std::span<float> values = workspace.of(as_size(rows * p.shape[1]));
      read_values(part, values);
      if (p.quantized) check_finite(files, stored, values);
      parameters.set_rows(kernels, p, row, values);
      files.release(part.bytes);
    }
    return;
  }
  const bool aligned = reinterpret_cast<std::uintptr_t>(view.bytes.data()) % alignof(float) == 0;
  std::span<const float> values;
  if (view.dtype == StoredType::f32 && aligned && stored.as_in_model()) {
    values = {reinterpret_cast<const float*>(view.bytes.data()), view.bytes.size() / sizeof(float)};
  } else {
    const std::span<float> made = workspace.of(as_size(p.shape.count()));
    read_floats(p, stored, made);
    values = made;
  }
  if (p.quantized) check_finite(files, stored, values);
  parameters.set(kernels, p, values);
}

}  // namespace

void set_weights(nn::Parameters& parameters, std::span<const WeightToSet> weights, const WeightFiles& files,
                 int threads) {
  // Large ones first, so that no thread has much to do when the others are done.
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return weights[i].parameter->shape.count(); });
  std::atomic<std::size_t> next = 0, first_wrong = weights.size();
  std::vector<std::exception_ptr> errors(weights.size());
  std::mutex mutex;
  Team team(static_cast<int>(std::clamp<std::size_t>(weights.size(), 1, as_size(threads))));
  // Weights in float32, at the same time; those that every thread keeps memory for are a quarter of it.
  constexpr std::size_t most_bytes = std::size_t{1} << 30;
  MemoryBudget budget(most_bytes);
  const auto set_some = [&](int) {
    Workspace workspace(most_bytes / sizeof(float) / 4 / as_size(team.size()));
    for (std::size_t n = next++; n < order.size(); n = next++) {
      const std::size_t i = order[n];
      if (i > first_wrong) continue;
      try {
        nn::Parameter& p = *weights[i].parameter;
        const StoredWeight& stored = weights[i].stored;
        const std::int64_t part = rows_at_once(parameters, p, stored);
        const std::int64_t values = part > 0 ? part * p.shape[1] : p.shape.count();
        const MemoryBudget::Use use(budget, keeps_its_form(p, stored) ? 0 : as_size(values) * sizeof(float));
        set(parameters, p, stored, files, workspace);
        workspace.release_large();
        files.release(*stored.values);
      } catch (...) {
        const std::scoped_lock lock(mutex);
        errors[i] = std::current_exception();
        first_wrong = std::min<std::size_t>(first_wrong, i);
      }
    }
  };
  team.run(set_some);
  if (first_wrong < weights.size()) std::rethrow_exception(errors[first_wrong]);
}

}  // namespace tril::model
