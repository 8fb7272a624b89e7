// The namespace of the public interface: tril::v0, which programs see as tril. Its number is part of each symbol's name, so that
// a program and a library that do not fit each other fail when they are linked.
//
// Sources that use tril's internals (lab.h) know other types by some of these names, and write tril::v0::Tokenizer.
#pragma once

#ifdef TRIL_INTERNALS
#define TRIL_NAMESPACE_BEGIN namespace tril::v0 {
#define TRIL_NAMESPACE_END }
#else
#define TRIL_NAMESPACE_BEGIN \
  namespace tril {           \
  inline namespace v0 {
#define TRIL_NAMESPACE_END \
  }                        \
  }
#endif
