/* Tests what since_glibc_2_28.c does where the system's library lacks the function: make_wheel.sh runs it. */
#include "since_glibc_2_28.c"

#include <fcntl.h>
#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

static struct timespec in(clockid_t clock, double seconds) {
  struct timespec t;
  clock_gettime(clock, &t);
  const long long at = t.tv_sec * 1000000000LL + t.tv_nsec + (long long)(seconds * 1e9);
  return (struct timespec){.tv_sec = at / 1000000000, .tv_nsec = at % 1000000000};
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void* wake(void* unused) {
  (void)unused;
  const struct timespec pause = {.tv_nsec = 100000000};
  nanosleep(&pause, NULL);
  pthread_mutex_lock(&mutex);
  pthread_cond_signal(&cond);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

static int failures = 0;
#define EXPECT(what)                                           \
  if (!(what)) {                                               \
    fprintf(stderr, "line %d: not so: %s\n", __LINE__, #what); \
    failures = 1;                                              \
  }

int main(void) {
  pthread_mutex_lock(&mutex);
  for (int i = 0; i < 2; ++i) {
    const clockid_t clock = i == 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
    const double begin = now();
    struct timespec until = in(clock, 0.3);
    int status = 0;
    while (status == 0) status = wait_by_time_of_day(&cond, &mutex, clock, &until);
    EXPECT(status == ETIMEDOUT && now() - begin >= 0.299);
    until = in(clock, -5); /* has passed */
    EXPECT(wait_by_time_of_day(&cond, &mutex, clock, &until) == ETIMEDOUT);
    pthread_t thread;
    pthread_create(&thread, NULL, wake, NULL);
    until = in(clock, 60);
    const double asleep = now();
    EXPECT(wait_by_time_of_day(&cond, &mutex, clock, &until) == 0 && now() - asleep >= 0.09);
    pthread_join(thread, NULL);
    until.tv_nsec = -1;
    EXPECT(wait_by_time_of_day(&cond, &mutex, clock, &until) == EINVAL);
  }
  /* A wait by the other clock returns within about a second, so that a change of the time of day does not prolong it. */
  struct timespec until = in(CLOCK_MONOTONIC, 1e6);
  const double begin = now();
  EXPECT(wait_by_time_of_day(&cond, &mutex, CLOCK_MONOTONIC, &until) == 0 && now() - begin >= 0.9);
  pthread_mutex_unlock(&mutex);

  struct stat a, b;
  EXPECT(stat("/", &a) == 0 && S_ISDIR(a.st_mode) && lstat("/", &b) == 0 && a.st_ino == b.st_ino);
  EXPECT(stat("/no such file", &a) == -1 && errno == ENOENT);
  const int file = open("/", O_RDONLY);
  EXPECT(fstat(file, &b) == 0 && S_ISDIR(b.st_mode));
  uint32_t bits = 0;
  for (int i = 0; i < 100; ++i) bits |= arc4random();
  EXPECT(bits == UINT32_MAX);
  return failures;
}
