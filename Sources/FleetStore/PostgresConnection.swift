import CPostgres
import Glibc
import HostThreads
import TaskModel

/// A connection to PostgreSQL. One thread uses it at a time.
///
/// Statements go out together, in libpq's pipeline mode, and are one transaction: all of them happen or none does.
final class PostgresConnection {
  /// A statement as the server reads and plans it.
  private struct Form: Hashable {
    let text: String
    let types: [UInt32]
  }

  /// What the server's answer to a part of a pipeline is for.
  private enum Part {
    /// Rows for whoever asked.
    case rows
    /// To keep a statement.
    case preparation(Form)
    /// To set what the transaction relies on.
    case settings
  }

  /// What everything that goes over the connection relies on, whatever the role, its database or a pool has set. A name without a schema means
  /// PostgreSQL's own: whoever may create functions or operators in another schema, such as `public`, must not have them run as this user.
  /// The plans are small and many: compiling them takes longer than carrying them out.
  static let settings = [("search_path", "pg_catalog, pg_temp"), ("jit", "off"), ("standard_conforming_strings", "on")]

  /// Sets ``settings`` for one transaction. Its own names have their schema.
  private static let guarding = PostgresStatement(
    "SELECT \(settings.map { "pg_catalog.set_config('\($0)', '\($1)', true)" }.joined(separator: ", "))")

  private let connection: OpaquePointer
  /// Whether the server's process serves this connection alone. Then it keeps statements that are sent again, if they allow it: to read and
  /// plan one takes longer than to find that nothing is to be done. A pool that shares its connections between transactions (PgBouncer)
  /// would give another process the next time, and so each transaction begins with ``settings``. Here, they must have been set.
  var isAlone = false
  /// The statements that were sent, with the names under which the server keeps them; nil for those that were sent once.
  private var forms: [Form: String?] = [:]
  /// How many names were given.
  private var names = 0
  private static let mostForms = 200
  /// Whether an answer did not come in time. Nothing else may be asked here.
  private(set) var isAbandoned = false

  /// Connects. Blocks for some seconds at most for each server that the address names, see ``PostgresServerList``.
  ///
  /// - Parameters:
  ///   - address: What libpq takes: `postgres://…` or `key=value …`.
  ///   - name: What the server shows as the connection's program.
  ///   - only: Those of its servers to try; nil for all.
  init(_ address: String, name: String, only: PostgresServerList? = nil) throws(PostgresError) {
    try Self.load()
    if case .unreadable(let reason) = Self.read(address) { throw PostgresError(code: PostgresError.badAddress, reason) }
    let openPassfile = Self.reason { pg_find_open_passfile(address, $0, $1) }
    // What the address says comes last, and wins.
    var settings = [
      ("tcp_user_timeout", "10000"), ("keepalives_idle", "5"), ("keepalives_interval", "2"), ("keepalives_count", "3"),
      ("fallback_application_name", name), ("client_encoding", "UTF8"), ("dbname", address),
    ]
    // libpq would say on the standard error that it does not use it, each time.
    if openPassfile != nil { settings.append(("passfile", PG_NOWHERE)) }
    let servers = if let only { only } else { try PostgresServerList(address) }
    var failures: [String] = []
    var connected: OpaquePointer?
    for server in servers.all where connected == nil {
      // libpq's words have the address alone if it is known.
      func note(_ error: PostgresError) {
        let words =
          error.code == PostgresError.silence
          ? "\(server.shownName) \(error.message)" : (server.host.map { error.message.contains($0) ? "" : "\($0): " } ?? "") + error.message
        if !failures.contains(words) { failures.append(words) }
      }
      do throws(PostgresError) {
        for place in try servers.places(of: server) where connected == nil {
          do throws(PostgresError) { connected = try Self.connect(settings + place, within: servers.timeout) } catch { note(error) }
        }
      } catch { note(error) }
    }
    if let connected {
      connection = connected
      return
    }
    let files = [openPassfile, Self.reason { pg_find_unreadable(address, $0, $1) }].compactMap(\.self)
    throw PostgresError(Self.line(of: (failures + files).joined(separator: "; ")))
  }

  private static func connect(_ settings: [(String, String)], within timeout: Duration) throws(PostgresError) -> OpaquePointer {
    let started = withStrings(settings.map(\.0)) { keywords in
      withStrings(settings.map(\.1)) { values in pg_connect_start(keywords, values, 1) }
    }
    guard let connection = started else { throw PostgresError("no memory for a connection") }
    let deadline = SystemClock.now + timeout
    var progress = pg_status(connection) == Int32(PG_CONNECTION_BAD) ? Int(PG_POLLING_FAILED) : Int(PG_POLLING_WRITING)
    while progress == PG_POLLING_READING || progress == PG_POLLING_WRITING {
      let events = progress == PG_POLLING_READING ? POLLIN : POLLOUT
      var polled = pollfd(fd: pg_socket(connection), events: Int16(events), revents: 0)
      guard poll(&polled, 1, milliseconds(until: deadline)) >= 0 || errno == EINTR, SystemClock.now < deadline else {
        pg_finish(connection)
        throw PostgresError(code: PostgresError.silence, "did not answer in time")
      }
      if polled.revents != 0 { progress = Int(pg_connect_poll(connection)) }
    }
    guard progress == PG_POLLING_OK, pg_prepare(connection) == 1 else {
      defer { pg_finish(connection) }
      throw PostgresError(message(of: connection))
    }
    return connection
  }

  deinit { pg_finish(connection) }

  /// Loads libpq, if that was not done yet.
  static func load() throws(PostgresError) {
    var reason = [CChar](repeating: 0, count: 512)
    guard pg_load(&reason, reason.count) == 0 else { throw PostgresError(text(reason)) }
  }

  private static func text(_ buffer: [CChar]) -> String {
    line(of: String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
  }

  /// Reads an address as a connection would. libpq is loaded by then.
  private static func read(_ address: String) -> FleetAddress {
    var reason = [CChar](repeating: 0, count: 512)
    switch pg_read_address(address, &reason, reason.count) {
    case 0: return .sound
    case 1: return .hasPassword
    default: return .unreadable(withoutSecrets(text(reason), of: address))
    }
  }

  /// libpq's words quote what they are about, and quotation marks may be a part of that: of an address that may have a password, nothing is
  /// told from the first one on.
  private static func withoutSecrets(_ reason: String, of address: String) -> String {
    guard address.contains("@") || address.lowercased().contains("password"), let begin = reason.firstIndex(of: "\"") else { return reason }
    return "\(reason[..<begin])…, which may have a password and is not shown"
  }

  /// What is wrong with a file: libpq goes on without, and the server's words do not say so.
  private static func reason(_ find: (UnsafeMutablePointer<CChar>, Int) -> Int32) -> String? {
    var reason = [CChar](repeating: 0, count: 4608)
    let isFound = reason.withUnsafeMutableBufferPointer { buffer in buffer.baseAddress.map { find($0, buffer.count) } ?? 0 }
    return isFound == 0 ? nil : text(reason)
  }

  /// Lets libpq read an address; nil if this machine has no libpq.
  static func check(_ address: String) -> FleetAddress? {
    do throws(PostgresError) { try load() } catch { return nil }
    return read(address)
  }

  /// The server's process, as the other end said at the connection.
  var serverProcess: Int64 { Int64(pg_backend_pid(connection)) }

  /// Runs the statements as one transaction and returns the rows of each.
  ///
  /// - Parameter last: Follows in a transaction of its own, whatever became of the first one: it goes out at the same time. Its rows and its
  ///   failure are of no interest.
  /// - Throws: The first error; nothing was changed then. If ``PostgresError/isLost``, the connection is dead, and nobody knows whether the
  ///   transaction was committed.
  @discardableResult
  func run(
    _ statements: [PostgresStatement], then last: PostgresStatement? = nil, by deadline: MonotonicTime
  ) throws(PostgresError) -> [PostgresRows] {
    // What the server answers to, in order.
    var sent: [Part] = []
    var transactions = 0
    for part in [statements, [last].compactMap(\.self)] where transactions == 0 || !part.isEmpty {
      if !isAlone, part.first?.endsOrBegins == false { try send(Self.guarding, as: .settings, &sent) }
      for statement in part {
        try send(statement, as: .rows, &sent)
        if unsent >= Self.mostUnsent { try flush(by: deadline) }
      }
      guard pg_pipeline_sync(connection) == 1 else { throw lost }
      transactions += 1
    }
    var answered = 0
    try flush(by: deadline)
    var rows: [PostgresRows] = []
    var failure: PostgresError?
    var outcome: Result<[PostgresRows], PostgresError>?
    while true {
      try awaitResult(by: deadline)
      // Nil ends the results of one statement.
      guard let result = pg_get_result(connection) else {
        guard pg_status(connection) == Int32(PG_CONNECTION_OK) else { throw failure ?? lost }
        answered += 1
        continue
      }
      let part = answered < sent.count ? sent[answered] : .rows
      switch Int(pg_result_status(result)) {
      case PG_TUPLES_OK, PG_COMMAND_OK, PG_EMPTY_QUERY:
        if case .rows = part { rows.append(PostgresRows(result)) } else { pg_clear(result) }
      case PG_PIPELINE_SYNC:
        pg_clear(result)
        transactions -= 1
        let result = outcome ?? failure.map { .failure($0) } ?? .success(rows)
        guard transactions > 0 else { return try result.get() }
        outcome = result
      case PG_PIPELINE_ABORTED:
        forget(part)
        pg_clear(result)
      default:
        forget(part)
        failure = failure ?? Self.error(of: result, on: connection)
        pg_clear(result)
      }
    }
  }

  /// Runs the statements as ``run(_:then:by:)`` does, and again after a deadlock: the database has chosen this transaction to fail so that another
  /// one, which waited for it, can go on, and nothing of it has happened. Not for a part of a transaction.
  @discardableResult
  func transact(
    _ statements: [PostgresStatement], then last: PostgresStatement? = nil, by deadline: MonotonicTime
  ) throws(PostgresError) -> [PostgresRows] {
    for _ in 1..<Self.mostTries {
      do throws(PostgresError) { return try run(statements, then: last, by: deadline) } catch {
        guard error.code == PostgresError.deadlock else { throw error }
      }
    }
    return try run(statements, then: last, by: deadline)
  }
  private static let mostTries = 5

  private func forget(_ part: Part) { if case .preparation(let form) = part { forms[form] = nil } }

  /// Runs one statement.
  @discardableResult
  func run(_ statement: PostgresStatement, by deadline: MonotonicTime) throws(PostgresError) -> PostgresRows {
    let rows = try run([statement], by: deadline)
    guard let first = rows.first else { throw PostgresError("the server did not answer a statement") }
    return first
  }

  /// Waits until the server sends something unasked, `waker` is readable, or `deadline` has passed. Returns the channels of the
  /// notifications that have arrived.
  func wait(waker: Int32, until deadline: MonotonicTime) throws(PostgresError) -> [String] {
    var channels = try notifications()
    guard channels.isEmpty else { return channels }
    var polled = [
      pollfd(fd: pg_socket(connection), events: Int16(POLLIN), revents: 0), pollfd(fd: waker, events: Int16(POLLIN), revents: 0),
    ]
    poll(&polled, 2, Self.milliseconds(until: deadline))
    if polled[0].revents != 0 { channels = try notifications() }
    return channels
  }

  /// Whether the other end has not closed it, as far as is known here. Forgets notifications.
  var isOpen: Bool {
    var polled = pollfd(fd: pg_socket(connection), events: Int16(POLLIN), revents: 0)
    // A server says why it ends a connection before it does.
    while poll(&polled, 1, 0) == 1 { guard (try? notifications()) != nil else { return false } }
    return pg_status(connection) == Int32(PG_CONNECTION_OK)
  }

  private func notifications() throws(PostgresError) -> [String] {
    guard pg_consume_input(connection) == 1 else { throw lost }
    var channels: [String] = []
    while let notification = pg_notifies(connection) {
      if let name = notification.pointee.name { channels.append(String(cString: name)) }
      pg_free(notification)
    }
    return channels
  }

  // MARK: Sending and awaiting

  /// Sends a statement, and before it, if it was sent before and may be kept, the order to keep it.
  private func send(_ statement: PostgresStatement, as part: Part, _ sent: inout [Part]) throws(PostgresError) {
    let parameters = statement.values()
    let contents = parameters.map(\.content)
    let types = parameters.map(\.type)
    let lengths = contents.map { Int32(clamping: $0?.count ?? 0) }
    let formats = parameters.map { Int32($0.isBinary ? 1 : 0) }
    let count = Int32(types.count)
    let name = statement.mayBeKept ? try keptName(of: Form(text: statement.text, types: types), &sent) : nil
    let isSent = Self.withBuffers(contents) { values in
      if let name { return pg_send_query_prepared(connection, name, count, values, lengths, formats, 1) }
      return pg_send_query_params(connection, statement.text, count, types, values, lengths, formats, 1)
    }
    guard isSent == 1 else { throw lost }
    sent.append(part)
    let bytes = contents.reduce(0) { $0 + ($1?.count ?? 0) }
    unsent += bytes
    // The server may begin. What does not go out yet goes with the rest.
    if bytes >= Self.bytesToWaitFor { guard pg_flush(connection) >= 0 else { throw lost } }
  }

  /// A statement with this many bytes goes out at once: writing the next one takes longer than sending it.
  private static let bytesToWaitFor = 16_384
  /// How much was written since all had gone out, and how much that may be: libpq moves all that it has left each time that the server has
  /// taken some.
  private var unsent = 0
  private static let mostUnsent = 1 << 20

  /// The name under which the server keeps a statement, or will when it comes to it; nil if it is to read the text.
  private func keptName(of form: Form, _ sent: inout [Part]) throws(PostgresError) -> String? {
    guard isAlone else { return nil }
    guard let known = forms[form] else {
      if forms.count < Self.mostForms { forms[form] = .some(nil) }
      return nil
    }
    if let known { return known }
    let name = "s\(names)"
    names += 1
    guard pg_send_prepare(connection, name, form.text, Int32(form.types.count), form.types) == 1 else { throw lost }
    forms[form] = name
    sent.append(.preparation(form))
    return name
  }

  private func flush(by deadline: MonotonicTime) throws(PostgresError) {
    while true {
      switch pg_flush(connection) {
      case 0:
        unsent = 0
        return
      case 1:
        // The server may have to be read before it takes more.
        try pause(events: Int16(POLLIN | POLLOUT), by: deadline)
        guard pg_consume_input(connection) == 1 else { throw lost }
      default: throw lost
      }
    }
  }

  private func awaitResult(by deadline: MonotonicTime) throws(PostgresError) {
    while pg_is_busy(connection) == 1 {
      try pause(events: Int16(POLLIN), by: deadline)
      guard pg_consume_input(connection) == 1 else { throw lost }
    }
  }

  private func pause(events: Int16, by deadline: MonotonicTime) throws(PostgresError) {
    var polled = pollfd(fd: pg_socket(connection), events: events, revents: 0)
    while true {
      switch poll(&polled, 1, Self.milliseconds(until: deadline)) {
      case 1: return
      case 0:
        isAbandoned = true
        throw PostgresError("the server did not answer in time")
      default: guard errno == EINTR else { throw PostgresError("poll: \(ErrorNumber.last)") }
      }
    }
  }

  private static func milliseconds(until deadline: MonotonicTime) -> Int32 {
    let left = deadline - SystemClock.now
    // Rounded up: poll must not return before the time.
    return left <= .zero ? 0 : Int32(clamping: (left + .milliseconds(1)).wholeMilliseconds)
  }

  // MARK: Errors

  private var lost: PostgresError { PostgresError(Self.message(of: connection)) }

  private static func message(of connection: OpaquePointer) -> String {
    let line = line(of: pg_error_message(connection).map { String(cString: $0) } ?? "")
    return line.isEmpty ? "the connection to the server was lost" : line
  }

  /// libpq's messages have several lines, some of them indented; a server's may have anything, as much as it likes.
  private static func line(of text: String) -> String {
    let line = text.split(whereSeparator: \.isNewline).map { $0.drop(while: \.isWhitespace) }.joined(separator: "; ")
    return (line.utf8.count > mostWords ? "\(line.prefix(mostWords)) …" : line).escapingControlCharacters
  }
  private static let mostWords = 2000

  private static func error(of result: OpaquePointer, on connection: OpaquePointer) -> PostgresError {
    let code = pg_result_field(result, Int32(PG_FIELD_SQLSTATE)).map { String(cString: $0) }
    let message = pg_result_field(result, Int32(PG_FIELD_MESSAGE)).map { String(cString: $0) }
    return PostgresError(code: code, message.map(line(of:)) ?? Self.message(of: connection))
  }

  // MARK: Memory for C

  /// Calls `body` with the strings and a nil behind them, as C's lists end.
  private static func withStrings<Result>(_ strings: [String], _ body: ([UnsafePointer<CChar>?]) -> Result) -> Result {
    withBuffers(strings.map { Array($0.utf8) + [0] } + [nil], body)
  }

  /// Calls `body` with pointers to copies of the buffers; nil stays nil.
  private static func withBuffers<Result>(_ buffers: [[UInt8]?], _ body: ([UnsafePointer<CChar>?]) -> Result) -> Result {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: buffers.reduce(1) { $0 + ($1?.count ?? 0) }, alignment: 1)
    defer { memory.deallocate() }
    var pointers: [UnsafePointer<CChar>?] = []
    pointers.reserveCapacity(buffers.count)
    var used = 0
    for buffer in buffers {
      guard let buffer else {
        pointers.append(nil)
        continue
      }
      UnsafeMutableRawBufferPointer(rebasing: memory[used...]).copyBytes(from: buffer)
      // An empty buffer has an address too: nil would be NULL.
      pointers.append(UnsafePointer(memory.baseAddress?.advanced(by: used).assumingMemoryBound(to: CChar.self)))
      used += buffer.count
    }
    return body(pointers)
  }
}
