// A browser without a window, told what to do over its debugging pipe [Chrome DevTools Protocol: JSON messages, each with a
// zero behind it]. One browser looks at any number of pages, one after the other.
#pragma once

#include <sys/types.h>

#include <deque>
#include <nlohmann/json.hpp>
#include <string>

#include "support/run_program.h"

namespace tril {

/// Where a browser that works is; or none, and why.
struct BrowserProgram {
  std::string path, why_not;
};

/// $TRIL_BROWSER ("none": none), or the first of the usual names in the PATH.
BrowserProgram find_browser();

/// Where the project's own set-up installs a browser, tests without one fail.
bool browser_is_expected();

std::string bytes_of_base64(const std::string& text);

class Browser {
 public:
  explicit Browser(const std::string& program);
  ~Browser();
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  /// Opens an address in a window of this size and waits until it is loaded and its scripts have run.
  /// @throws std::runtime_error where the browser says no, is gone, or takes minutes
  void open(const std::string& address, int width = 1280, int height = 900);
  /// The document as it is now.
  std::string document();
  /// What this script comes to in the page, as JSON.
  nlohmann::json evaluate(const std::string& script);
  /// What somebody is told who does not see the page: the nodes of the browser's accessibility tree that are not left
  /// out, each {"role", "name", "level", "focusable", "parents": roles from the root down}.
  nlohmann::json accessibility_tree();
  /// Presses and releases a key, as by a hand: "Tab", "Enter", "ArrowDown".
  void press(const std::string& key, bool shift = false);
  /// Whether pages are to be dark.
  void prefer_dark(bool dark);
  /// What the window shows, as PNG.
  std::string screenshot();
  /// What the page has said on its console, errors of scripts and breaches of its policy among it; a line for each.
  const std::string& console() const { return console_; }

 private:
  void begin();
  void end();
  nlohmann::json call(const std::string& method, const nlohmann::json& params = nlohmann::json::object());
  nlohmann::json next_message();
  void note(const nlohmann::json& event);

  ScratchFolder folder_;
  pid_t child_ = -1;
  int pipe_ = -1;
  int calls_ = 0;
  std::string session_, received_, console_;
  std::string loaded_;  // the last loading that came to its end
};

}  // namespace tril
