/* The version of these headers. For C and C++. CMakeLists.txt and the packages read both numbers here. */
#ifndef TRIL_VERSION_H
#define TRIL_VERSION_H

#define TRIL_VERSION_MAJOR 0
#define TRIL_VERSION_MINOR 1
#define TRIL_VERSION_PATCH 0
#define TRIL_VERSION "0.1.0"

/* The number in the name of the shared library, libtril.so.0. It grows when programs must be compiled again. */
#define TRIL_ABI_VERSION 0

#endif
