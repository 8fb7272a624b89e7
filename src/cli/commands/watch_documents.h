// `tril translate --watch DIR`: translates the documents of a directory, and those that appear or change there.
#pragma once

#include "cli/commands/document_translator.h"

namespace tril::cli {

struct WatchPlan {
  DocumentPlan documents;  ///< input: the directory; output: that of the translations, "-": the same
  bool json = false;       ///< a JSON object on standard output for each document
};

/// Checks a plan before long work. @throws Error(usage) if a directory does not exist
void check_watch(const WatchPlan& plan);

/// Returns when it is stopped. A document whose translation is not older than itself is not translated again, and neither is one
/// whose name says that it is a translation: notes.de.md if `de` is the target language, and notes.fr.md if there is
/// notes.md. A failure is reported, and stops only its document.
/// @throws Error if the directory is gone
void watch_documents(const WatchPlan& plan, DocumentTranslator& translator, const StopSignal& stop);

}  // namespace tril::cli
