/* busy - keeps one core busy, in user space, until it is ended or whoever started it is gone. */
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>

int main(void) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  volatile uint64_t turns = 0;
  for (;;) turns = turns + 1;
}
