import TaskHost
import TaskHostClient
import TaskModel

/// Whether the receivers of notifications, pings and traces can be reached. Asks nothing of them.
struct ReceiverReview {
  /// How long one may take.
  private static let patience = Duration.seconds(5)
  /// How many are tried at a time.
  private static let atOnce = 16

  private let receivers: [(origin: String, subjects: [String])]

  init(_ configuration: HostConfiguration) {
    var subjects: [String: [String]] = [:]
    for receiver in configuration.receivers { subjects[Reachability.origin(of: receiver.url), default: []].append(receiver.subject) }
    receivers = subjects.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  func findings() async -> [Finding] {
    var findings: [Finding] = []
    var rest = receivers[...]
    while !rest.isEmpty {
      let part = rest.prefix(Self.atOnce)
      rest = rest.dropFirst(Self.atOnce)
      findings += await withTaskGroup(of: Finding.self) { group in
        for (origin, subjects) in part { group.addTask { await Self.finding(origin, subjects) } }
        return await group.reduce(into: []) { $0.append($1) }
      }
    }
    return findings.sorted { ($0.subject ?? "") < ($1.subject ?? "") }
  }

  private static func finding(_ origin: String, _ subjects: [String]) async -> Finding {
    let names = subjects.prefix(5).joined(separator: ", ") + (subjects.count > 5 ? " and \(subjects.count - 5) more" : "")
    do {
      guard let flaw = try await ControlCaller.onThread("receiver", { Reachability.flaw(of: origin, timeout: patience) }) else {
        return Finding(.receivers, .ok, of: origin, "\(origin) can be reached")
      }
      return Finding(
        .receivers, .failure, of: origin, "\(origin) cannot be reached: \(flaw)", why: "what \(names) would tell does not arrive",
        remedy: "check the address, the network, a firewall and the certificate there")
    } catch {
      return Finding(.receivers, .warning, of: origin, "\(origin) was not tried: \(error)")
    }
  }
}
