#include "hub/file_tasks.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "hub/download.h"

namespace tril::hub {
namespace {

struct Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t next = 0, running = 0;
  std::exception_ptr first_error;
  std::stop_source stop;
};

void work(Shared& shared, const HubSettings& settings, std::size_t count, const FileTask& task) {
  const auto next = [&] {
    const std::lock_guard hold(shared.mutex);
    return shared.stop.stop_requested() ? count : shared.next++;
  };
  try {
    HttpClient client(settings);
    for (std::size_t number = next(); number < count; number = next()) task(client, number, shared.stop.get_token());
  } catch (const Stopped&) {
  } catch (...) {
    const std::lock_guard hold(shared.mutex);
    if (!shared.first_error) shared.first_error = std::current_exception();
    shared.stop.request_stop();
  }
  const std::lock_guard hold(shared.mutex);
  --shared.running;
  shared.changed.notify_all();
}

}  // namespace

void run_file_tasks(const HubSettings& settings, std::size_t count, std::size_t threads, const FileTask& task,
                    const std::function<void()>& watch) {
  constexpr std::chrono::milliseconds between_looks{100};
  Shared shared;
  {
    std::vector<std::jthread> workers;
    const std::size_t number = std::min(count, threads);
    shared.running = number;
    try {
      for (std::size_t i = 0; i < number; ++i) workers.emplace_back([&] { work(shared, settings, count, task); });
    } catch (...) {
      shared.stop.request_stop();
      throw;
    }
    std::unique_lock hold(shared.mutex);
    while (shared.running > 0) {
      shared.changed.wait_for(hold, between_looks);
      hold.unlock();
      watch();
      hold.lock();
    }
  }
  if (shared.first_error) std::rethrow_exception(shared.first_error);
}

}  // namespace tril::hub
