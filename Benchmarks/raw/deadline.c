/*
 * deadline THREADS SAMPLES - the raw limit of acting at a deadline: a thread that waits on its own condition variable.
 *
 * Each thread waits for 100 ms, again and again, on the monotonic clock with a timer slack of 1 ns; the lateness of each wait is printed
 * in nanoseconds, a line each.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

enum { most_threads = 64 };
static const int64_t budget = 100000000;
static int samples_each;
static int64_t *late;

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void *wait_for_deadlines(void *context) {
  int64_t *own = context;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition;
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&condition, &attributes);
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  pthread_mutex_lock(&mutex);
  for (int sample = 0; sample < samples_each; sample++) {
    const int64_t deadline = now() + budget;
    const struct timespec at = {deadline / 1000000000, deadline % 1000000000};
    while (pthread_cond_timedwait(&condition, &mutex, &at) == 0) {
    }
    own[sample] = now() - deadline;
  }
  pthread_mutex_unlock(&mutex);
  return NULL;
}

int main(int count, char **arguments) {
  const int threads = count == 3 ? atoi(arguments[1]) : 0;
  if (threads < 1 || threads > most_threads) {
    fprintf(stderr, "usage: deadline THREADS SAMPLES\n");
    return 2;
  }
  samples_each = atoi(arguments[2]) / threads;
  late = calloc((size_t)(threads * samples_each), sizeof *late);
  pthread_t made[most_threads];
  if (late == NULL) return 1;
  for (int index = 0; index < threads; index++) {
    if (pthread_create(&made[index], NULL, wait_for_deadlines, late + index * samples_each) != 0) return 1;
  }
  for (int index = 0; index < threads; index++) pthread_join(made[index], NULL);
  for (int index = 0; index < threads * samples_each; index++) printf("%lld\n", (long long)late[index]);
  return 0;
}
