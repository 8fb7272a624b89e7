/* What headers and static libraries of a newer glibc expect, for a wheel that is linked with the names of glibc 2.28
   (stub_glibc.sh). The names are hidden: nothing else in the process sees them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Since 2.32: nonzero while the process has one thread, which lets reference counts do without atomic operations. Python's
   programs may start threads at any time. */
char __libc_single_threaded = 0;

/* Since 2.36: a random number, which the C++ library's random_device asks for. */
uint32_t arc4random(void) {
  uint32_t number;
  while (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
    if (errno != EINTR) abort();
  return number;
}

/* Up to 2.33 these were compiled into each library, and called functions that take the version of the struct. */
#if defined(__x86_64__)
#define STAT_VERSION 1
#elif defined(__aarch64__)
#define STAT_VERSION 0
#endif
int __xstat(int version, const char* path, struct stat* result);
int __fxstat(int version, int file, struct stat* result);
int __lxstat(int version, const char* path, struct stat* result);

#undef stat64
#undef fstat64
int stat(const char* path, struct stat* result) {
  return __xstat(STAT_VERSION, path, result);
}
int fstat(int file, struct stat* result) {
  return __fxstat(STAT_VERSION, file, result);
}
int lstat(const char* path, struct stat* result) {
  return __lxstat(STAT_VERSION, path, result);
}
/* The same on 64-bit processors. */
int stat64(const char* path, struct stat64* result) {
  return __xstat(STAT_VERSION, path, (struct stat*)result);
}
int fstat64(int file, struct stat64* result) {
  return __fxstat(STAT_VERSION, file, (struct stat*)result);
}

/* Likewise: registered for this library, so that it is called when the library is unloaded. */
extern void* __dso_handle __attribute__((visibility("hidden")));
int __cxa_atexit(void (*function)(void*), void* argument, void* library);

static void call(void* function) {
  ((void (*)(void))function)();
}
int atexit(void (*function)(void)) {
  void* argument;
  memcpy(&argument, &function, sizeof argument);
  return __cxa_atexit(call, argument, &__dso_handle);
}

/* Since 2.30. Where the process has it, that one; else a wait by the clock of the condition variable, which is the time of day.
   A wait lasts a second at most, and then returns as if it was woken without a cause, which callers must expect anyway: so a
   change of the time of day delays it by no more than that. */
typedef int ClockWait(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*);

static int wait_by_time_of_day(pthread_cond_t* cond, pthread_mutex_t* mutex, clockid_t clock,
                               const struct timespec* until) {
  if (until->tv_nsec < 0 || until->tv_nsec >= 1000000000) return EINVAL;
  if (clock == CLOCK_REALTIME) return pthread_cond_timedwait(cond, mutex, until);
  struct timespec now;
  if (clock_gettime(clock, &now) != 0) return EINVAL;
  long long left = 1000000000; /* nanoseconds */
  if (until->tv_sec < now.tv_sec) {
    left = 0;
  } else if (until->tv_sec - now.tv_sec <= 1) {
    const long long exact = (until->tv_sec - now.tv_sec) * 1000000000LL + (until->tv_nsec - now.tv_nsec);
    if (exact <= 0)
      left = 0;
    else if (exact < left)
      left = exact;
  }
  struct timespec until_time_of_day;
  clock_gettime(CLOCK_REALTIME, &until_time_of_day);
  until_time_of_day.tv_nsec += left;
  if (until_time_of_day.tv_nsec >= 1000000000) {
    until_time_of_day.tv_nsec -= 1000000000;
    ++until_time_of_day.tv_sec;
  }
  const int status = pthread_cond_timedwait(cond, mutex, &until_time_of_day);
  if (status != ETIMEDOUT) return status;
  clock_gettime(clock, &now);
  const int passed = now.tv_sec > until->tv_sec || (now.tv_sec == until->tv_sec && now.tv_nsec >= until->tv_nsec);
  return passed ? ETIMEDOUT : 0;
}

int pthread_cond_clockwait(pthread_cond_t* cond, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* until) {
  static ClockWait* found = NULL; /* any thread writes the same value */
  ClockWait* wait = __atomic_load_n(&found, __ATOMIC_RELAXED);
  if (wait == NULL) {
    *(void**)&wait = dlsym(RTLD_DEFAULT, "pthread_cond_clockwait");
    if (wait == NULL) wait = wait_by_time_of_day;
    __atomic_store_n(&found, wait, __ATOMIC_RELAXED);
  }
  return wait(cond, mutex, clock, until);
}
