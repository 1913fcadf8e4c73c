internal import CCurl

/// A request in libcurl, and the part of its answer that has arrived. Used on one thread only.
final class Exchange {
  let handle: UnsafeMutableRawPointer
  private let errorText: UnsafeMutablePointer<CChar>
  private var headers: UnsafeMutablePointer<curl_slist>?
  private var addresses: UnsafeMutablePointer<curl_slist>?
  let limits: Limits
  private let take: (TransferHead, UnsafeRawBufferPointer) -> Bool
  private let takeInterim: (TransferHead) -> Void
  private let upload: UnsafeMutablePointer<taskhost_curl_upload>?
  private let headLimit: Int
  private var reader: HeadReader
  private var end: End?

  private enum End {
    case enough
    case headTooLarge
  }

  /// libcurl's global state. Never released: other parts of the process may use it as well.
  private static let global = curl_global_init(Int(CURL_GLOBAL_SSL))

  /// - Parameters:
  ///   - takeInterim: Told each interim answer (1xx).
  ///   - take: Takes the body; false ends the exchange.
  init(
    _ request: TransferRequest, takeInterim: @escaping (TransferHead) -> Void = { _ in },
    take: @escaping (TransferHead, UnsafeRawBufferPointer) -> Bool
  ) throws(TransferFailure) {
    try request.validate()
    guard Self.global == CURLE_OK, let handle = curl_easy_init() else { throw .broken("libcurl cannot be used here") }
    self.handle = handle
    self.take = take
    self.takeInterim = takeInterim
    headLimit = request.mostHeadBytes
    limits = Limits(request)
    reader = HeadReader(limit: request.mostHeadBytes, url: request.url)
    upload = request.upload.map { body in
      let upload = UnsafeMutablePointer<taskhost_curl_upload>.allocate(capacity: 1)
      upload.initialize(to: taskhost_curl_upload(descriptor: body.descriptor, error: -1, start: body.start, size: body.size, position: 0))
      return upload
    }
    errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    try setUp(request)
  }

  deinit {
    curl_easy_cleanup(handle)
    curl_slist_free_all(headers)
    curl_slist_free_all(addresses)
    errorText.deallocate()
    upload?.deallocate()
  }

  /// How many bytes of the body were handed to libcurl; 0 without an upload.
  var uploaded: Int64 { upload?.pointee.position ?? 0 }

  /// The outcome, after libcurl has finished with `code`.
  func result(_ code: CURLcode) throws(TransferFailure) -> TransferHead {
    switch end {
    case .headTooLarge: throw .headTooLarge(limit: headLimit)
    case .enough: break
    case nil:
      guard code == CURLE_OK else {
        if let error = upload?.pointee.error, error >= 0 { throw .unreadable(code: error) }
        // So libcurl names a header of more than 100 KiB.
        if code == CURLE_OUT_OF_MEMORY, isConnected, reader.head == nil { throw .headTooLarge(limit: headLimit) }
        if code == CURLE_OPERATION_TIMEDOUT { throw isConnected ? .timedOut : limits.failureToConnect }
        let text = String(cString: errorText[0] == 0 ? curl_easy_strerror(code) : UnsafePointer(errorText))
        throw TransferFailure(
          code, text, systemError: Int32(truncatingIfNeeded: taskhost_curl_get_long(handle, CURLINFO_OS_ERRNO)), isConnected: isConnected)
      }
    }
    guard let head = reader.head else { throw .broken("the answer has no head") }
    return head
  }

  /// Whether the connection was ready for the request.
  private var isConnected: Bool { taskhost_curl_get_size(handle, CURLINFO_PRETRANSFER_TIME_T) > 0 }

  private func setUp(_ request: TransferRequest) throws(TransferFailure) {
    try check(taskhost_curl_set_error_buffer(handle, errorText))
    // libcurl must neither use signals nor wait at its end for the thread that looks up a name.
    try set(CURLOPT_NOSIGNAL, 1)
    try set(CURLOPT_QUICK_EXIT, 1)
    try set(CURLOPT_URL, request.url)
    try set(CURLOPT_PATH_AS_IS, 1)
    try set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
    try set(CURLOPT_PROTOCOLS_STR, "http,https")
    try set(CURLOPT_PROXY, "")
    try set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    if let path = request.socketPath { try set(CURLOPT_UNIX_SOCKET_PATH, path) }
    if let more = request.moreAuthorities { try trust(more) }
    try setLimits(request)
    try setMethod(request)
    try setHeaders(request)
    try check(
      taskhost_curl_set_takers(
        handle,
        { bytes, size, count, context in Exchange.give(bytes, size * count, context) { $0.takeHead($1) } },
        { bytes, size, count, context in Exchange.give(bytes, size * count, context) { $0.takeBody($1) } },
        Unmanaged.passUnretained(self).toOpaque()))
  }

  /// Sets the remaining time limits and the addresses found, if any; after that the exchange can begin.
  func prepare(_ found: String?) throws(TransferFailure) {
    try set(CURLOPT_CONNECTTIMEOUT_MS, limits.connecting.milliseconds)
    if let timeout = limits.everything { try set(CURLOPT_TIMEOUT_MS, timeout.milliseconds) }
    guard let found else { return }
    addresses = curl_slist_append(nil, found)
    try check(taskhost_curl_set_list(handle, CURLOPT_RESOLVE, addresses))
  }

  /// Limits the rate of the body in both directions, in bytes a second. Also while the exchange proceeds.
  func limit(_ bytesPerSecond: Int64) {
    _ = taskhost_curl_set_size(handle, CURLOPT_MAX_RECV_SPEED_LARGE, curl_off_t(bytesPerSecond))
    _ = taskhost_curl_set_size(handle, CURLOPT_MAX_SEND_SPEED_LARGE, curl_off_t(bytesPerSecond))
  }

  private func setLimits(_ request: TransferRequest) throws(TransferFailure) {
    try set(CURLOPT_BUFFERSIZE, request.bufferSize)
    if let time = request.stallTimeout {
      try set(CURLOPT_LOW_SPEED_LIMIT, 10)
      try set(CURLOPT_LOW_SPEED_TIME, max(1, time.milliseconds / 1000))
    }
  }

  private func setMethod(_ request: TransferRequest) throws(TransferFailure) {
    if let upload {
      try set(CURLOPT_UPLOAD, 1)
      if request.upload?.isSentOnce == true { try set(CURLOPT_FRESH_CONNECT, 1) }
      try check(taskhost_curl_set_upload(handle, upload))
      try set(CURLOPT_CUSTOMREQUEST, request.method)
      return
    }
    if request.method == "HEAD" {
      try set(CURLOPT_NOBODY, 1)
      return
    }
    if let body = request.body ?? (["POST", "PUT", "PATCH"].contains(request.method) ? [] : nil) {
      // Pass an address even for an empty body: otherwise libcurl would read standard input.
      let code = (body + [0]).withUnsafeBytes { taskhost_curl_set_body(handle, $0.baseAddress, body.count) }
      try check(code)
    }
    try set(CURLOPT_CUSTOMREQUEST, request.method)
  }

  private func setHeaders(_ request: TransferRequest) throws(TransferFailure) {
    // Without this, libcurl would wait for permission to send a large body.
    var lines = ["Expect:"]
    if !request.headers.contains(where: { $0.name.lowercased() == "content-type" }) { lines.append("Content-Type:") }
    lines += request.headers.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
    for line in lines {
      guard let longer = curl_slist_append(headers, line) else { throw .broken("no memory") }
      headers = longer
    }
    try check(taskhost_curl_set_list(handle, CURLOPT_HTTPHEADER, headers))
  }

  /// Trusts these authorities besides the system's. libcurl takes a file or a text, plus a folder, so its usual file goes into the text.
  private func trust(_ more: [UInt8]) throws(TransferFailure) {
    let usual = taskhost_curl_get_text(handle, CURLINFO_CAINFO).flatMap { AuthorityFile.contents(of: String(cString: $0)) } ?? []
    let code = (usual + [0x0A] + more).withUnsafeBytes {
      taskhost_curl_set_blob(handle, CURLOPT_CAINFO_BLOB, $0.baseAddress, $0.count)
    }
    try check(code)
  }

  private func set(_ option: CURLoption, _ value: Int) throws(TransferFailure) {
    try check(taskhost_curl_set_long(handle, option, value))
  }

  private func set(_ option: CURLoption, _ text: String) throws(TransferFailure) {
    try check(taskhost_curl_set_text(handle, option, text))
  }

  private func check(_ code: CURLcode) throws(TransferFailure) {
    guard code == CURLE_OK else { throw .broken("libcurl cannot do this: \(String(cString: curl_easy_strerror(code)))") }
  }

  /// Passes libcurl's bytes to the exchange of a callback; a result other than `count` ends the transfer.
  private static func give(
    _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ context: UnsafeMutableRawPointer?,
    _ take: (Exchange, UnsafeRawBufferPointer) -> Bool
  ) -> Int {
    guard let context else { return count + 1 }
    let exchange = Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
    return take(exchange, UnsafeRawBufferPointer(start: bytes, count: count)) ? count : count + 1
  }

  private func takeHead(_ line: UnsafeRawBufferPointer) -> Bool {
    if reader.take(line, status: taskhost_curl_get_long(handle, CURLINFO_RESPONSE_CODE)) {
      if let interim = reader.takeInterim() { takeInterim(interim) }
      return true
    }
    end = .headTooLarge
    return false
  }

  private func takeBody(_ part: UnsafeRawBufferPointer) -> Bool {
    guard let head = reader.head else { return false }
    if take(head, part) { return true }
    end = .enough
    return false
  }
}
