/*
 * Serves the plugin's main queue and main run loop on the process's main thread. A plugin that carries its own Foundation and libdispatch
 * (-static-stdlib) keeps their functions to itself: only code that is linked into it finds the right ones.
 */
#include "taskhost_plugin.h"

/* Without Foundation, or without libdispatch, in the plugin these are NULL. */
extern void CFRunLoopRun(void) __attribute__((weak));
extern const void *CFRunLoopGetMain(void) __attribute__((weak));
extern const void *CFRunLoopGetCurrent(void) __attribute__((weak));
extern void dispatch_main(void) __attribute__((weak));

TASKHOST_EXPORT void taskhost_plugin_serve_main_thread(void) {
  /* On any other thread its own run loop would be run, which is empty. The main one runs until somebody stops it. */
  if (CFRunLoopRun && CFRunLoopGetMain && CFRunLoopGetCurrent)
    while (CFRunLoopGetMain() == CFRunLoopGetCurrent()) CFRunLoopRun();
  if (dispatch_main) dispatch_main();
}
