import TaskModel

/// The order for a case process.
struct CaseOrder: Equatable {
  var tried: CheckCase
  /// The absolute path of the file to load.
  var file: String
  /// The absolute path of the plugin's data directory.
  var dataDirectory: String
  /// `taskhost_plugin_handler_limit`.
  var handlerLimit: Int
  /// The identifier of the handler to run; empty means the first handler.
  var identifier = ""
  /// See ``CheckOptions``.
  var settings: String
  var payload: [UInt8]
  var seed: UInt64
  /// Milliseconds.
  var budget: Int64
  /// Milliseconds; 0 means the kind's default.
  var grace: Int64
  /// The function that is the handler of a library that a manifest adopts; nil if the file is a plugin.
  var adoption: LibraryAdoption?

  func encode() -> [UInt8] {
    let texts = [tried.rawValue, file, dataDirectory, "\(handlerLimit)", identifier, settings, "\(seed)", "\(budget)", "\(grace)"]
    let adopted = adoption.map { adoption in
      [adoption.identifier.rawValue, adoption.kind.rawValue, adoption.symbol, adoption.typed.signature, adoption.typed.success.rawValue]
    }
    return Fields.encode(texts.map { Array($0.utf8) } + [payload] + (adopted ?? []).map { Array($0.utf8) })
  }
}

extension CaseOrder {
  /// nil if `encode()` did not produce `bytes`.
  init?(decoding bytes: [UInt8]) {
    var rest = bytes[...]
    guard let fields = Fields.take(from: &rest), fields.count == 10 || fields.count == 15 else { return nil }
    let texts = fields.map { String(decoding: $0, as: UTF8.self) }
    guard let tried = CheckCase(rawValue: texts[0]), let handlerLimit = Int(texts[3]), let seed = UInt64(texts[6]),
      let budget = Int64(texts[7]), let grace = Int64(texts[8])
    else { return nil }
    self.init(
      tried: tried, file: texts[1], dataDirectory: texts[2], handlerLimit: handlerLimit, identifier: texts[4], settings: texts[5],
      payload: fields[9], seed: seed, budget: budget, grace: grace)
    guard fields.count == 15 else { return }
    guard let identifier = try? TaskIdentifier(texts[10]), let kind = TaskKind(rawValue: texts[11]),
      let success = SuccessRule(rawValue: texts[14])
    else { return nil }
    adoption = LibraryAdoption(
      identifier: identifier, kind: kind, symbol: texts[12], typed: TypedContract(signature: texts[13], success: success))
  }
}
