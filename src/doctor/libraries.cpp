#include "doctor/libraries.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.h>
#include <openssl/crypto.h>
#include <unicode/uversion.h>

namespace tril::doctor {

std::vector<std::pair<std::string, std::string>> library_versions() {
  const dnnl_version_t* const dnnl = dnnl_version();
  UVersionInfo icu;
  u_getVersion(icu);
  return {{"oneDNN", fmt::format("{}.{}.{}", dnnl->major, dnnl->minor, dnnl->patch)},
          {"ICU", fmt::format("{}.{}", icu[0], icu[1])},
          {"curl", curl_version_info(CURLVERSION_NOW)->version},
          {"OpenSSL", OpenSSL_version(OPENSSL_VERSION_STRING)}};
}

}  // namespace tril::doctor
