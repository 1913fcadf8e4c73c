package import StrictText

/// A request's payload: the transfers of a batch, and what applies to all of them. The one reader of it: what it throws is refused when it is
/// submitted.
package struct TransferBatch: Decodable, Sendable, Equatable {
  /// One transfer, in one direction.
  package struct Item: Sendable, Equatable {
    package enum Direction: Sendable, Equatable {
      /// To this path; `sha256` of the content in hexadecimal, if it must have one.
      case download(to: String, sha256: String?)
      /// From this path, by this method.
      case upload(from: String, method: String)
    }

    package var url: String
    package var direction: Direction

    package init(url: String, direction: Direction) { (self.url, self.direction) = (url, direction) }

    /// Differs for transfers of other contents or files.
    ///
    /// - Source: FNV-1a of 64 bits. Who submits a transfer gains nothing from a collision.
    package var mark: String {
      let parts =
        switch direction {
        case .download(let path, let sha256): [url, "to", path, sha256 ?? ""]
        case .upload(let path, let method): [url, "from", path, method]
        }
      var hash: UInt64 = 0xcbf2_9ce4_8422_2325
      for part in parts {
        // No text contains the byte that ends it.
        for byte in Array(part.utf8) + [0xFF] { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
      }
      return String(hash, radix: 16)
    }

    /// Its file.
    package var path: String {
      switch direction {
      case .download(let path, _), .upload(let path, _): path
      }
    }
  }

  /// Never empty, except in a sweep.
  package var items: [Item] = []
  /// Whether it transfers nothing: its run removes what requests have left that ended without a run.
  package private(set) var isSweep = false
  package var headers: [Header] = []
  /// A file with an access token: a token file of the token-refresh plugin, or the token alone.
  package var bearerTokenFile: String?
  /// The identifier that gets the report as its payload when the batch has ended.
  package var notify: String?
  /// How many of its transfers proceed at once; nil leaves it to the settings.
  package var atOnce: Int?

  package struct Header: Sendable, Equatable {
    package let name: String
    package let value: String
  }

  /// The payload of a sweep, and the unique key of its request: one that waits is enough.
  package static let (sweep, sweepKey) = (Array(#"{"sweep":true}"#.utf8), "sweep")

  /// The longest name of a file or a folder. Source: NAME_MAX of Linux.
  private static let mostNameBytes = 255
  /// What one payload can hold.
  private static let mostItems = 10_000
  private static let itemKeys = ["url", "to", "from", "method", "sha256", "context"]
  private static let keys = itemKeys + ["items", "headers", "bearer_token_file", "notify", "at_once"]

  package init(from decoder: any Decoder) throws {
    try self.init(try JSONValue(from: decoder))
  }

  /// Reads the bytes of a payload.
  package init(payload: [UInt8]) throws(SettingsProblems) {
    let value: JSONValue
    do { value = try JSONValue(text: payload) } catch { throw SettingsProblems(["is not JSON: \(error)"]) }
    try self.init(value)
  }

  /// - Throws: All problems. A payload is one transfer, or has a list `items`.
  package init(_ value: JSONValue) throws(SettingsProblems) {
    if case .object(let members) = value, members.keys.contains("sweep") {
      guard members.count == 1, members["sweep"] == .bool(true) else {
        throw SettingsProblems(["sweep: is true, alone: a sweep transfers nothing"])
      }
      isSweep = true
      return
    }
    var table = SettingsTable(value, at: "", known: Self.keys)
    var problems: [String] = []
    if table.value("items") == nil {
      if let item = Self.item(&table) { items = [item] }
    } else {
      for key in Self.itemKeys where table.value(key) != nil { table.report(key, "belongs into an element of items") }
      let list = table.array("items")
      if list.isEmpty || list.count > Self.mostItems { table.report("items", "must have 1 to \(Self.mostItems) elements") }
      for (index, value) in list.prefix(Self.mostItems).enumerated() {
        var table = SettingsTable(value, at: "items[\(index)]", known: Self.itemKeys)
        if let item = Self.item(&table) { items.append(item) }
        problems += table.problems
      }
      // Several slashes in a row lead where one does.
      let targets = items.filter(\.isDownload).map { $0.path.split(separator: "/") }
      if Set(targets).count < targets.count { table.report("items", "two downloads have the same target") }
    }
    for (name, value) in table.texts("headers") {
      if !HeaderText.isName(name) { table.report("headers.\(name)", "is not a valid HTTP header name") }
      if !HeaderText.isValue(value) { table.report("headers.\(name)", "has control characters") }
      if ["range", "if-range", "host", "content-length", "transfer-encoding"].contains(name.lowercased()) {
        table.report("headers.\(name)", "is set by the transfer itself; leave it out")
      }
      headers.append(Header(name: name, value: value))
    }
    bearerTokenFile = Self.path(&table, "bearer_token_file")
    if bearerTokenFile != nil, let name = headers.first(where: { $0.name.lowercased() == "authorization" })?.name {
      table.report("headers.\(name)", "conflicts with bearer_token_file, which makes this header: leave one of them out")
    }
    notify = table.text("notify")
    atOnce = table.integer("at_once", in: 1...1000)
    problems = table.problems + problems
    if !problems.isEmpty { throw SettingsProblems(problems) }
  }

  private static func item(_ table: inout SettingsTable) -> Item? {
    let url = table.requiredText("url")
    do throws(TransferAddress.Flaw) { if let url { _ = try TransferAddress(url) } } catch { table.report("url", error.text) }
    _ = table.string("context")
    let (to, from) = (path(&table, "to"), path(&table, "from"))
    let sha256 = table.text("sha256")?.lowercased()
    if let sha256, sha256.utf8.count != 64 || Hex.bytes(sha256.utf8, count: 32) == nil {
      table.report("sha256", "must be 64 hexadecimal digits")
    }
    let method = table.text("method")
    switch (to, from) {
    case (nil, nil):
      if table.value("to") == nil, table.value("from") == nil {
        table.report(nil, "has neither \"to\", the path of a download, nor \"from\", that of an upload")
      }
      return nil
    case (_?, _?):
      table.report("from", "conflicts with to: a transfer has one direction")
      return nil
    case (let to?, nil):
      if method != nil { table.report("method", "is for uploads: a download is a GET") }
      return url.map { Item(url: $0, direction: .download(to: to, sha256: sha256)) }
    case (nil, let from?):
      if sha256 != nil { table.report("sha256", "is for downloads") }
      if let method, !["PUT", "POST", "PATCH"].contains(method) { table.report("method", "must be PUT, POST or PATCH") }
      return url.map { Item(url: $0, direction: .upload(from: from, method: method ?? "PUT")) }
    }
  }

  /// An absolute path of a file.
  private static func path(_ table: inout SettingsTable, _ key: String) -> String? {
    guard let path = table.text(key) else { return nil }
    guard path.hasPrefix("/"), !path.hasSuffix("/"), !path.utf8.contains(0), path.utf8.count < 4000 else {
      table.report(key, "must be the absolute path of a file")
      return nil
    }
    let names = path.parts(between: "/")
    if names.contains(where: { $0 == ".." || $0 == "." }) { table.report(key, "must have no . or .. in it") }
    if let long = names.map(\.utf8.count).max(), long > mostNameBytes {
      table.report(key, "has a name of \(long) bytes in it: file systems take at most \(mostNameBytes)")
    }
    return path
  }
}

extension TransferBatch.Item {
  package var isDownload: Bool { if case .download = direction { true } else { false } }
}
