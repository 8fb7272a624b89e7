/* Debian compiles ICU's static libraries for programs: they read the C library's variables of the time zone in a way that a shared
   library cannot. tril uses no times of ICU, so that these stand for them. Nothing else in the process sees them. */
#include <stddef.h>

long timezone_of_icu __asm__("__timezone") = 0;
char* tzname_of_icu[2] __asm__("tzname") = {NULL, NULL};
