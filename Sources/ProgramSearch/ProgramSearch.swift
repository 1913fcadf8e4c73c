import Glibc

/// Where the program of a command is: for the plugin that starts it, and for whoever checks a configuration before that.
public enum ProgramSearch {
  /// The folders that a command's programs are searched in, unless its environment has another `PATH`.
  public static let path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

  /// The file of a program: `name` itself if it has a slash, or the first executable file of that name in the folders of `path`.
  ///
  /// - Returns: nil if no folder has one.
  public static func file(of name: String, path: String = path) -> String? {
    if name.contains("/") { return name }
    return path.split(separator: ":", omittingEmptySubsequences: true).lazy.filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }
      .first { reachFlaw(of: $0) == nil }
  }

  /// Why the file at an absolute path cannot be started by this process's user, as a clause; nil if nothing is known against it.
  ///
  /// Also what the kernel finds in the file itself: a script without an interpreter, a program that was cut off. Reads some of it.
  public static func flaw(of file: String) -> String? { reachFlaw(of: file) ?? ProgramContent.flaw(of: file) }

  /// The program that starts a script, by its absolute path; nil for what is no script, or names it by a relative path.
  public static func interpreter(of file: String) -> String? { ProgramContent.interpreter(of: file) }

  /// Why the file cannot be started as far as is seen without a look into it: it is there, is a file, and may be executed.
  static func reachFlaw(of file: String) -> String? {
    var info = stat()
    guard stat(file, &info) == 0 else { return "\(String(cString: strerror(errno)))" }
    guard info.st_mode & S_IFMT == S_IFREG else { return "it is not a file" }
    return access(file, X_OK) == 0 ? nil : "it is not executable for this user: \(String(cString: strerror(errno)))"
  }
}
