import Glibc
import HostThreads
import TaskModel

/// The active overrides of conditions, kept in a file of the state directory until they are cleared.
///
/// The file has mode 0600 and is replaced atomically. Its first line names the format. Each further line is one override: the condition's
/// name, `held` or `none`, and the time of the decision in milliseconds since 1970.
final class ConditionOverrides: Sendable {
  private let path: String
  private let overrides: Guarded<[ConditionOverride]>

  private static let format = "taskhost condition overrides 1"
  /// Bytes; six overrides need less than 300.
  private static let limit = 4096

  /// Reads the file, which does not exist before the first override.
  ///
  /// - Parameter damaged: Called with a message if the file cannot be read or is damaged; nothing is overridden then.
  init(path: String, damaged: (String) -> Void) {
    self.path = path
    var found: [ConditionOverride] = []
    do throws(TextProblem) { found = try Self.read(path) } catch {
      damaged(
        "the overrides of conditions in \(path) are lost: the file \(error.message): the machine decides about all conditions; set again what is needed (taskhost conditions set), which replaces the file"
      )
    }
    overrides = Guarded(found)
  }

  /// In the order of ``TaskModel/Conditions/named``.
  var all: [ConditionOverride] { overrides.withLock { $0 } }

  /// Saves decisions. Blocks until they would survive a power cut.
  ///
  /// - Parameter apply: Called with all active overrides after they are saved and before another change begins.
  /// - Throws: If they could not be saved; nothing has changed then.
  func set(
    _ decisions: [(condition: Conditions, holds: Bool)], at now: WallTime, then apply: ([ConditionOverride]) -> Void = { _ in }
  ) throws(TextProblem) {
    try change(then: apply) { overrides in
      for (conditions, holds) in decisions {
        for (_, condition) in Conditions.named where conditions.contains(condition) {
          let known = overrides.first { $0.condition == condition }
          if known?.holds == holds { continue }
          overrides.removeAll { $0.condition == condition }
          overrides.append(ConditionOverride(condition: condition, holds: holds, since: now))
        }
      }
    }
  }

  /// Like ``set(_:at:then:)``, but removes overrides. Removing the last one needs no disk space.
  func clear(_ conditions: Conditions, then apply: ([ConditionOverride]) -> Void = { _ in }) throws(TextProblem) {
    try change(then: apply) { overrides in overrides.removeAll { conditions.contains($0.condition) } }
  }

  private func change(
    then apply: ([ConditionOverride]) -> Void, _ body: (inout [ConditionOverride]) -> Void
  ) throws(TextProblem) {
    let path = path
    // Holds the lock while writing: of two concurrent changes, the file would lose one.
    try overrides.withLock { (overrides: inout [ConditionOverride]) throws(TextProblem) in
      var changed = overrides
      body(&changed)
      changed.sort { $0.condition.rawValue < $1.condition.rawValue }
      if changed != overrides || changed.isEmpty { try Self.write(changed, to: path) }
      overrides = changed
      apply(changed)
    }
  }

  // MARK: The file

  private static func read(_ path: String) throws(TextProblem) -> [ConditionOverride] {
    let bytes: [UInt8]
    do throws(ErrorNumber) { bytes = try WholeTransfer.read(path, atMost: limit + 1, O_NOFOLLOW | O_NONBLOCK) } catch {
      if error.code == ENOENT { return [] }
      throw TextProblem("cannot be read: \(error)")
    }
    guard bytes.count <= limit, let text = String(validating: bytes, as: UTF8.self) else {
      throw TextProblem("is damaged: it is not a text of at most \(limit) bytes")
    }
    return try parse(text)
  }

  static func parse(_ text: String) throws(TextProblem) -> [ConditionOverride] {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.first.map(String.init) == format else { throw TextProblem("is damaged: its first line is not \"\(format)\"") }
    // If the final line end is missing, the end of the last line may be missing too.
    guard lines.popLast() == "" else { throw TextProblem("is damaged: its last line is not complete") }
    var overrides: [ConditionOverride] = []
    for (number, line) in lines.enumerated().dropFirst() {
      let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
      guard words.count == 3, let condition = Conditions(name: words[0]), ["held", "none"].contains(words[1]), let time = Int64(words[2]),
        !overrides.contains(where: { $0.condition == condition })
      else { throw TextProblem("is damaged: line \(number + 1) is not an override") }
      overrides.append(ConditionOverride(condition: condition, holds: words[1] == "held", since: WallTime(unixMilliseconds: time)))
    }
    return overrides.sorted { $0.condition.rawValue < $1.condition.rawValue }
  }

  private static func text(of overrides: [ConditionOverride]) -> String {
    var text = format + "\n"
    for override in overrides {
      text += "\(override.condition.names.joined()) \(override.holds ? "held" : "none") \(override.since.unixMilliseconds)\n"
    }
    return text
  }

  private static func write(_ overrides: [ConditionOverride], to path: String) throws(TextProblem) {
    do throws(WholeFile.Failure) {
      if overrides.isEmpty {
        guard unlink(path) == 0 || errno == ENOENT else {
          throw WholeFile.Failure(path: path, observed: "cannot be removed", reason: .last)
        }
      } else {
        let new = path + ".new"
        // A host that was killed at this point may have left it.
        unlink(new)
        try WholeFile.replace(Array(text(of: overrides).utf8), at: path, by: new, mode: 0o600)
      }
      try WholeFile.settle(path)
    } catch {
      throw TextProblem(error.description)
    }
  }
}

/// An operator's decision about one condition, which takes precedence over the machine.
struct ConditionOverride: Sendable, Hashable {
  /// Exactly one condition.
  let condition: Conditions
  let holds: Bool
  /// The time of the first such decision; repeating it changes nothing.
  let since: WallTime

  /// For the log and the status. It needs no action, because an operator wanted it.
  var problem: Problem {
    let name = condition.names.joined(separator: ", ")
    return Problem(
      .override, of: name, "the condition \(name) is overridden to \(holds ? "hold" : "not hold"), whatever the machine says",
      remedy: "taskhost conditions clear \(name)", since: since, needsAction: false)
  }
}
