import StrictText

/// The payload and settings for `plugins check`.
enum PluginsCheckInput {
  /// The bytes of `--payload`: the text itself, or the content of the file after `@`.
  static func payload(_ argument: String) throws -> [UInt8] {
    let bytes =
      argument.hasPrefix("@") ? try PayloadArgument.contents(of: String(argument.dropFirst()), "--payload @") : Array(argument.utf8)
    guard bytes.count <= 65_536 else {
      throw CommandFailure(.usage, "--payload", "has \(bytes.count) bytes", remedy: "a payload has at most 65,536")
    }
    return bytes
  }

  /// The text of `--settings`, a JSON object.
  static func settings(_ path: String) throws -> String {
    let bytes = try PayloadArgument.contents(of: path, "--settings ")
    let node: JSONNode
    do throws(JSONSyntaxError) { node = try JSONReader.read(bytes, limits: JSONLimits(depth: 120)) } catch {
      throw CommandFailure(.usage, "--settings \(path)", "is not JSON: \(error)")
    }
    guard case .object = node.value else {
      throw CommandFailure(.usage, "--settings \(path)", "is not a JSON object", remedy: "write it as configuration() gives it")
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
