#include "cli/commands/doctor_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "base/message_text.h"
#include "base/printable.h"
#include "model_io/source/registry.h"

namespace tril::cli {
namespace {

using DoctorJson = nlohmann::ordered_json;

std::string line_of(std::string_view name, const std::string& value) {
  return fmt::format("{:<14} {}\n", name, printable(value, 1000));
}

std::string gibibytes(const DoctorJson& bytes) {
  return fmt::format("{:.1f} GiB", bytes.get<double>() / (1 << 30));
}

// Three digits or more, never with an exponent.
std::string figure(double number) {
  return number < 999.5 ? fmt::format("{:.3g}", number) : fmt::format("{:.0f}", number);
}

std::string billions(const DoctorJson& number, const char* unit) {
  return fmt::format("{} {}", figure(number.get<double>() / 1e9), unit);
}

std::string machine_text(const DoctorJson& m) {
  std::string text =
      line_of("processor", m["processor"].get<std::string>().empty() ? "not known" : m["processor"].get<std::string>());
  text += line_of("kernels", fmt::format("{} of {}", m["kernels"].get<std::string>(),
                                         fmt::join(m["kernel_tables"].get<std::vector<std::string>>(), ", ")));
  text += line_of("cores", fmt::format("{} usable of {} ({} without hyperthreads), {} threads, NUMA nodes: {}",
                                       m["usable_cores"].dump(), m["logical_cores"].dump(), m["physical_cores"].dump(),
                                       m["threads"].dump(), m["numa_nodes"].dump()));
  std::string memory = fmt::format("{}, {} available", gibibytes(m["memory_bytes"]),
                                   m["available_bytes"].is_null() ? "not known" : gibibytes(m["available_bytes"]));
  if (!m["memory_limit_bytes"].is_null())
    memory += fmt::format(", control group: {}", gibibytes(m["memory_limit_bytes"]));
  text += line_of("memory", memory);
  const auto known = [](const DoctorJson& j) {
    return j.get<std::string>().empty() ? "not known" : j.get<std::string>();
  };
  text += line_of("system",
                  fmt::format("huge pages {}, governor {}, open files {}", known(m["huge_pages"]), known(m["governor"]),
                              m["open_files"] == 0 ? "any number" : m["open_files"].dump()));
  if (m.contains("rates"))
    text += line_of(
        "rates",
        fmt::format("memory {}, products {} in float32, {} in int8", billions(m["rates"]["read_bytes"], "GB/s"),
                    billions(m["rates"]["flops"], "GFLOP/s"), billions(m["rates"]["int8_operations"], "GOP/s")));
  return text;
}

std::string hub_text(const DoctorJson& hub) {
  if (hub["cache"].get<std::string>().empty()) return "";
  std::string text = hub["cache"].get<std::string>();
  if (!hub["free_bytes"].is_null()) text += fmt::format(", {} free", gibibytes(hub["free_bytes"]));
  text +=
      hub["token"].get<bool>() ? fmt::format(", token from {}", hub["token_origin"].get<std::string>()) : ", no token";
  if (hub["offline"].get<bool>()) text += ", offline";
  return line_of("hub", fmt::format("{} ({})", text, hub["endpoint"].get<std::string>()));
}

std::string model_text(const DoctorJson& m) {
  std::string text = "\n" + line_of("model", m["path"].get<std::string>());
  if (m.contains("family"))
    text += line_of("family", fmt::format("{}, {} parameters", m["family"].get<std::string>(), m["parameters"].dump()));
  if (m.contains("expected_problem"))
    text += line_of("speed", "not known: " + m["expected_problem"].get<std::string>());
  if (!m.contains("expected")) return text;
  text += fmt::format("{:<14} {:>10} {:>14} {:>16} {:>14}\n", "expected", "memory", "tokens/s",
                      m["encoder"].get<bool>() ? "source tokens/s" : "prompt tokens/s", "context");
  for (const DoctorJson& s : m["expected"]) {
    const std::int64_t context = s["context"].is_null() ? -1 : s["context"].get<std::int64_t>();
    const auto speed = [](const DoctorJson& j) { return j.is_null() ? "-" : figure(j.get<double>()); };
    text += fmt::format("  {:<12} {:>6.0f} MiB {:>14} {:>16} {:>14}\n", s["precision"].get<std::string>(),
                        s["bytes"].get<double>() / (1 << 20), speed(s["tokens_per_second"]),
                        speed(s["prompt_tokens_per_second"]),
                        context < 0    ? "any"
                        : context == 0 ? "does not fit"
                                       : std::to_string(context));
  }
  text +=
      fmt::format("{:<14} at {} tokens, one text at a time: estimates, without the search\n", "", m["length"].dump());
  return text;
}

}  // namespace

DoctorJson json_of(const doctor::Machine& m) {
  return {{"processor", m.processor},
          {"kernels", m.table},
          {"kernel_tables", m.tables},
          {"logical_cores", m.logical_cores},
          {"physical_cores", m.physical_cores},
          {"usable_cores", m.usable_cores},
          {"numa_nodes", m.numa_nodes},
          {"memory_bytes", m.memory},
          {"available_bytes", m.available_memory ? DoctorJson(*m.available_memory) : DoctorJson()},
          {"memory_limit_bytes", m.memory_limit ? DoctorJson(*m.memory_limit) : DoctorJson()},
          {"huge_pages", m.huge_pages},
          {"governor", m.governor},
          {"open_files", m.open_files}};
}

DoctorJson json_of(const doctor::HubState& hub) {
  return {{"cache", hub.cache},
          {"endpoint", hub.endpoint},
          {"free_bytes", hub.free_bytes < 0 ? DoctorJson() : DoctorJson(hub.free_bytes)},
          {"offline", hub.offline},
          {"token", hub.has_token},
          {"token_origin", hub.has_token ? DoctorJson(hub.token_origin) : DoctorJson()}};
}

DoctorJson json_of(const doctor::ExpectedSpeed& s) {
  const auto measured = [&](double speed) { return s.context == 0 ? DoctorJson() : DoctorJson(speed); };
  return {{"precision", nn::name_of(s.precision)},
          {"bytes", std::llround(s.bytes)},
          {"weight_bytes_per_token", std::llround(s.weight_bytes_per_token)},
          {"tokens_per_second", measured(s.tokens_per_second)},
          {"prompt_tokens_per_second", measured(s.prompt_tokens_per_second)},
          {"context", s.context < 0 ? DoctorJson() : DoctorJson(s.context)}};
}

DoctorJson json_of(const doctor::Finding& f) {
  return {{"id", f.id}, {"severity", doctor::name_of(f.severity)}, {"what", f.what}, {"why", f.why}, {"try", f.hint}};
}

std::string doctor_text(const DoctorJson& report) {
  std::string text = machine_text(report["machine"]) + hub_text(report["hub"]);
  std::vector<std::string> libraries;
  for (const auto& [name, version] : report["libraries"].items())
    libraries.push_back(fmt::format("{} {}", name, version.get<std::string>()));
  text += line_of("libraries", fmt::format("{}", fmt::join(libraries, ", ")));
  if (report.contains("model")) text += model_text(report["model"]);
  text += "\n";
  for (const DoctorJson& f : report["findings"]) {
    text += message_text(fmt::format("{} [{}]: {}", f["severity"].get<std::string>(), f["id"].get<std::string>(),
                                     f["what"].get<std::string>())) +
            "\n";
    text += fmt::format("  why: {}\n", message_text(f["why"].get<std::string>()));
    if (!f["try"].get<std::string>().empty())
      text += fmt::format("  try: {}\n", message_text(f["try"].get<std::string>()));
  }
  return text + (report["sound"].get<bool>() ? "nothing is wrong\n" : "");
}

}  // namespace tril::cli
