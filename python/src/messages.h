// Messages of the libraries in Python: they go to the logger "tril" of the module logging.
#pragma once

namespace tril::python {

/// From now on, messages are collected.
void collect_messages();

/// Gives the collected messages to Python's logger; call it with the interpreter's lock.
void pass_on_messages();

}  // namespace tril::python
