import CalendarTime
import NIOHTTP1
import StrictText
import TaskModel

/// A change that a client made: who, what, when, from where.
struct AuditEntry: Sendable {
  /// The most ids that an entry names; there may be more, which `count` counts.
  static let mostIDs = 50
  /// The most bytes of a target, which may quote what a client sent.
  private static let targetBytes = 400

  let time: WallTime
  /// The operation's name in the description of the API; `dashboard` for a form of it.
  let operation: String
  /// What it was about: an argument of the path, a filter, identifiers.
  let target: String?
  let status: UInt
  let principal: Principal
  /// The ids that were changed or made.
  let ids: [String]
  let count: Int?

  /// nil if nothing was changed.
  init?(of request: ControlRequest, _ response: ControlResponse, at time: WallTime) {
    guard case .success(let match) = request.route, response.status.code < 400 else { return nil }
    let argument: String?
    switch match {
    case .otherMethods: return nil
    case .route(let route, let named, _):
      guard route.isChange, !response.change.isDry else { return nil }
      (operation, argument) = (route.name, named)
    case .page:
      // A page that asks for confirmation, or shows what is wrong with a form, changes nothing.
      guard request.method == .POST, response.status == .seeOther || !response.change.ids.isEmpty else { return nil }
      (operation, argument) = ("dashboard", request.path)
    }
    let parts = [argument, response.change.target].compactMap(\.self)
    target = parts.isEmpty ? nil : Self.cut(parts.joined(separator: " "))
    (self.time, status, principal) = (time, response.status.code, request.principal)
    ids = Array(response.change.ids.prefix(Self.mostIDs))
    count = response.change.count ?? (response.change.ids.isEmpty ? nil : response.change.ids.count)
  }

  /// A reload that no client has asked for.
  init(reloaded changes: String, because reason: String, at time: WallTime) {
    (self.time, operation, target, status) = (time, Route.reloadName, Self.cut(changes), HTTPResponseStatus.ok.code)
    (principal, ids, count) = (.host(reason: reason), [], nil)
  }

  private static func cut(_ target: String) -> String { String(decoding: Array(target.utf8.prefix(targetBytes)), as: UTF8.self) }

  /// The line of the file. Number and time come first, so that a reader finds its place without reading whole lines.
  ///
  /// - Parameter name: Who it was, in words.
  func line(number: Int64, by name: String) -> [UInt8] {
    JSONWriter.object { writer in
      writer.member("number", number)
      writer.member("time_unix_ms", time.unixMilliseconds)
      writer.member("time", RFC3339.format(time))
      writer.member("operation", operation)
      writer.member("target", target)
      writer.member("status", status)
      writer.member("by", name)
      switch principal {
      case .local(let peer):
        writer.member("user_id", peer.map { Int64($0.user) })
        writer.member("process_id", peer.map { Int64($0.process) })
        writer.member("from", "socket")
      case .token(let token, let address):
        writer.member("token", token.id)
        writer.member("from", address)
      case .nobody(let address): writer.member("from", address)
      case .host: writer.member("from", "host")
      }
      if !ids.isEmpty { writer.member("ids", ids) }
      writer.member("count", count)
    } + [UInt8(ascii: "\n")]
  }
}

/// What a response says of the change that was made, for the audit.
struct AuditedChange: Sendable {
  /// The ids that were changed or made.
  var ids: [String] = []
  /// How many were changed; nil: as many as there are ids.
  var count: Int?
  /// What was selected or named.
  var target: String?
  /// Whether the request only asked what would be changed.
  var isDry = false
}

extension ControlResponse {
  /// The response with what the audit says of it.
  func about(_ ids: [String] = [], count: Int? = nil, of target: String? = nil, isDry: Bool = false) -> ControlResponse {
    var response = self
    response.change = AuditedChange(ids: ids, count: count, target: target, isDry: isDry)
    return response
  }
}
