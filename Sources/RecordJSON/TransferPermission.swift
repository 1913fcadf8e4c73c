import StrictText
public import TaskModel
import TransferOrders

/// What one plugin may have transferred, and how its order becomes a request of the plugin that carries transfers out.
///
/// That plugin's worker has entitlements of its own, and does what it is told. So a plugin names no paths: its files are in a folder of its
/// own, which only it and that worker can reach. Their names are single components, which the worker opens without following links.
public struct TransferPermission: Sendable {
  /// The identifier whose operator allows transfers. Completions launch its handler.
  public var identifier: TaskIdentifier
  /// All identifiers of the plugin whose operator allows transfers.
  public var completions: [TaskIdentifier]
  /// The plugin's folder for transfers, an absolute path.
  public var folder: String
  /// The connections that the plugin may make itself.
  public var network: Confinement.Network
  /// Whether the plugin may read a file, an absolute path, that it cannot replace.
  public var mayReadToken: @Sendable (String) -> Bool

  /// Creates a permission.
  public init(
    identifier: TaskIdentifier, completions: [TaskIdentifier], folder: String, network: Confinement.Network,
    mayReadToken: @escaping @Sendable (String) -> Bool
  ) {
    self.identifier = identifier
    self.completions = completions
    self.folder = folder
    self.network = network
    self.mayReadToken = mayReadToken
  }

  /// The longest name of a file in the folder.
  public static let nameBytes = 100
  private static let itemMembers = ["url", "to", "from", "method", "sha256", "context"]
  private static let members = itemMembers + ["items", "headers", "bearer_token_file", "notify", "at_once"]

  /// The tag by which a plugin's transfers are found.
  public static func tag(of identifier: TaskIdentifier) -> String { TaskRequest.ownerTag + identifier.rawValue }

  /// Whether a request is a transfer of a plugin.
  ///
  /// - Parameter own: The plugin's identifiers.
  public static func owns(_ record: RequestRecord, _ own: [TaskIdentifier]) -> Bool {
    guard record.request.identifier == .transfers, let owner = record.request.owner else { return false }
    return own.contains(owner) && record.request.tags.contains(tag(of: owner))
  }

  /// The request that carries out a plugin's order: with its files in the plugin's folder, and marked as the plugin's.
  ///
  /// - Throws: `notPermitted`, `invalid`, `tooBig`.
  public func order(_ request: TaskRequest) throws(CallFailure) -> TaskRequest {
    guard request.identifier == .transfers else {
      throw CallFailure(.invalid, "a transfer is a request of \(TaskIdentifier.transfers), not of \(request.identifier)")
    }
    // Their outputs and payloads would become a part of the payload, unchecked.
    guard request.after.isEmpty, request.event == nil, request.repetition?.schedule != .event, request.onConflict != .append else {
      throw CallFailure(.invalid, "a plugin's transfer waits for no other request and no event: submit it when those have come")
    }
    do throws(RequestRefusal) { try request.check() } catch { throw CallFailure(error) }
    guard network != .none else {
      throw CallFailure(.notPermitted, "\(identifier) may not connect to anything: set network in its entitlements")
    }
    var order = request
    order.payload = try payload(request.payload)
    order.owner = identifier
    order.tags.append(Self.tag(of: identifier))
    // Keys are within the identifier, which all plugins share here.
    order.uniqueKey = request.uniqueKey.map { identifier.scoped($0) }
    do throws(RequestRefusal) { try order.check() } catch { throw CallFailure(error) }
    return order
  }

  // MARK: The payload

  private func payload(_ bytes: [UInt8]) throws(CallFailure) -> [UInt8] {
    let node: JSONNode
    do { node = try JSONReader.read(bytes) } catch { throw CallFailure(.invalid, "payload: it is not JSON: \(error)") }
    guard case .object(let members) = node.value else { throw CallFailure(.invalid, "payload: an object is expected, not \(node.kind)") }
    var writer = JSONWriter(reservingCapacity: bytes.count * 2)
    writer.beginObject()
    for member in members {
      guard Self.members.contains(member.name) else { throw Self.unknown(member.name, among: Self.members) }
      guard member.name == "items" else {
        try write(member, of: bytes, &writer)
        continue
      }
      guard let items = member.node.array else { throw CallFailure(.invalid, "items: a list is expected, not \(member.node.kind)") }
      writer.name(member.name)
      writer.beginArray()
      for item in items { try write(item, of: bytes, &writer) }
      writer.endArray()
    }
    writer.endObject()
    return writer.bytes
  }

  /// An element of `items`.
  private func write(_ item: JSONNode, of bytes: [UInt8], _ writer: inout JSONWriter) throws(CallFailure) {
    guard case .object(let members) = item.value else { throw CallFailure(.invalid, "items: an object is expected, not \(item.kind)") }
    writer.beginObject()
    for member in members {
      guard Self.itemMembers.contains(member.name) else { throw Self.unknown(member.name, among: Self.itemMembers) }
      try write(member, of: bytes, &writer)
    }
    writer.endObject()
  }

  private func write(_ member: JSONMember, of bytes: [UInt8], _ writer: inout JSONWriter) throws(CallFailure) {
    func text() throws(CallFailure) -> String {
      guard let text = member.node.string else {
        throw CallFailure(.invalid, "\(member.name): a string is expected, not \(member.node.kind)")
      }
      return text
    }
    switch member.name {
    case "to", "from": writer.member(member.name, folder + "/" + (try name(try text(), member.name)))
    case "url":
      let url = try text()
      try check(url)
      writer.member("url", url)
    case "notify" where member.node.bool == true: writer.member("notify", identifier.rawValue)
    case "notify":
      let target = try text()
      guard completions.contains(where: { $0.rawValue == target }) else {
        let named = completions.map(\.rawValue).joined(separator: " or ")
        throw CallFailure(.notPermitted, "notify: a plugin's transfer launches its own handler: name \(named)")
      }
      writer.member("notify", target)
    case "bearer_token_file":
      let path = try text()
      guard mayReadToken(path) else {
        throw CallFailure(
          .notPermitted,
          "bearer_token_file: \(path.prefix(300).description.escapingControlCharacters) is not below a path that \(identifier) may read "
            + "and not write: add it to entitlements.read, or send the token in headers")
      }
      writer.member("bearer_token_file", path)
    default:
      writer.name(member.name)
      writer.raw(bytes[member.node.range])
    }
  }

  private func name(_ name: String, _ member: String) throws(CallFailure) -> String {
    let bytes = name.utf8
    guard !bytes.isEmpty, bytes.count <= Self.nameBytes, bytes.first != UInt8(ascii: "."), !bytes.contains(UInt8(ascii: "/")),
      !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F })
    else {
      throw CallFailure(
        .invalid,
        "\(member): \"\(name.prefix(200).description.escapingControlCharacters)\" is not the name of a file in the plugin's folder for "
          + "transfers: 1 to \(Self.nameBytes) bytes without a slash, and no dot at its beginning")
    }
    return name
  }

  /// The plugin's own entitlement has to cover the address. (A server may redirect to another port.)
  private func check(_ url: String) throws(CallFailure) {
    guard case .ports(let ports) = network else { return }
    let address: TransferAddress
    do throws(TransferAddress.Flaw) { address = try TransferAddress(url) } catch { throw CallFailure(.invalid, "url: \(error.text)") }
    guard ports.contains(address.port) else {
      throw CallFailure(
        .notPermitted,
        "url: \(url.prefix(300).description.escapingControlCharacters) is at no port of the entitlement network of \(identifier)")
    }
  }

  private static func unknown(_ name: String, among known: [String]) -> CallFailure {
    CallFailure(
      .invalid,
      "payload: there is no member \(name.prefix(80).description.escapingControlCharacters)\(NearestName.hint(for: name, among: known))")
  }
}
