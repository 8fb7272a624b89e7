// The documents of the server: those in translation, and translations that wait for their download. For routes that
// respond when a document is translated (/translate_file), and for routes that respond at once and are polled:
//
//   const Documents::Ticket ticket = service.documents().begin(call, task);   // the id and the key go to the client
//   const DocumentPtr document = service.documents().find(*call, id);         // null: unknown, expired, or another client's
//   document->progress(), document->state(), document->failure()
//   const DocumentResult file = service.documents().take(id);                 // once
//
// Four documents are translated at a time, at most three of one client, which bounds the memory of their contents; the others wait,
// and clients take turns. A document is forgotten when its translation is taken, or `keep_seconds` after its end. Names of files never
// become paths: everything is in memory.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "serve/api/document_translation.h"

namespace tril::serve {

struct DocumentLimits {
  std::size_t most_bytes = std::size_t{16} << 20;  ///< of one document; 0: none are taken
  std::int64_t memory = std::int64_t{256} << 20;   ///< bytes of all documents and translations (Documents::bytes_of())
  double keep_seconds = 600, timeout_seconds = 3600;
};

using DocumentPtr = std::shared_ptr<DocumentTranslation>;

class Documents {
 public:
  Documents(Service& service, const DocumentLimits& limits);
  /// Cancels all.
  ~Documents();
  Documents(const Documents&) = delete;
  Documents& operator=(const Documents&) = delete;

  /// Whether a document's translation outlives the request that sent it.
  enum class Lifetime : std::uint8_t {
    request,   ///< it is cancelled when the client disconnects
    document,  ///< it continues
  };
  struct Ticket {
    std::string id, key;  ///< 32 hexadecimal digits each, which cannot be guessed
    DocumentPtr document;
  };
  /// Begins to translate a document.
  /// @throws HttpError: 403 if the server takes no documents, 400 for an unknown format or an empty file, 413 for a large one,
  ///         429 if there are too many
  Ticket begin(const std::shared_ptr<Call>& call, DocumentTask task, Lifetime lifetime);
  /// A document that this caller may have: it was begun with the same API key. Null if there is none.
  DocumentPtr find(const Call& call, std::string_view id) const;
  /// Whether this is the key of a document.
  bool has_key(std::string_view id, std::string_view key) const;
  /// Takes the translation of a document that is done, and forgets the document. @throws HttpError (404) if there is none
  DocumentResult take(std::string_view id);

  /// Cancels all documents with a 503 error, since nobody could download their translations. None begin from now on.
  void stop();
  std::size_t size() const;
  const DocumentLimits& limits() const { return limits_; }
  /// What a document counts towards DocumentLimits::memory while it is translated: its file twice, its form, and a constant.
  /// @param file  size of the file in bytes; fields: of the form's other fields
  static std::int64_t bytes_of(std::size_t file, std::size_t fields);

 private:
  struct Entry {
    DocumentPtr document;
    std::string owner, key, client;
    Lifetime lifetime;
    std::int64_t bytes;         ///< bytes_of(); after its end of the translation, with the constant
    Clock::time_point expires;  ///< max() until it has ended
    std::uint64_t number = 0;   ///< in the order of arrival
    bool started = false;
  };
  void check(const Call& call, std::int64_t bytes) const;
  void ended(const DocumentTranslation& document);
  std::vector<DocumentPtr> next_ones();
  void forget_expired();

  Service& service_;
  const DocumentLimits limits_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Entry, std::less<>> entries_;  ///< guarded by mutex_
  std::uint64_t begun_ = 0;                            ///< likewise: the number of documents so far
  bool stopped_ = false, ending_ = false;              ///< likewise
  SideWorker worker_;
  std::thread keeper_;  ///< forgets expired documents
};

}  // namespace tril::serve
