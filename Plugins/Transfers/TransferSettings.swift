import StrictText

/// The plugin's settings: limits for all transfers.
struct TransferSettings: Decodable, Sendable, Equatable {
  /// How many transfers of a batch proceed at once.
  var atOnce = 6
  /// Bytes a second for a batch; nil sets no limit.
  var bytesPerSecond: Int64?
  /// A PEM file of authorities that are trusted besides the system's.
  var authorityFile: String?
  /// How long a transfer may stand still.
  var stallTimeout: Duration = .seconds(60)

  private static let keys = ["at_once", "bytes_per_second", "ca_file", "stall_timeout_s"]

  /// - Throws: ``SettingsProblems`` naming everything that is wrong at once.
  init(from decoder: any Decoder) throws {
    try self.init(try JSONValue(from: decoder))
  }

  init(_ value: JSONValue) throws(SettingsProblems) {
    var table = SettingsTable(value, at: "", known: Self.keys)
    atOnce = table.integer("at_once", in: 1...1000) ?? atOnce
    bytesPerSecond = table.integer("bytes_per_second", in: 1...(1 << 40)).map { Int64($0) }
    authorityFile = table.text("ca_file")
    if let authorityFile, !authorityFile.hasPrefix("/") { table.report("ca_file", "must be an absolute path") }
    if let seconds = table.integer("stall_timeout_s", in: 1...86_400) { stallTimeout = .seconds(seconds) }
    if !table.problems.isEmpty { throw SettingsProblems(table.problems) }
  }
}
