import ArgumentParser
import CPluginTemplates

/// The languages of `plugins new`.
enum PluginLanguage: String, CaseIterable, ExpressibleByArgument {
  case c, cpp, swift, rust

  var title: String {
    switch self {
    case .c: "C"
    case .cpp: "C++"
    case .swift: "Swift"
    case .rust: "Rust"
    }
  }

  /// The files of a new plugin, with placeholders `@KEY@`.
  ///
  /// - Parameter fromIOS: Of Swift, those of a plugin that is written as an app for iOS.
  func files(fromIOS: Bool) -> [(path: String, text: String)] {
    let name = fromIOS ? "\(rawValue)-ios" : rawValue
    var files: [(path: String, text: String)] = []
    var next = taskhost_templates()
    while let file = next?.pointee, let language = file.language, let path = file.path, let text = file.text {
      if String(cString: language) == name { files.append((String(cString: path), String(cString: text))) }
      next = next?.successor()
    }
    return files
  }

  /// The Swift version that built this program, which plugins should use too.
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
