import PluginTrust
import StrictText
import TaskModel

/// An operator's decision that a plugin may do certain things.
struct Approval: Sendable, Hashable {
  /// The plugin's first identifier.
  let identifier: TaskIdentifier
  let permissions: PluginPermissions
  let time: WallTime
  /// Who decided, in words for people.
  let by: String
  /// Whether the decision is that the plugin may do nothing any more: then ``permissions`` is what had been approved.
  var isRevoked = false
}

/// What is wrong with a record of approvals, as a clause.
struct ApprovalFlaw: Error {
  let clause: String

  init(_ clause: String) { self.clause = clause }
}

extension PluginPermissions {
  /// Names exactly these permissions.
  var fingerprint: String { Hex.text(SHA256.digest(of: JSONWriter.object { write(to: &$0) })) }

  fileprivate enum Member: String, CaseIterable {
    case identifiers, thread, read, write, network, ports, exec
    case memory = "memory_bytes"
    case processes, descriptors
    case processorQuota = "cpu_quota_percent"
    case processorShare = "cpu_share"
    case environment
    case maySubmit = "may_submit"
    case mayNotify = "may_notify"
    case mayTransfer = "may_transfer"
    case mayWake = "may_wake"
  }

  fileprivate func write(to writer: inout JSONWriter) {
    func list(_ member: Member, _ texts: [String]) { writer.member(member.rawValue, texts) }
    func truth(_ member: Member, _ truth: Bool) { writer.member(member.rawValue, truth) }
    list(.identifiers, identifiers.map(\.rawValue))
    truth(.thread, isOfHost)
    list(.read, read.sorted())
    list(.write, write.sorted())
    writer.member(Member.network, network.name)
    if case .ports(let ports) = network { list(.ports, ports.sorted().map(String.init)) }
    truth(.exec, exec)
    writer.member(Member.memory, memory)
    writer.member(Member.processes, processes)
    writer.member(Member.descriptors, descriptors)
    // 0 without a limit.
    writer.member(Member.processorQuota, processorQuota ?? 0)
    writer.member(Member.processorShare, processorShare)
    list(.environment, environment.sorted())
    list(.maySubmit, maySubmit.map(\.text).sorted())
    list(.mayNotify, mayNotify.map(\.text).sorted())
    truth(.mayTransfer, mayTransfer)
    truth(.mayWake, mayWake)
  }

  fileprivate init(reading node: JSONNode) throws(ApprovalFlaw) {
    func text(_ member: Member) throws(ApprovalFlaw) -> String {
      guard let text = node[member.rawValue]?.string else { throw ApprovalFlaw("\(member.rawValue): a text is expected") }
      return text
    }
    func truth(_ member: Member) throws(ApprovalFlaw) -> Bool {
      guard let truth = node[member.rawValue]?.bool else { throw ApprovalFlaw("\(member.rawValue): true or false is expected") }
      return truth
    }
    func count(_ member: Member) throws(ApprovalFlaw) -> Int64 {
      guard let count = node[member.rawValue]?.integer, count >= 0 else { throw ApprovalFlaw("\(member.rawValue): a number is expected") }
      return count
    }
    func list<Element>(_ member: Member, _ make: (String) -> Element?) throws(ApprovalFlaw) -> [Element] {
      guard let nodes = node[member.rawValue]?.array else { throw ApprovalFlaw("\(member.rawValue): a list is expected") }
      let elements = nodes.compactMap { $0.string.flatMap(make) }
      guard elements.count == nodes.count else { throw ApprovalFlaw("\(member.rawValue): an element is not valid") }
      return elements
    }
    identifiers = try list(.identifiers) { try? TaskIdentifier($0) }
    isOfHost = try truth(.thread)
    (read, write) = (try list(.read, \.self), try list(.write, \.self))
    switch try text(.network) {
    case Network.none.name: network = .none
    case Network.everything.name: network = .everything
    case Network.ports([]).name: network = .ports(try list(.ports) { Int($0) })
    default: throw ApprovalFlaw("network: the value is unknown")
    }
    exec = try truth(.exec)
    (memory, processes, descriptors) = (try count(.memory), try count(.processes), try count(.descriptors))
    let quota = try count(.processorQuota)
    processorQuota = quota == 0 ? nil : quota
    processorShare = try count(.processorShare)
    environment = try list(.environment, \.self)
    maySubmit = try list(.maySubmit) { try? IdentifierPattern($0) }
    mayNotify = try list(.mayNotify) { try? EventPattern($0) }
    (mayTransfer, mayWake) = (try truth(.mayTransfer), try truth(.mayWake))
  }
}

extension PluginPermissions.Network {
  /// In the file of approvals.
  fileprivate var name: String {
    switch self {
    case .none: "none"
    case .ports: "ports"
    case .everything: "connect"
    }
  }
}

extension Approval {
  private static let revoked = "revoked"
  private static let ownMembers = ["plugin", "approved_unix_ms", "by", revoked]

  func write(to writer: inout JSONWriter) {
    writer.member("plugin", identifier.rawValue)
    writer.member("approved_unix_ms", time.unixMilliseconds)
    writer.member("by", by)
    // Only if it is so: an earlier taskhost refuses a file with a member that it does not know.
    if isRevoked { writer.member(Self.revoked, true) }
    permissions.write(to: &writer)
  }

  init(reading node: JSONNode) throws(ApprovalFlaw) {
    guard case .object(let members) = node.value else { throw ApprovalFlaw("an object is expected") }
    let known = Self.ownMembers + PluginPermissions.Member.allCases.map(\.rawValue)
    // What this version does not know could be a restriction.
    if let other = members.first(where: { !known.contains($0.name) }) {
      throw ApprovalFlaw("there is no member \"\(other.name.prefix(40).description.escapingControlCharacters)\"")
    }
    guard Set(members.map(\.name)).count == members.count else { throw ApprovalFlaw("a member is there twice") }
    guard let identifier = node["plugin"]?.string.flatMap({ try? TaskIdentifier($0) }) else {
      throw ApprovalFlaw("plugin: an identifier is expected")
    }
    guard let time = node["approved_unix_ms"]?.integer else { throw ApprovalFlaw("approved_unix_ms: a number is expected") }
    guard let by = node["by"]?.string else { throw ApprovalFlaw("by: a text is expected") }
    self.init(identifier: identifier, permissions: try PluginPermissions(reading: node), time: WallTime(unixMilliseconds: time), by: by)
    if let revoked = node[Self.revoked] {
      guard let truth = revoked.bool else { throw ApprovalFlaw("\(Self.revoked): true or false is expected") }
      isRevoked = truth
    }
  }
}
