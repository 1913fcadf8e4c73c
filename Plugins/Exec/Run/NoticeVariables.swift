internal import StrictText

/// The variables that describe a notification to a command of `[[notify]]`.
enum NoticeVariables {
  /// The members of the payload that are variables too, by the variables' names.
  private static let members = [
    ("TASKHOST_EVENT", "event"), ("TASKHOST_IDENTIFIER", "identifier"), ("TASKHOST_TITLE", "title"), ("TASKHOST_TEXT", "text"),
    ("TASKHOST_RUN", "run"), ("TASKHOST_REQUEST", "request"), ("TASKHOST_OUTCOME", "outcome"), ("TASKHOST_RULE", "rule"),
    ("TASKHOST_HOST", "host"),
  ]

  /// Adds the variables. One that says nothing is removed: a notification of several incidents has no one identifier.
  static func add(to variables: inout [String: String], from payload: [UInt8]) {
    guard let notice = try? JSONReader.read(payload) else { return }
    for (name, member) in members {
      // A zero byte would end the text.
      variables[name] = notice[member]?.string.map { $0.filter { $0 != "\0" } }
    }
    variables["TASKHOST_COUNT"] = notice["count"]?.integer.map(String.init)
  }
}
