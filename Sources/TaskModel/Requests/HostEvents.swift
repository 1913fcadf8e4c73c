/// Events that the host raises itself. Requests wait for them by name, as for those that clients raise.
public enum HostEvents {
  /// The host has launched.
  public static let launched = "host:launched"
  /// The host has launched for the first time since the machine booted.
  public static let booted = "host:booted"
  /// The machine woke up from sleep.
  public static let resumed = "host:resumed"
  /// The calendar was set.
  public static let clockSet = "host:clock-set"
  /// A user who was not logged in has logged in.
  public static let login = "host:login"
  private static let ofHost = [launched, booted, resumed, clockSet, login]
  private static let loginPrefix = login + ":"

  private static let conditionPrefix = "condition:"
  private static let taskPrefix = "task:"
  private static let failedSuffix = ":failed"

  /// A condition of the machine holds again, after it did not.
  public static func regained(_ condition: Conditions) -> String {
    conditionPrefix + (Conditions.named.first { $0.condition == condition }?.name ?? "")
  }

  /// The user has logged in, and was not logged in before.
  public static func login(of user: String) -> String { loginPrefix + user }

  /// Whether a name can be that of a user in an event.
  public static func isUser(_ name: String) -> Bool {
    !name.isEmpty && loginPrefix.utf8.count + name.utf8.count <= Limits.keyBytes
      && !name.unicodeScalars.contains { $0.value <= 0x20 || $0.value == 0x7F }
  }

  /// A run of the identifier has succeeded, with or without something to do.
  public static func succeeded(_ identifier: TaskIdentifier) -> String { taskPrefix + identifier.rawValue }

  /// A run of the identifier has failed for good.
  public static func failed(_ identifier: TaskIdentifier) -> String { taskPrefix + identifier.rawValue + failedSuffix }

  /// Whether a name is one that the host raises, or looks like one.
  public static func isRaised(_ name: String) -> Bool {
    ["host:", conditionPrefix, taskPrefix].contains { name.hasPrefix($0) }
  }

  /// The condition that an event is about; none for other events.
  public static func condition(of name: String) -> Conditions {
    guard name.hasPrefix(conditionPrefix) else { return [] }
    return Conditions(name: String(name.dropFirst(conditionPrefix.count))) ?? []
  }

  /// The identifier whose runs an event is about; nil for other events.
  public static func task(of name: String) -> TaskIdentifier? {
    guard name.hasPrefix(taskPrefix) else { return nil }
    let rest = name.dropFirst(taskPrefix.count)
    return try? TaskIdentifier(String(rest.hasSuffix(failedSuffix) ? rest.dropLast(failedSuffix.count) : rest))
  }

  /// What is wrong with a name that looks like one of these; nil if nothing is.
  static func flaw(of name: String) -> String? {
    guard isRaised(name) else { return nil }
    if name.hasPrefix(conditionPrefix) {
      guard condition(of: name).isEmpty else { return nil }
      let names = Conditions.named.map { conditionPrefix + $0.name }.joined(separator: ", ")
      return "there is no event \"\(name.escapingControlCharacters)\": the events of conditions are \(names)"
    }
    if name.hasPrefix(taskPrefix) {
      return task(of: name) == nil
        ? "\"\(name.escapingControlCharacters)\" names no identifier: write task:IDENTIFIER, or task:IDENTIFIER:failed" : nil
    }
    if name.hasPrefix(loginPrefix) {
      return isUser(String(name.dropFirst(loginPrefix.count)))
        ? nil : "\"\(name.escapingControlCharacters)\" names no user: write host:login:USER, or host:login for any"
    }
    return ofHost.contains(name)
      ? nil : "there is no event \"\(name.escapingControlCharacters)\": the host raises \(ofHost.joined(separator: ", "))"
  }

  /// The events of conditions that hold in a report and are known not to have held in the one before.
  public static func regained(from old: ConditionReport?, to new: ConditionReport) -> [String] {
    new.states.compactMap { state in
      guard state.holds, let before = old?[state.condition], !before.holds, before.isRead else { return nil }
      return regained(state.condition)
    }
  }
}
