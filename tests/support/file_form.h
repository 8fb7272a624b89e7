// A multipart form with a file, as browsers and `curl -F` send it.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tril::serve::testing {

struct FileForm {
  std::string name, bytes;
  std::vector<std::pair<std::string, std::string>> fields = {};

  static constexpr const char* boundary = "----form0123456789";
  std::string body() const {
    std::string text;
    for (const auto& [field, value] : fields)
      text += "--" + std::string(boundary) + "\r\nContent-Disposition: form-data; name=\"" + field + "\"\r\n\r\n" +
              value + "\r\n";
    return text + "--" + boundary + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + name +
           "\"\r\nContent-Type: application/octet-stream\r\n\r\n" + bytes + "\r\n--" + boundary + "--\r\n";
  }
  /// The whole request. @param headers  further ones, each with its line end
  std::string request(const std::string& path, const std::string& headers = "") const {
    const std::string all = body();
    return "POST " + path + " HTTP/1.1\r\nHost: test:8080\r\n" + headers +
           "Content-Type: multipart/form-data; boundary=" + boundary +
           "\r\nContent-Length: " + std::to_string(all.size()) + "\r\n\r\n" + all;
  }
};

}  // namespace tril::serve::testing
