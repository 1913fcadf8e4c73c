/// taskhost's own version.
enum Version {
  /// As `taskhost --version` prints it.
  static let text = "0.1.0"
}
