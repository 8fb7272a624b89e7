#include "trace/recorder.h"

#include <algorithm>
#include <array>

#include "ops/dense.h"
#include "trace/pattern.h"

namespace tril::trace {
namespace {

// Points that follow from others: a change would not reach the rest of the pass.
bool is_read_only(std::string_view name) {
  constexpr std::array names{"router", "chosen", "tokens", "final", "logits", "state", "softcap"};
  return std::find(names.begin(), names.end(), last_name(name)) != names.end();
}

// True if the edit also changes this value as a part of one around it: "*.feed_forward.out" names the sum to which a shared expert
// adds, and the expert's own result too, and a change of both would count twice there.
bool is_changed_around(const Edit& e, const std::string& name) {
  constexpr std::string_view sublayer = ".feed_forward.";
  const std::size_t first = name.find(sublayer), last = name.rfind(sublayer);
  if (first == last) return false;
  const std::string_view value = std::string_view(name).substr(last + sublayer.size());
  return (value == "input" || value == "out") && is_pattern_of(e.pattern, name.substr(0, first) + name.substr(last));
}

bool is_edit_of(const Edit& e, const std::string& name) {
  return e.action != Edit::Action::skip && !e.of_tokens() && is_pattern_of(e.pattern, name) &&
         !is_changed_around(e, name);
}

}  // namespace

Recorder::Recorder(Trace& trace, Options options)
    : trace_(&trace), o_(std::move(options)), met_patterns_(o_.only.size()), met_edits_(o_.edits.size()) {}

bool Recorder::is_kept(const std::string& name) {
  bool kept = false;
  for (std::size_t i = 0; i < o_.only.size(); ++i)
    if (covers(o_.only[i], name)) kept = met_patterns_[i] = true;
  return kept;
}

bool Recorder::is_changed(const std::string& name) const {
  return std::any_of(o_.edits.begin(), o_.edits.end(), [&](const Edit& e) { return is_edit_of(e, name); });
}

bool Recorder::wants_point(const std::string& name) {
  if (o_.checkpoint) o_.checkpoint();
  names_.insert(name);
  return is_kept(name) || is_changed(name);
}

void Recorder::show(const std::string& name, const Tensor& value) {
  names_.insert(name);
  if (is_changed(name))
    fail_usage(name, "this value follows from others and cannot be changed", "change an earlier one");
  if (is_kept(name)) trace_->add(name, value, 0, computed_at().text());
}

bool Recorder::see_point(Context& c, const std::string& name, std::int64_t heads, Tensor& value) {
  bool changed = false;
  for (std::size_t i = 0; i < o_.edits.size(); ++i) {
    const Edit& e = o_.edits[i];
    if (!is_edit_of(e, name)) continue;
    if (is_read_only(name))
      fail_usage(e.text, "this value follows from others and cannot be changed", "change an earlier one");
    if (e.action == Edit::Action::uniform && !name.ends_with(".scores"))
      fail_usage(e.text, fmt::format("{} are no scores", name), "use it on scores, such as \"*.self.scores=uniform\"");
    met_edits_[i] = true;
    const Shape shape = value.shape();
    if (o_.growing && e.token && shape.rank() >= 2 && *e.token >= shape[shape.rank() == 3 ? 1 : 0]) continue;
    const Value* const from = o_.donor && e.action == Edit::Action::patch ? o_.donor->find(name) : nullptr;
    value = edited(c, e, value, heads, {.value = from, .of_first_tokens = o_.growing});
    changed = true;
  }
  if (is_kept(name)) trace_->add(name, value, heads, computed_at().text());
  if (!o_.gradients || !c.tape() || value.dtype() != DType::f32 || is_of_pairs(name) || !is_kept(name)) return changed;
  value = with_gradient(c, name, value, heads);
  return true;
}

// A copy, whose gradient passes through the recorder on its way to the value.
Tensor Recorder::with_gradient(Context& c, const std::string& name, const Tensor& value, std::int64_t heads) {
  if (!c.tape()->wants(value)) return value;
  const Tensor x = ops::dense(c, value);
  Tensor y = c.empty(x.shape());
  c.kernels().copy(x.data<float>(), y.data<float>(), static_cast<std::size_t>(x.bytes()));
  c.tape()->record("observed", {&x}, y, [trace = trace_, name, heads, x](Context& k, const Tensor& dy, Grads& d) {
    trace->add(name + ".gradient", dy, heads);
    const Grads::Target to = d.into(k, x);
    if (!to) return;
    Tensor into = to.grad;
    const auto n = static_cast<std::size_t>(dy.count());
    if (to.accumulate)
      k.kernels().axpy(1.0f, dy.data<float>(), into.data<float>(), n);
    else
      k.kernels().scale(1.0f, dy.data<float>(), into.data<float>(), n);
  });
  return y;
}

bool Recorder::leaves_out_step(const std::string& name) {
  names_.insert(name);
  bool out = false;
  for (std::size_t i = 0; i < o_.edits.size(); ++i)
    if (o_.edits[i].action == Edit::Action::skip && is_pattern_of(o_.edits[i].pattern, name))
      out = met_edits_[i] = true;
  return out;
}

void Recorder::check_all_met() const {
  const std::vector<std::string> names(names_.begin(), names_.end());
  const auto refuse = [&](const std::string& pattern, const char* what) {
    const std::string near = did_you_mean(pattern, names);
    fail_usage(pattern, what, near.empty() ? "a trace without `only` lists all points" : near);
  };
  for (std::size_t i = 0; i < o_.only.size(); ++i)
    if (!met_patterns_[i] && !o_.may_miss) refuse(o_.only[i], "matches no point of this model's pass");
  for (std::size_t i = 0; i < o_.edits.size(); ++i)
    if (!met_edits_[i] && !o_.edits[i].of_tokens())
      refuse(o_.edits[i].text, "changes nothing: no point of the pass has this name");
}

}  // namespace tril::trace
