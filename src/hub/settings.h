// Where models are downloaded from and kept. The environment variables, their meanings and their defaults are those of
// huggingface_hub, so that Python and tril share one cache. Source: huggingface_hub, constants.py and utils/_auth.py.
#pragma once

#include <functional>
#include <span>
#include <string>

namespace tril::hub {

struct HubSettings {
  std::string endpoint;       ///< HF_ENDPOINT, without a slash at its end
  std::string cache;          ///< HF_HUB_CACHE: a directory
  std::string downloads;      ///< where files from other URLs are kept: a directory
  std::string token;          ///< HF_TOKEN, or the file that `hf auth login` writes; empty: none
  std::string token_origin;   ///< the token's name in errors: "HF_TOKEN", or the file's path
  bool offline = false;       ///< HF_HUB_OFFLINE: nothing is downloaded
  std::string certificates;   ///< CURL_CA_BUNDLE or SSL_CERT_FILE, or the system's file; empty: libcurl's default
  double stall_seconds = 10;  ///< HF_HUB_DOWNLOAD_TIMEOUT: a transfer without data for this time ends
  double first_wait = 1;      ///< seconds before the second attempt; the wait doubles before each later one
};

/// Where systems keep their trusted certificates as one file: a libcurl that was built on another system looks elsewhere.
std::span<const std::string> certificate_files();

/// The first of these files that exists; "" if none does.
std::string first_present(std::span<const std::string> files);

/// @param variable  the value of an environment variable; "" if it is unset
/// @throws Error(usage) naming a variable with an invalid value
HubSettings read_settings(const std::function<std::string(const std::string& name)>& variable);

/// The settings of this process.
HubSettings settings_of_process();

}  // namespace tril::hub
