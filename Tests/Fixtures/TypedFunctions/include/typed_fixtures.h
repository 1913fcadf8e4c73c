/* C functions of every type that a signature knows, for the tests of calls through libffi. */
#ifndef TYPED_FIXTURES_H
#define TYPED_FIXTURES_H

typedef void (*typed_fixture_function)(void);

/* The function of that name; NULL: there is none. Any thread. */
typed_fixture_function typed_fixture(const char *name);

#endif
