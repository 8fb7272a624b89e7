// distillation: L = T^2 / n sum_i KL(softmax(t_i / T) || softmax(s_i / T)), over the n rows that count
// [Hinton et al. 2015]
//   ds_i = T / n (softmax(s_i / T) - softmax(t_i / T));  the teacher's logits t are constants
//   student, teacher [N, V]   saves ds
#include "ops/loss.h"

namespace tril::ops {

Tensor distillation(Context& c, const Tensor& student, const Tensor& teacher, const Tensor& targets,
                    std::int32_t ignore_id, float temperature) {
  const auto [N, V] = student.dims<2>("distillation: student");
  check_dense(student, DType::f32, "distillation: student"), check_dense(teacher, DType::f32, "distillation: teacher");
  check_shape(teacher, {N, V}, "distillation: teacher");
  check_shape(targets, {N}, "distillation: targets");
  check(temperature > 0, "distillation", "temperature {} is not above zero", temperature);
  std::vector<float> keep;
  std::int64_t kept = 0;
  for (std::int32_t id : host_copy<std::int32_t>(targets))
    keep.push_back(id != ignore_id ? 1.0f : 0.0f), kept += id != ignore_id;
  const double n = static_cast<double>(std::max<std::int64_t>(kept, 1));

  const Tensor keep_rows = c.upload(keep);
  Tensor losses = c.empty({N});
  Tensor ds = c.tape() && c.tape()->wants(student) ? c.empty({N, V}) : Tensor();
  c.kernels().distillation(student.data<float>(), teacher.data<float>(), keep_rows.data<float>(), temperature,
                           static_cast<float>(1 / n), losses.data<float>(), ds ? ds.data<float>() : nullptr, z(N),
                           z(V));
  const Tensor y = sum_of_losses(c, losses, n);
  if (ds)
    c.tape()->record("distillation", {&student}, y, [student, ds](Context& k, const Tensor& dy, Grads& d) {
      scale_by(k, ds, dy);
      pass_on(k, ds, d.into(k, student));
    });
  return y;
}

}  // namespace tril::ops
