#!/bin/sh
# Writes the templates and taskhost.h into Sources/taskhost/Commands/PluginsNewFiles.swift, which `taskhost plugins new` carries.
# With --check it writes nothing and exits 1 when that file is not what it would write.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
target=$root/Sources/taskhost/Commands/PluginsNewFiles.swift

file() { # path in the plugin's folder, path here
  printf '    ("%s", #"""\n' "$1"
  # Blank lines stay empty; others are indented as the closing quotes are.
  sed -e 's/^\(.\)/      \1/' "$2"
  printf '      """#),\n'
}

language() {
  printf '  /// In %s.\n  static let %s: [(path: String, text: String)] = [\n' "$2" "$1"
  (cd "$here/$1" && find . -type f | LC_ALL=C sort) | while read -r path; do file "${path#./}" "$here/$1/$path"; done
  [ "$1" = swift ] || printf '    ("include/taskhost.h", header),\n'
  printf '  ]\n\n'
}

write() {
  printf '// Made by Packaging/templates/embed.sh from the files there and from taskhost.h: change those.\n// swift-format-ignore-file\n\n'
  printf '/// The files that `taskhost plugins new` writes. @…@ is filled in.\n'
  printf 'enum PluginsNewFiles {\n'
  language c C; language cpp C++; language rust Rust; language swift Swift
  printf '  /// taskhost.h\n  static let header = #"""\n'
  sed -e 's/^\(.\)/    \1/' "$root/SDK/CTaskHost/include/taskhost.h"
  printf '    """#\n}\n'
}

if [ "${1:-}" = --check ]; then
  write | cmp - "$target"
else
  write > "$target.new" && mv "$target.new" "$target"
fi
