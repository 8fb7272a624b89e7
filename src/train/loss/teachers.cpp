#include "train/loss/teachers.h"

#include <algorithm>
#include <cmath>

#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "train/loss/hidden_states.h"
#include "train/loss/serving_scope.h"

namespace tril::train {
namespace {

void check_side(const std::string& directory, const Tokenizer& teacher, const Tokenizer& student, Side side) {
  const char* const name = side == Side::source ? "source" : "target";
  const char* const hint = "leave `vocab` out, or set it to the teacher's directory";
  if (teacher.size(side) != student.size(side))
    fail_usage(directory,
               fmt::format("the teacher's {} vocabulary has {} pieces, the student's {}", name, teacher.size(side),
                           student.size(side)),
               hint);
  for (std::int32_t id = 0; id < student.size(side); ++id)
    if (teacher.piece(id, side) != student.piece(id, side))
      fail_usage(directory,
                 fmt::format("id {} of the {} vocabulary is \"{}\" for the teacher and \"{}\" for the student", id,
                             name, teacher.piece(id, side), student.piece(id, side)),
                 hint);
}

// Whether all weights are finite: otherwise the student's loss would seem to be at fault.
bool is_finite(const model::Model& m) {
  constexpr std::int64_t piece = 1 << 20;
  const Tensor& all = m.parameters().flat();
  for (std::int64_t begin = 0; begin < all.count(); begin += piece) {
    const std::vector<float> some = host_copy<float>(all.rows(begin, std::min(all.count(), begin + piece)));
    if (!std::all_of(some.begin(), some.end(), [](float x) { return std::isfinite(x); })) return false;
  }
  return true;
}

}  // namespace

void check_teacher(const model::ModelSource& source, const Tokenizer& student, std::int64_t max_length) {
  const std::string directory = source.name();
  const std::unique_ptr<model::Model> m = model::make(source);
  if (!m->has_encoder())
    fail_usage(directory, "this model has no encoder, but a teacher must read the source", "choose an encoder-decoder");
  if (m->max_positions() > 0 && m->max_positions() < max_length)
    fail_usage(
        directory,
        fmt::format("the teacher has {} positions, but sentences may have {} tokens", m->max_positions(), max_length),
        fmt::format("pass `max_length` {}", m->max_positions()));
  const std::shared_ptr<const Tokenizer> teacher = source.tokenizer();
  check_side(directory, *teacher, student, Side::source);
  check_side(directory, *teacher, student, Side::target);
  if (m->vocab_size() != student.size(Side::target))
    fail_usage(directory,
               fmt::format("the teacher has a vocabulary of {} tokens, the student of {}", m->vocab_size(),
                           student.size(Side::target)),
               "choose a teacher with the same vocabulary");
}

std::unique_ptr<model::Model> load_teacher(const std::string& directory, const Tokenizer& student,
                                           std::int64_t max_length) {
  const auto source = model::ModelSource::open(directory);
  check_teacher(source, student, max_length);
  std::unique_ptr<model::Model> m = model::load(source);
  if (!is_finite(*m)) fail(directory, "the teacher has non-finite weights", "download it again, or choose another");
  return m;
}

Teachers::Teachers(std::span<const std::string> directories, const Tokenizer& student, std::int64_t max_length) {
  for (const std::string& directory : directories) models_.push_back(load_teacher(directory, student, max_length));
}

std::vector<ops::Projected> Teachers::predict(Context& c, const Batch& batch) const {
  const ServingScope serving(c);
  std::vector<ops::Projected> predictions;
  for (const auto& m : models_) {
    const model::OutputProjection out = m->output();
    predictions.push_back({hidden_states(c, *m, batch), out.weight, out.bias});
  }
  return predictions;
}

std::shared_ptr<const Teachers> teachers_of(const std::vector<std::string>& directories, const Tokenizer& student,
                                            std::int64_t max_length) {
  if (directories.empty()) return nullptr;
  return std::make_shared<const Teachers>(directories, student, max_length);
}

}  // namespace tril::train
