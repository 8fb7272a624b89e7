// Builds safetensors files by hand, valid and invalid ones.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/error.h"
#include "support/raw_number.h"

namespace tril::testing {

/// A directory that is removed with the object.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::random_device random;
    path_ =
        std::filesystem::temp_directory_path() / ("tril-test-" + std::to_string(random()) + std::to_string(random()));
    if (!std::filesystem::create_directory(path_)) throw std::runtime_error("no temporary directory");
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  std::string path(const std::string& name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }
  std::string put(const std::string& name, std::string_view bytes) const {
    std::filesystem::remove(path(name));  // some file systems sync a file that is overwritten in place
    std::ofstream(path(name), std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path(name);
  }

 private:
  std::filesystem::path path_;
};

inline std::string length_field(std::uint64_t length) {
  return test::raw(length);
}

inline std::string raw_safetensors(std::string_view header, std::string_view data) {
  return length_field(header.size()) + std::string(header) + std::string(data);
}

/// The message of the Error that `action` throws; "" where it throws none.
inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace tril::testing
