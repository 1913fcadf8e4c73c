/* What a confined process tries. An action answers 0, or the errno it got. */
#ifndef SANDBOX_ACTIONS_H
#define SANDBOX_ACTIONS_H

struct action {
    const char *name;
    int (*run)(const char *argument);
};

extern const struct action file_actions[], network_actions[], process_actions[];

/* 0 or errno, of a call that answers -1 on failure. */
int outcome(long result);

/* The part of `argument` before its n-th colon (from 0), in a buffer of its own for each n below 8. */
const char *part(const char *argument, int n);

/* The same as a number, in any base of C; 0 if there is none. */
long number(const char *argument, int n);

#endif
