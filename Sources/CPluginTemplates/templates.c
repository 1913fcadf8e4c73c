#include "plugin_templates.h"

#include <stddef.h>

// The files of Packaging/templates and taskhost.h, unchanged. A new file needs two entries here; a test compares the folders.

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char c_makefile[] = {
#embed "../../Packaging/templates/c/Makefile"
    , 0};
static const unsigned char c_readme_md[] = {
#embed "../../Packaging/templates/c/README.md"
    , 0};
static const unsigned char c_name_c[] = {
#embed "../../Packaging/templates/c/src/@NAME@.c"
    , 0};
static const unsigned char cpp_makefile[] = {
#embed "../../Packaging/templates/cpp/Makefile"
    , 0};
static const unsigned char cpp_readme_md[] = {
#embed "../../Packaging/templates/cpp/README.md"
    , 0};
static const unsigned char cpp_name_cpp[] = {
#embed "../../Packaging/templates/cpp/src/@NAME@.cpp"
    , 0};
static const unsigned char rust_makefile[] = {
#embed "../../Packaging/templates/rust/Makefile"
    , 0};
static const unsigned char rust_readme_md[] = {
#embed "../../Packaging/templates/rust/README.md"
    , 0};
static const unsigned char rust_lib_rs[] = {
#embed "../../Packaging/templates/rust/src/lib.rs"
    , 0};
static const unsigned char rust_taskhost_rs[] = {
#embed "../../Packaging/templates/rust/src/taskhost.rs"
    , 0};
static const unsigned char swift_makefile[] = {
#embed "../../Packaging/templates/swift/Makefile"
    , 0};
static const unsigned char swift_package_swift[] = {
#embed "../../Packaging/templates/swift/Package.swift"
    , 0};
static const unsigned char swift_readme_md[] = {
#embed "../../Packaging/templates/swift/README.md"
    , 0};
static const unsigned char swift_typenote_h[] = {
#embed "../../Packaging/templates/swift/Sources/@TYPE@Note/include/@TYPE@Note.h"
    , 0};
static const unsigned char swift_note_c[] = {
#embed "../../Packaging/templates/swift/Sources/@TYPE@Note/note.c"
    , 0};
static const unsigned char swift_typetask_swift[] = {
#embed "../../Packaging/templates/swift/Sources/@TYPE@Plugin/@TYPE@Task.swift"
    , 0};
static const unsigned char swift_ios_makefile[] = {
#embed "../../Packaging/templates/swift-ios/Makefile"
    , 0};
static const unsigned char swift_ios_package_swift[] = {
#embed "../../Packaging/templates/swift-ios/Package.swift"
    , 0};
static const unsigned char swift_ios_readme_md[] = {
#embed "../../Packaging/templates/swift-ios/README.md"
    , 0};
static const unsigned char swift_ios_typeapp_swift[] = {
#embed "../../Packaging/templates/swift-ios/Sources/@TYPE@App/@TYPE@App.swift"
    , 0};
static const unsigned char swift_ios_linux_swift[] = {
#embed "../../Packaging/templates/swift-ios/Sources/@TYPE@App/Linux.swift"
    , 0};
static const unsigned char header[] = {
#embed "../../SDK/CTaskHost/include/taskhost.h"
    , 0};

static const struct taskhost_template templates[] = {
    {"c", "Makefile", c_makefile},
    {"c", "README.md", c_readme_md},
    {"c", "src/@NAME@.c", c_name_c},
    {"c", "include/taskhost.h", header},
    {"cpp", "Makefile", cpp_makefile},
    {"cpp", "README.md", cpp_readme_md},
    {"cpp", "src/@NAME@.cpp", cpp_name_cpp},
    {"cpp", "include/taskhost.h", header},
    {"rust", "Makefile", rust_makefile},
    {"rust", "README.md", rust_readme_md},
    {"rust", "src/lib.rs", rust_lib_rs},
    {"rust", "src/taskhost.rs", rust_taskhost_rs},
    {"rust", "include/taskhost.h", header},
    {"swift", "Makefile", swift_makefile},
    {"swift", "Package.swift", swift_package_swift},
    {"swift", "README.md", swift_readme_md},
    {"swift", "Sources/@TYPE@Note/include/@TYPE@Note.h", swift_typenote_h},
    {"swift", "Sources/@TYPE@Note/note.c", swift_note_c},
    {"swift", "Sources/@TYPE@Plugin/@TYPE@Task.swift", swift_typetask_swift},
    {"swift-ios", "Makefile", swift_ios_makefile},
    {"swift-ios", "Package.swift", swift_ios_package_swift},
    {"swift-ios", "README.md", swift_ios_readme_md},
    {"swift-ios", "Sources/@TYPE@App/@TYPE@App.swift", swift_ios_typeapp_swift},
    {"swift-ios", "Sources/@TYPE@App/Linux.swift", swift_ios_linux_swift},
    {NULL, NULL, NULL},
};

const struct taskhost_template *taskhost_templates(void) { return templates; }
