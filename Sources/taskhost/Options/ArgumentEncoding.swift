/// The encoding of the command line. Swift mends arguments that are not UTF-8, and another name than the one that was typed would be used.
enum ArgumentEncoding {
  /// What is wrong with the arguments of this process; nil if all are UTF-8.
  static var problem: String? {
    for index in 1..<max(1, Int(CommandLine.argc)) {
      guard let argument = CommandLine.unsafeArgv[index], String(validatingCString: argument) == nil else { continue }
      return "argument \(index), '\(String(cString: argument))', is not UTF-8: write it in UTF-8, or rename the file that it names"
    }
    return nil
  }
}
