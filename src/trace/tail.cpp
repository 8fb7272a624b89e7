#include "trace/tail.h"

#include <algorithm>

#include "base/as_size.h"
#include "tensor/observer.h"

namespace tril::trace {
namespace {

// Leaves all layers out, and puts the rows in the place of the stream that enters them.
class Replacement : public Observer {
 public:
  explicit Replacement(Tensor stream) : stream_(std::move(stream)) {}
  bool used() const { return used_; }

 protected:
  bool wants_point(const std::string& name) override { return name == "decoder.stream"; }
  bool see_point(Context&, const std::string&, std::int64_t, Tensor& value) override {
    check(value.shape() == stream_.shape(), "residual stream", "expected {}, got {}", value.shape(), stream_.shape());
    value = stream_;
    return used_ = true;
  }
  bool leaves_out_step(const std::string& name) override {  // a layer: "decoder.3"
    return name.starts_with("decoder.") && name.find_first_not_of("0123456789", 8) == std::string::npos;
  }

 private:
  Tensor stream_;
  bool used_ = false;
};

Rows row_of_length(std::int64_t tokens) {
  Rows rows;
  rows.append(static_cast<std::int32_t>(tokens));
  return rows;
}

}  // namespace

std::vector<float> Tail::logits(std::span<const float> stream, std::int64_t width, model::Capped capped) const {
  const std::int64_t rows = std::ssize(stream) / width;
  const std::int64_t most = model_->max_positions() > 0 ? std::min<std::int64_t>(model_->max_positions(), 128) : 128;
  std::vector<float> all;
  for (std::int64_t begin = 0; begin < rows; begin += most) {
    const std::int64_t count = std::min(most, rows - begin);
    const std::vector<float> part =
        logits_of_few(stream.subspan(as_size(begin * width), as_size(count * width)), width, capped);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

std::vector<float> Tail::logits_of_few(std::span<const float> stream, std::int64_t width, model::Capped capped) const {
  const std::int64_t rows = std::ssize(stream) / width;
  Arena arena;
  Context c(arena);
  c.set_adapters({.of_rows = {}, .of_all = input_->adapter});
  model::Memory memory;
  if (model_->has_encoder()) memory = model_->encode(c, input_->source, row_of_length(std::ssize(input_->source)));
  Replacement replacement(c.upload<float>(stream, {rows, width}));
  // The layers read no token; any ids give a stream of this many rows, which is replaced.
  const std::vector<std::int32_t> ids(as_size(rows), input_->tokens.at(0));
  c.set_observer(&replacement);
  Tensor hidden;
  {
    const ObservedPart part(c, "decoder");
    hidden = model_->decode(c, {.ids = ids,
                                .rows = row_of_length(rows),
                                .memory = model_->has_encoder() ? &memory : nullptr,
                                .memory_rows = {}});
  }
  c.set_observer(nullptr);
  check(replacement.used(), model_->family(), "its layers show no residual stream");
  return host_copy<float>(model::logits(c, *model_, hidden, capped));
}

}  // namespace tril::trace
