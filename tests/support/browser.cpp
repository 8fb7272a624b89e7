#include "support/browser.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <map>
#include <sstream>

namespace tril {

using Json = nlohmann::json;

BrowserProgram find_browser() {
  namespace fs = std::filesystem;
  const char *chosen = std::getenv("TRIL_BROWSER"), *path = std::getenv("PATH");
  std::vector<std::string> candidates;
  if (chosen && *chosen) {
    candidates = {chosen};
  } else {
    std::istringstream folders(path ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');)
      for (const char* name : {"chromium", "chromium-browser", "google-chrome"})
        candidates.push_back(folder + "/" + name);
  }
  std::string why_not = "there is no chromium, chromium-browser or google-chrome; scripts/deps.sh browser installs one";
  for (const std::string& program : candidates) {
    std::error_code problem;
    const fs::path real = fs::canonical(program, problem);
    if (problem || access(program.c_str(), X_OK) != 0) continue;
    if (real.string().starts_with("/snap/") || real.filename() == "snap") {
      why_not = program + " is a snap, which sees no files in a temporary folder";
      continue;
    }
    const Ran ran = run_words({"/usr/bin/timeout", "-k", "5", "60", program, "--version"});
    if (ran.code == 0) return {program, ""};
    why_not = program + " does not run: " + ran.err;
  }
  return {"", why_not};
}

bool browser_is_expected() {
  const char* chosen = std::getenv("TRIL_BROWSER");
  if (chosen && std::string(chosen) == "none") return false;
  return ("\n" + file_text("/etc/os-release")).find("\nID=debian\n") != std::string::npos;
}

std::string bytes_of_base64(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char ch : text) {
    if (ch == '=') break;
    bits = bits << 6 | static_cast<std::uint32_t>(digits.find(ch));
    if ((held += 6) >= 8) held -= 8, bytes += static_cast<char>(bits >> held & 255);
  }
  return bytes;
}

// The browser expects file 3 (which it reads) and file 4 (which it writes): here both are one socket, since writing to
// it after the browser is gone raises no signal, unlike a pipe.
Browser::Browser(const std::string& program) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw std::runtime_error("no socket");
  std::vector<std::string> words{program, "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
                                 "--disable-dev-shm-usage", "--disable-extensions", "--disable-sync",
                                 "--disable-background-networking", "--disable-component-update",
                                 // hidden pages would otherwise run at low priority, and starve on a loaded machine
                                 "--disable-renderer-backgrounding", "--disable-backgrounding-occluded-windows",
                                 "--disable-background-timer-throttling", "--no-first-run", "--hide-scrollbars",
                                 "--user-data-dir=" + folder_.at("profile"), "about:blank"};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const std::string err = folder_.write("err", "");
  child_ = fork();
  if (child_ == 0) {
    const int browser_end = fcntl(ends[1], F_DUPFD, 10);
    dup2(::open("/dev/null", O_RDWR), 0), dup2(0, 1), dup2(::open(err.c_str(), O_WRONLY), 2);
    dup2(browser_end, 3), dup2(browser_end, 4);
    execv(argv[0], argv.data());
    _exit(127);
  }
  close(ends[1]);
  pipe_ = ends[0];
  try {
    begin();
  } catch (...) {
    end();
    throw;
  }
}

void Browser::begin() {
  const Json target = call("Target.createTarget", {{"url", "about:blank"}});
  session_ = call("Target.attachToTarget", {{"targetId", target["targetId"]}, {"flatten", true}})["sessionId"];
  for (const char* domain : {"Runtime.enable", "Log.enable", "Page.enable"}) call(domain);
  call("Page.setLifecycleEventsEnabled", {{"enabled", true}});
}

Browser::~Browser() {
  end();
}

void Browser::end() {
  const std::string goodbye = R"({"id":0,"method":"Browser.close"})" + std::string(1, '\0');
  send(pipe_, goodbye.data(), goodbye.size(), MSG_NOSIGNAL);
  for (int i = 0; i < 100; ++i) {
    if (waitpid(child_, nullptr, WNOHANG) == child_) {
      close(pipe_);
      return;
    }
    usleep(100'000);
  }
  kill(child_, SIGKILL);
  waitpid(child_, nullptr, 0);
  close(pipe_);
}

Json Browser::next_message() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(4);
  for (;;) {
    if (const std::size_t zero = received_.find('\0'); zero != std::string::npos) {
      Json message = Json::parse(received_.substr(0, zero));
      received_.erase(0, zero + 1);
      return message;
    }
    pollfd wait{pipe_, POLLIN, 0};
    std::array<char, 1 << 16> block;
    const bool ready = poll(&wait, 1, 1000) > 0;
    const ssize_t n = ready ? read(pipe_, block.data(), block.size()) : 0;
    if (ready && n <= 0) throw std::runtime_error("the browser is gone: " + file_text(folder_.at("err")));
    if (std::chrono::steady_clock::now() > end)
      throw std::runtime_error("the browser says nothing: " + file_text(folder_.at("err")));
    received_.append(block.data(), static_cast<std::size_t>(n));
  }
}

void Browser::note(const Json& event) {
  const std::string method = event.value("method", "");
  if (method == "Page.lifecycleEvent" && event["params"]["name"] == "load") loaded_ = event["params"]["loaderId"];
  const bool speaks =
      method == "Runtime.exceptionThrown" || method == "Runtime.consoleAPICalled" || method == "Log.entryAdded";
  if (speaks) console_ += event["params"].dump() + "\n";
}

Json Browser::call(const std::string& method, const Json& params) {
  Json message{{"id", ++calls_}, {"method", method}, {"params", params}};
  if (!session_.empty()) message["sessionId"] = session_;
  const std::string text = message.dump() + std::string(1, '\0');
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t n = send(pipe_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) throw std::runtime_error("the browser is gone: " + file_text(folder_.at("err")));
    sent += static_cast<std::size_t>(n);
  }
  for (;;) {
    Json answer = next_message();
    if (answer.value("id", 0) != calls_) {
      note(answer);
      continue;
    }
    if (answer.contains("error")) throw std::runtime_error(method + ": " + answer["error"].dump());
    return answer["result"];
  }
}

void Browser::open(const std::string& address, int width, int height) {
  call("Emulation.setDeviceMetricsOverride",
       {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", false}});
  for (const std::string& to :
       {std::string("about:blank"), address}) {  // going to a fragment of the same page would not load it
    console_.clear();
    const Json going = call("Page.navigate", {{"url", to}});
    if (going.contains("errorText")) throw std::runtime_error(to + ": " + going["errorText"].get<std::string>());
    while (loaded_ != going["loaderId"].get<std::string>()) note(next_message());
  }
}

Json Browser::evaluate(const std::string& script) {
  const Json result = call("Runtime.evaluate", {{"expression", script}, {"returnByValue", true}});
  if (result.contains("exceptionDetails")) throw std::runtime_error(result["exceptionDetails"].dump());
  return result["result"].value("value", Json());
}

std::string Browser::document() {
  return evaluate("document.documentElement.outerHTML");
}

Json Browser::accessibility_tree() {
  const Json nodes = call("Accessibility.getFullAXTree")["nodes"];
  std::map<std::string, const Json*> by_id;
  for (const Json& node : nodes) by_id[node["nodeId"]] = &node;
  const auto text = [](const Json& node, const char* key) -> std::string {
    return node.contains(key) && node[key].contains("value") && node[key]["value"].is_string() ? node[key]["value"]
                                                                                               : "";
  };
  Json list = Json::array();
  for (const Json& node : nodes) {
    if (node.value("ignored", false)) continue;
    Json one{{"role", text(node, "role")}, {"name", text(node, "name")}, {"parents", Json::array()}};
    for (const Json& property : node.value("properties", Json::array()))
      if (property["name"] == "level" || property["name"] == "focusable")
        one[property["name"].get<std::string>()] = property["value"]["value"];
    for (auto up = by_id.find(node.value("parentId", "")); up != by_id.end();
         up = by_id.find(up->second->value("parentId", "")))
      if (!up->second->value("ignored", false))
        one["parents"].insert(one["parents"].begin(), text(*up->second, "role"));
    list.push_back(std::move(one));
  }
  return list;
}

void Browser::press(const std::string& key, bool shift) {
  static const std::map<std::string, int> codes{{"Tab", 9},        {"Enter", 13},   {"Escape", 27},
                                                {"ArrowLeft", 37}, {"ArrowUp", 38}, {"ArrowRight", 39},
                                                {"ArrowDown", 40}, {"PageUp", 33},  {"PageDown", 34}};
  for (const char* type : {"keyDown", "keyUp"}) {
    Json event{{"type", type},
               {"key", key},
               {"code", key},
               {"windowsVirtualKeyCode", codes.at(key)},
               {"modifiers", shift ? 8 : 0}};
    if (key == "Enter" && std::string(type) == "keyDown") event["text"] = "\r";
    call("Input.dispatchKeyEvent", event);
  }
}

void Browser::prefer_dark(bool dark) {
  call("Emulation.setEmulatedMedia",
       {{"features", Json::array({Json{{"name", "prefers-color-scheme"}, {"value", dark ? "dark" : "light"}}})}});
}

std::string Browser::screenshot() {
  return bytes_of_base64(call("Page.captureScreenshot", {{"format", "png"}})["data"]);
}

}  // namespace tril
