import ArgumentParser
import CPluginTemplates

/// What `plugins new` can begin a plugin in.
enum PluginLanguage: String, CaseIterable, ExpressibleByArgument {
  case c, cpp, swift, rust

  /// For people.
  var title: String {
    switch self {
    case .c: "C"
    case .cpp: "C++"
    case .swift: "Swift"
    case .rust: "Rust"
    }
  }

  /// What is written, with `@…@` to be filled in.
  var files: [(path: String, text: String)] {
    var files: [(path: String, text: String)] = []
    var next = taskhost_templates()
    while let file = next?.pointee, let language = file.language, let path = file.path, let text = file.text {
      if String(cString: language) == rawValue { files.append((String(cString: path), String(cString: text))) }
      next = next?.successor()
    }
    return files
  }

  /// The Swift that this program was built with: a plugin beside it will be, too.
  static let swiftVersion: String = {
    #if compiler(>=6.5)
      "6.5"
    #elseif compiler(>=6.4)
      "6.4"
    #else
      "6.3"
    #endif
  }()
}
