@testable import TaskHost

/// Feeds bytes to the scanner that finds where each key of the configuration stands, and to what reads its values' texts.
///
/// - Parameters:
///   - data: `size` bytes, borrowed for the call; NULL for none.
///   - size: How many.
@c(LLVMFuzzerTestOneInput) public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
  let text = String(decoding: UnsafeBufferPointer(start: data, count: data == nil ? 0 : size), as: UTF8.self)
  let positions = TOMLPositions(text)
  let lines = text.unicodeScalars.reduce(1) { $0 + ($1 == "\n" ? 1 : 0) }
  for position in positions.positions.values { precondition((1...lines).contains(position.line) && position.column >= 1) }
  if let fatal = positions.fatal { precondition((1...lines).contains(fatal.statementLine) && !fatal.message.isEmpty) }
  _ = try? DurationText.parse(text)
  _ = try? ByteCountText.parse(text)
  return 0
}
