#include "dashboard_files.h"

// The files of the folders templates and static, unchanged. A new file needs two entries here; a test compares the folders.

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char dashboard_css[] = {
#embed "static/dashboard.css"
};
static const unsigned char dashboard_js[] = {
#embed "static/dashboard.js"
};
static const unsigned char icon_svg[] = {
#embed "static/icon.svg"
};
static const unsigned char assertions_mustache[] = {
#embed "templates/assertions.mustache"
};
static const unsigned char audit_mustache[] = {
#embed "templates/audit.mustache"
};
static const unsigned char badge_mustache[] = {
#embed "templates/badge.mustache"
};
static const unsigned char bulk_mustache[] = {
#embed "templates/bulk.mustache"
};
static const unsigned char button_mustache[] = {
#embed "templates/button.mustache"
};
static const unsigned char conditions_mustache[] = {
#embed "templates/conditions.mustache"
};
static const unsigned char failure_mustache[] = {
#embed "templates/failure.mustache"
};
static const unsigned char forecast_mustache[] = {
#embed "templates/forecast.mustache"
};
static const unsigned char gap_mustache[] = {
#embed "templates/gap.mustache"
};
static const unsigned char lanes_mustache[] = {
#embed "templates/lanes.mustache"
};
static const unsigned char layout_mustache[] = {
#embed "templates/layout.mustache"
};
static const unsigned char live_runs_mustache[] = {
#embed "templates/live-runs.mustache"
};
static const unsigned char log_mustache[] = {
#embed "templates/log.mustache"
};
static const unsigned char overview_mustache[] = {
#embed "templates/overview.mustache"
};
static const unsigned char pager_mustache[] = {
#embed "templates/pager.mustache"
};
static const unsigned char pause_question_mustache[] = {
#embed "templates/pause-question.mustache"
};
static const unsigned char pauses_mustache[] = {
#embed "templates/pauses.mustache"
};
static const unsigned char plugins_mustache[] = {
#embed "templates/plugins.mustache"
};
static const unsigned char request_rows_mustache[] = {
#embed "templates/request-rows.mustache"
};
static const unsigned char request_mustache[] = {
#embed "templates/request.mustache"
};
static const unsigned char requests_mustache[] = {
#embed "templates/requests.mustache"
};
static const unsigned char run_rows_mustache[] = {
#embed "templates/run-rows.mustache"
};
static const unsigned char run_mustache[] = {
#embed "templates/run.mustache"
};
static const unsigned char runs_mustache[] = {
#embed "templates/runs.mustache"
};
static const unsigned char submit_mustache[] = {
#embed "templates/submit.mustache"
};
static const unsigned char task_mustache[] = {
#embed "templates/task.mustache"
};
static const unsigned char tasks_mustache[] = {
#embed "templates/tasks.mustache"
};
static const unsigned char time_mustache[] = {
#embed "templates/time.mustache"
};
static const unsigned char transfers_mustache[] = {
#embed "templates/transfers.mustache"
};

#define ENTRY(name, bytes) {name, bytes, sizeof bytes}

static const struct dashboard_file files[] = {
    ENTRY("dashboard.css", dashboard_css),
    ENTRY("dashboard.js", dashboard_js),
    ENTRY("icon.svg", icon_svg),
    ENTRY("assertions.mustache", assertions_mustache),
    ENTRY("audit.mustache", audit_mustache),
    ENTRY("badge.mustache", badge_mustache),
    ENTRY("bulk.mustache", bulk_mustache),
    ENTRY("button.mustache", button_mustache),
    ENTRY("conditions.mustache", conditions_mustache),
    ENTRY("failure.mustache", failure_mustache),
    ENTRY("forecast.mustache", forecast_mustache),
    ENTRY("gap.mustache", gap_mustache),
    ENTRY("lanes.mustache", lanes_mustache),
    ENTRY("layout.mustache", layout_mustache),
    ENTRY("live-runs.mustache", live_runs_mustache),
    ENTRY("log.mustache", log_mustache),
    ENTRY("overview.mustache", overview_mustache),
    ENTRY("pager.mustache", pager_mustache),
    ENTRY("pause-question.mustache", pause_question_mustache),
    ENTRY("pauses.mustache", pauses_mustache),
    ENTRY("plugins.mustache", plugins_mustache),
    ENTRY("request-rows.mustache", request_rows_mustache),
    ENTRY("request.mustache", request_mustache),
    ENTRY("requests.mustache", requests_mustache),
    ENTRY("run-rows.mustache", run_rows_mustache),
    ENTRY("run.mustache", run_mustache),
    ENTRY("runs.mustache", runs_mustache),
    ENTRY("submit.mustache", submit_mustache),
    ENTRY("task.mustache", task_mustache),
    ENTRY("tasks.mustache", tasks_mustache),
    ENTRY("time.mustache", time_mustache),
    ENTRY("transfers.mustache", transfers_mustache),
    {NULL, NULL, 0},
};

const struct dashboard_file *dashboard_files(void) { return files; }
