#include "serve/api/schedule.h"

#include "serve/http/http_error.h"

namespace tril::serve {

void add_schedule_fields(Fields& f, Schedule& schedule, const std::string& at_limit) {
  f.add("priority", &schedule.priority,
        "requests with a higher number are served first; above 0 only for administrators")
      .at_least(-100)
      .at_most(100);
  f.add("time-limit", &schedule.time_limit, "seconds after which " + at_limit).within(served_seconds);
}

void check_priority(const Schedule& schedule, bool is_admin) {
  if (schedule.priority > 0 && !is_admin)
    throw HttpError(403, "priority: above 0 only for administrators", "permission_error").of_field("priority");
}

void set_schedule(const Schedule& schedule, Work& work) {
  work.priority = static_cast<int>(schedule.priority);
  if (schedule.time_limit) work.deadline = Clock::now() + duration_of(*schedule.time_limit);
}

}  // namespace tril::serve
