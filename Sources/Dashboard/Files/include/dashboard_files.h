#ifndef TASKHOST_DASHBOARD_FILES_H
#define TASKHOST_DASHBOARD_FILES_H

#include <stddef.h>

/// A file of the dashboard: a template, or a file that browsers load.
struct dashboard_file {
    /// `overview.mustache`, `dashboard.css`.
    const char *name;
    const unsigned char *bytes;
    size_t count;
};

/// All files. An entry without a name ends the list.
const struct dashboard_file *dashboard_files(void);

#endif
