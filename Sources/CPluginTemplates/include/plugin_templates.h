#ifndef TASKHOST_PLUGIN_TEMPLATES_H
#define TASKHOST_PLUGIN_TEMPLATES_H

/// A file that `taskhost plugins new` writes. `@…@` in its path and text are placeholders.
struct taskhost_template {
    /// The language's name on the command line: c, cpp, rust or swift; swift-ios for Swift as it is written for iOS.
    const char *language;
    /// The path, relative to the plugin's folder.
    const char *path;
    const unsigned char *text;
};

/// All templates, grouped by language. An entry without a language ends the list.
const struct taskhost_template *taskhost_templates(void);

#endif
