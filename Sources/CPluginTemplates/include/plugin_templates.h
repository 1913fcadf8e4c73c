#ifndef TASKHOST_PLUGIN_TEMPLATES_H
#define TASKHOST_PLUGIN_TEMPLATES_H

/// A file that `taskhost plugins new` writes. `@…@` in its path and text is to be filled in.
struct taskhost_template {
    /// As the command line names it: c, cpp, rust, swift.
    const char *language;
    /// In the plugin's folder.
    const char *path;
    const unsigned char *text;
};

/// All of them, each language's in a row; behind the last one is one without a language.
const struct taskhost_template *taskhost_templates(void);

#endif
