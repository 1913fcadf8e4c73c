#ifndef POWER_LOSS_H
#define POWER_LOSS_H

#include <stdint.h>

/* A VFS for SQLite that knows what a loss of power would leave behind.
 *
 * It becomes the default VFS of the process, passes every call to the one before, and keeps, for the files of watched directories, what
 * is certain to be on the disk: a file's content at its last sync, and the writes and truncations since, which may or may not have got
 * there. A file that was never synced is certain to be nowhere. Every function may be called from any thread. */

/* Registers the VFS as the default one; once a process, further calls do nothing. Returns SQLite's code, 0: registered. */
int power_loss_register(void);

/* Watches the files that are opened in `directory` (an absolute path without a final slash) from now on. Returns 0, or -1 if there is no
 * memory or no place left. */
int power_loss_watch(const char *directory);

/* Forgets what is known of the directory's files, which may still be open, and watches them no more. */
void power_loss_unwatch(const char *directory);

/* Power lost now: writes what is left of the files of `directory` into `target`, an existing directory.
 *
 * `torn`: of the writes since the last sync, every 512-byte sector arrives with that chance, in percent, drawn from `seed`; 0: none does.
 * Returns how many files were written; -1: `target` could not be written. */
int power_loss_strike(const char *directory, const char *target, uint64_t seed, int torn);

/* How often a file of `directory` was synced so far. */
int64_t power_loss_syncs(const char *directory);

#endif
