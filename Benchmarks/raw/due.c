/*
 * due SAMPLES - the raw limit of starting on time: a timer thread and a thread that is handed the work.
 *
 * One at a time, a moment 200 to 400 ms ahead is chosen, a whole millisecond as requests have it. The timer thread sleeps until then and
 * wakes the waiting one, which prints how late it is, in nanoseconds, a line each.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int64_t due;      /* 0: none is asked for */
static int started;

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void *timer(void *context) {
  (void)context;
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  pthread_mutex_lock(&mutex);
  for (;;) {
    while (due == 0 || started) pthread_cond_wait(&changed, &mutex);
    const struct timespec at = {due / 1000000000, due % 1000000000};
    pthread_mutex_unlock(&mutex);
    clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &at, NULL);
    pthread_mutex_lock(&mutex);
    started = 1;
    pthread_cond_broadcast(&changed);
  }
  return NULL;
}

int main(int count, char **arguments) {
  const int samples = count == 2 ? atoi(arguments[1]) : 0;
  pthread_t thread;
  if (samples < 1 || pthread_create(&thread, NULL, timer, NULL) != 0) {
    fprintf(stderr, "usage: due SAMPLES\n");
    return 2;
  }
  srandom(1);
  pthread_mutex_lock(&mutex);
  for (int sample = 0; sample < samples; sample++) {
    started = 0;
    due = (now() / 1000000 + 200 + random() % 200) * 1000000;
    pthread_cond_broadcast(&changed);
    while (!started) pthread_cond_wait(&changed, &mutex);
    printf("%lld\n", (long long)(now() - due));
  }
  return 0;
}
