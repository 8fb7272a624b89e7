/* What the shared library exports: the declarations that TRIL_API marks. For C and C++. */
#ifndef TRIL_EXPORT_H
#define TRIL_EXPORT_H

#if defined(__GNUC__)
#define TRIL_API __attribute__((visibility("default")))
#else
#define TRIL_API
#endif

#endif
