// A headless browser, controlled over its debugging pipe [Chrome DevTools Protocol: JSON messages, each terminated by a
// zero]. One browser opens any number of pages, one after the other.
#pragma once

#include <sys/types.h>

#include <deque>
#include <nlohmann/json.hpp>
#include <string>

#include "support/run_program.h"

namespace tril {

/// The path of a working browser; or none, and why.
struct BrowserProgram {
  std::string path, why_not;
};

/// $TRIL_BROWSER ("none": none), or the first of the usual names in the PATH.
BrowserProgram find_browser();

/// Where the project's own set-up installs a browser, tests fail without one.
bool browser_is_expected();

std::string bytes_of_base64(const std::string& text);

class Browser {
 public:
  explicit Browser(const std::string& program);
  ~Browser();
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  /// Opens an address in a window of this size and waits until it is loaded and its scripts have run.
  /// @throws std::runtime_error if the browser refuses, is gone, or takes minutes
  void open(const std::string& address, int width = 1280, int height = 900);
  /// The current document.
  std::string document();
  /// The result of this script in the page, as JSON.
  nlohmann::json evaluate(const std::string& script);
  /// The page as a screen reader gets it: the nodes of the browser's accessibility tree that are not ignored, each
  /// {"role", "name", "level", "focusable", "parents": roles from the root down}.
  nlohmann::json accessibility_tree();
  /// Presses and releases a key: "Tab", "Enter", "ArrowDown".
  void press(const std::string& key, bool shift = false);
  /// Whether pages are to be dark.
  void prefer_dark(bool dark);
  /// A picture of the window, as PNG.
  std::string screenshot();
  /// The page's console messages, including script errors and policy violations; one a line.
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
  std::string loaded_;  // the last completed load
};

}  // namespace tril
