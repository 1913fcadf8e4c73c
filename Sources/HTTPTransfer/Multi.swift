internal import CCurl

/// libcurl's multi handle: exchanges that proceed together on one thread. Unlike an easy handle, it can be woken.
struct Multi: @unchecked Sendable {  // reason: other threads only call `wake()`, which libcurl allows before `close()`
  private let multi: UnsafeMutableRawPointer
  /// The longest wait, in milliseconds, if no exchange has a time limit: an hour.
  static let longestWait = 3_600_000

  init() throws(TransferFailure) {
    guard let multi = curl_multi_init() else { throw .broken("libcurl cannot be used here") }
    self.multi = multi
  }

  func add(_ exchange: Exchange) throws(TransferFailure) {
    try check(curl_multi_add_handle(multi, exchange.handle))
  }

  func remove(_ exchange: Exchange) { curl_multi_remove_handle(multi, exchange.handle) }

  /// Waits for `wake()`, for an exchange, or until one of the descriptors is readable.
  ///
  /// - Returns: Whether one of the descriptors is readable.
  @discardableResult
  func wait(milliseconds: Int, descriptors: [Int32] = []) throws(TransferFailure) -> Bool {
    var others = descriptors.map { curl_waitfd(fd: $0, events: Int16(CURL_WAIT_POLLIN), revents: 0) }
    try check(curl_multi_poll(multi, &others, UInt32(others.count), Int32(min(milliseconds, Self.longestWait)), nil))
    return others.contains { $0.revents != 0 }
  }

  /// Makes all progress that is possible now, and returns the number of exchanges that continue.
  func perform() throws(TransferFailure) -> Int32 {
    var running: Int32 = 0
    try check(curl_multi_perform(multi, &running))
    return running
  }

  /// An exchange that has ended, by its handle, and how; nil if there is no other.
  func nextEnded() -> (handle: UnsafeMutableRawPointer, code: CURLcode)? {
    var left: Int32 = 0
    while let message = curl_multi_info_read(multi, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else { continue }
      return (handle, message.pointee.data.result)
    }
    return nil
  }

  func wake() {
    curl_multi_wakeup(multi)
  }

  func close() { curl_multi_cleanup(multi) }

  private func check(_ code: CURLMcode) throws(TransferFailure) {
    guard code == CURLM_OK else { throw .broken(String(cString: curl_multi_strerror(code))) }
  }
}
