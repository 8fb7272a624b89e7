// Translates one document for the server: its sentences are submitted to the engine a few windows at a time, so that memory is
// bounded and other clients' requests take their turns. Pivots, detected languages and language models work as in /translate,
// and marks are placed in the same way (sentence_plan.h).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "serve/api/document_terms.h"
#include "serve/api/translate_request.h"
#include "serve/engine/side_worker.h"
#include "serve/engine/work.h"
#include "serve/http/http.h"

namespace tril::serve {

class CancellableResponder;
class Service;
class Models;
struct Call;
struct ModelChoice;

struct DocumentProgress {
  std::size_t done = 0, total = 0;     ///< sentences; total 0: not known yet
  std::optional<double> seconds_left;  ///< by the rate so far; nothing: not known yet
};

/// A translated document.
struct DocumentResult {
  std::string name;  ///< of the file: "notes.de.md"
  std::string bytes;
};

/// The models and languages of a document's translation.
struct DocumentPath {
  std::string detected;             ///< the public code of its language, if it was detected; else ""
  double confidence = 0;            ///< of the detection, 0 to 100
  std::string assumed;              ///< the source language, if it was not given and only one is possible
  std::vector<std::string> pivots;  ///< public codes of the pivots
  std::string model;                ///< name of the (last) model
  std::size_t characters = 0;       ///< of the sentences to translate
};

/// Why a document was not translated.
struct DocumentFailure {
  int status = 500;  ///< an HTTP status; 499: it was cancelled
  std::string message;
  Headers headers = {};
  std::string parameter = {}, code = {};  ///< as of HttpError
};

class DocumentTranslation;

struct DocumentTask {
  std::string name;  ///< of of the file, whose extension gives its format (document/formats/formats.h)
  std::string bytes;
  TranslateRequest request;     ///< model, languages and search; the fields of texts have no effect
  Json body;                    ///< the request's fields, for those that TranslateRequest does not hold
  std::size_t field_bytes = 0;  ///< size of the form's other fields, which counts towards the limits of memory
  /// Called in any thread, which they must not block: with every change of the progress; once at the end. May be empty. on_end
  /// must not cancel the document.
  std::function<void(const DocumentProgress&)> on_progress = {};
  std::function<void(const DocumentTranslation& document)> on_end = {};
};

class DocumentTranslation : public std::enable_shared_from_this<DocumentTranslation> {
 public:
  enum class State : std::uint8_t { waiting, translating, done, failed };

  /// @param id        unique
  /// @param worker    reads and writes documents, outside of the server's threads
  /// @param deadline  after which it fails
  DocumentTranslation(std::string id, Service& service, SideWorker& worker, const Call& call, DocumentTask task,
                      Clock::time_point deadline);
  ~DocumentTranslation();

  const std::string& id() const { return id_; }
  /// Call it once; until then it waits.
  void start();
  /// Ends it as failed, unless it has ended.
  void cancel(DocumentFailure why = {499, "the translation was cancelled"});

  State state() const;
  DocumentProgress progress() const;
  /// Known from the state `translating` on.
  DocumentPath path() const;
  /// What was not translated. Complete once it has ended.
  Warnings warnings() const;
  /// Complete when it has ended; empty after on_end.
  DocumentTerms terms() const;
  /// Of the state `failed`.
  DocumentFailure failure() const;
  /// Of the state `done`.
  std::string result_name() const;
  std::size_t result_bytes() const;  ///< 0 once it is taken
  DocumentResult result() const;
  DocumentResult take_result();

 private:
  class Lane;
  struct Sentences;
  struct Window;
  static constexpr std::size_t lanes = 2;  ///< windows at a time, so that the end of one leaves no gap in the batch
  static constexpr std::size_t window_sentences = 128;

  void aside(std::function<void()> job);
  void guarded(const std::function<void()>& job);
  void read();
  void split(const std::shared_ptr<Sentences>& all, const std::shared_ptr<class ServedModel>& model);
  void next_window(std::size_t lane);
  void recall(const Window& window);
  void translate(const std::shared_ptr<Window>& window, const std::shared_ptr<class ServedModel>& model);
  void take(const std::shared_ptr<Window>& window, std::size_t k, const search::TextToTranslate& text,
            const Outcome& outcome);
  void write();
  void fail(const std::exception_ptr& error);
  void fail(DocumentFailure failure);
  void end(const std::function<void()>& settle);
  std::shared_ptr<const DocumentTask> task() const;
  std::shared_ptr<Sentences> sentences() const;
  std::shared_ptr<Call> call_of(std::size_t lane) const;
  DocumentProgress progress_with_lock() const;
  void tell_progress();

  Service& service_;
  Models& models_;  ///< outlives the service
  SideWorker& worker_;
  const std::string id_, client_, account_, request_id_;
  const bool admin_;
  const std::optional<std::int64_t> most_characters_;
  const Clock::time_point deadline_;
  std::vector<std::shared_ptr<CancellableResponder>> lane_ends_;
  std::shared_ptr<const void> open_;  ///< a server that stops waits for it
  std::mutex ending_;                 ///< held during on_end

  mutable std::mutex mutex_;  ///< guards all that follows
  std::string bytes_;         ///< the file, until it is read
  std::function<void(const DocumentProgress&)> on_progress_;
  std::function<void(const DocumentTranslation&)> on_end_;
  std::shared_ptr<const DocumentTask> task_;  ///< without the three above; null after its end
  Warnings warnings_;
  DocumentTerms terms_;
  std::shared_ptr<Sentences> sentences_;  ///< null before it is read, and after its end
  State state_ = State::waiting;
  DocumentPath path_;
  DocumentFailure failure_;
  DocumentResult result_;
  std::size_t next_ = 0, done_ = 0, total_ = 0, lanes_left_ = lanes;
  Clock::time_point begun_ = {};
};

}  // namespace tril::serve
