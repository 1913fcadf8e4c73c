@testable import TaskHost

/// The lines of the error that reading `text` gives; empty if there is none.
func problems(_ text: String) -> [String] {
  do throws(ConfigurationError) {
    _ = try HostConfiguration.parse(text, file: "taskhost.toml")
    return []
  } catch {
    return error.description.split(separator: "\n").map(String.init)
  }
}
