/* What the Swift SDK adds to the header for plugins: the data symbol that Swift cannot export, and what serves the main thread. */
#ifndef TASKHOST_PLUGIN_H
#define TASKHOST_PLUGIN_H

#include "taskhost.h"

#endif
