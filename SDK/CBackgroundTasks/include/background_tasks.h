/* What the module BackgroundTasks adds for plugins: the data symbol that Swift cannot export. */
#ifndef BACKGROUND_TASKS_H
#define BACKGROUND_TASKS_H

#include "taskhost.h"

#endif
