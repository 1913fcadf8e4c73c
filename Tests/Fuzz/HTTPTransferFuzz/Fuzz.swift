@testable import HTTPTransfer

/// Feeds bytes, as the head of an answer, to what reads it, and each value to what reads numbers, ranges and times.
///
/// - Parameters:
///   - data: `size` bytes, borrowed for the call; NULL for none.
///   - size: How many.
@c(LLVMFuzzerTestOneInput) public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
  let bytes = UnsafeBufferPointer(start: data, count: data == nil ? 0 : size)
  var reader = HeadReader(limit: 4096, url: "http://localhost/")
  // libcurl gives one line after the other; the first decides which answer is the last.
  for (number, line) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
    guard reader.take(line, status: number % 3 == 0 ? 104 : 206) else { break }
    if let interim = reader.takeInterim() { read(interim) }
  }
  if let head = reader.head { read(head) }
  return 0
}

private func read(_ head: TransferHead) {
  _ = head.bodySize
  _ = head.contentRange
  if let wait = head.retryAfter { precondition(wait >= .zero && wait <= RetryAfter.longest) }
  for (_, value) in head.headers {
    if let number = HeaderNumber.read(value) { precondition(number >= 0) }
    switch ContentRange(value) {
    case .part(let first, let last, let total):
      precondition(first >= 0 && first <= last && last < .max && last < total ?? .max)
    case .unsatisfied(let total): precondition(total >= 0)
    case nil: break
    }
    if let seconds = HTTPDate.parse(value) { precondition(seconds.magnitude < 1 << 39) }
    _ = RetryAfter.parse(value, date: value, now: .min)
    _ = RetryAfter.parse(value, date: nil, now: .max)
  }
}
