import Glibc
import HostThreads
import TaskModel
import ValueSealing

/// A sealed value that does not open.
struct DamagedValue: Error, Sendable, Hashable, CustomStringConvertible {
  /// What it is: "the payload of request 019a…".
  let what: String
  /// The number of its part.
  let part: UInt8
  let flaw: SealFlaw

  var description: String { "\(what) is damaged: \(flaw)" }

  /// For who needs the value.
  var refusal: RequestRefusal { RequestRefusal(StoreError(self)) }
}

/// Seals and opens the values of one store. Any thread may use it.
final class ValueSeals: Sendable {
  /// What sealing adds to a value in bytes.
  static let overhead = SealedValue.overhead
  /// What stands in for words that do not open, so that lists can be shown.
  static let illegible = "(damaged: it does not open with the store's key)"

  private struct State {
    var sealing: StoreSealing?
    var damaged: (@Sendable (DamagedValue) -> Void)?
  }

  private let origin: UInt64
  private let state: Guarded<State>
  /// Whether words that do not open are an error too.
  let isStrict: Bool

  /// - Parameters:
  ///   - sealing: The keys; nil for a store without sealed values.
  ///   - isStrict: Whether words that do not open are an error too, not a placeholder.
  init(origin: UInt64, _ sealing: StoreSealing?, isStrict: Bool = false) {
    (self.origin, self.isStrict) = (origin, isStrict)
    state = Guarded(State(sealing: sealing))
  }

  /// What is in force.
  var sealing: StoreSealing? { state.withLock { $0.sealing } }

  /// Seals and opens with other keys from now on.
  func set(_ sealing: StoreSealing?) { state.withLock { $0.sealing = sealing } }

  /// Calls `body` with each value that does not open, on the thread that reads it.
  func observe(_ body: (@Sendable (DamagedValue) -> Void)?) { state.withLock { $0.damaged = body } }

  // MARK: Writing

  /// The columns of a part as they are written: the plain ones, then the sealed one.
  func written(_ values: [PreparedStatement.Value], as place: @autoclosure () -> SealedPlace) throws -> [PreparedStatement.Value] {
    guard let sealing, sealing.seals else { return values + [.null] }
    return try written(values, as: place(), sealing)
  }

  private func written(
    _ values: [PreparedStatement.Value], as place: SealedPlace, _ sealing: StoreSealing
  ) throws -> [PreparedStatement.Value] {
    let hasContent = zip(values, place.part.columns).contains { value, column in if case .null = value { column.isRequired } else { true } }
    guard hasContent else { return values + [.null] }
    return try place.part.columns.map(\.besideSealed) + [.blob(seal(values, as: place, sealing))]
  }

  /// A part that is a single column: what is written there, and beside it.
  func written(_ value: PreparedStatement.Value, as place: @autoclosure () -> SealedPlace) throws -> (
    plain: PreparedStatement.Value, sealed: PreparedStatement.Value
  ) {
    guard let sealing, sealing.seals else { return (value, .null) }
    let values = try written([value], as: place(), sealing)
    return (values[0], values[1])
  }

  /// Seals the columns of a part.
  func seal(_ values: [PreparedStatement.Value], as place: SealedPlace, _ sealing: StoreSealing) throws -> [UInt8] {
    var content = SealedFields.bytes(of: values)
    defer { content.withUnsafeMutableBytes { if let start = $0.baseAddress { explicit_bzero(start, $0.count) } } }
    guard let sealed = SealedValue.seal(content, with: sealing.keys.current, associated: place.bytes(origin: origin)) else {
      throw StoreError.other("a value could not be sealed: the system gave no random numbers, or libcrypto no memory")
    }
    return sealed
  }

  // MARK: Reading

  /// The columns of a part in a row, if they are sealed.
  ///
  /// - Parameter sealed: The position of the sealed column.
  /// - Returns: Nil if it is not sealed: then the plain columns have the content.
  /// - Throws: ``DamagedValue``.
  func values(
    _ row: borrowing PreparedStatement.Columns, sealed: Int32, _ place: @autoclosure () -> SealedPlace
  ) throws -> [PreparedStatement.Value]? {
    guard !row.isNull(sealed) else { return nil }
    return try opened(row.blob(sealed), as: place())
  }

  /// Opens the columns of a part, and tells the observer if they do not.
  func opened(_ sealed: [UInt8], as place: SealedPlace) throws(DamagedValue) -> [PreparedStatement.Value] {
    do throws(SealFlaw) { return try open(sealed, as: place) } catch {
      let damaged = DamagedValue(what: describe(place), part: place.part.number, flaw: error)
      state.withLock { $0.damaged }?(damaged)
      throw damaged
    }
  }

  private func open(_ sealed: [UInt8], as place: SealedPlace) throws(SealFlaw) -> [PreparedStatement.Value] {
    guard let keys = sealing?.keys else { throw SealedValue.keyID(of: sealed).map { .missingKey($0) } ?? .unknownForm }
    let content = try SealedValue.open(sealed, with: keys, associated: place.bytes(origin: origin))
    guard let values = SealedFields.values(of: content, count: place.part.columns.count) else { throw .unknownForm }
    return values
  }

  /// The bytes of a part with a single column.
  func bytes(
    _ row: borrowing PreparedStatement.Columns, at plain: Int32, sealed: Int32, _ place: @autoclosure () -> SealedPlace
  ) throws -> [UInt8] {
    guard let values = try values(row, sealed: sealed, place()) else { return row.blob(plain) }
    return values[0].bytes
  }

  /// The text of a part with a single column; a placeholder if it does not open.
  func text(
    _ row: borrowing PreparedStatement.Columns, at plain: Int32, sealed: Int32, _ place: @autoclosure () -> SealedPlace
  ) throws -> String? {
    try legible {
      try values(row, sealed: sealed, place()).map { $0[0].string } ?? row.optionalText(plain)
    } or: {
      Self.illegible
    }
  }

  /// What `read` returns; what `placeholder` returns if a value does not open.
  func legible<Result>(_ read: () throws -> Result, or placeholder: () -> Result) throws -> Result {
    do { return try read() } catch let error as DamagedValue {
      guard !isStrict else { throw error }
      return placeholder()
    }
  }

  private func describe(_ place: SealedPlace) -> String {
    func id(_ value: PreparedStatement.Value?) -> String {
      guard case .integer(let number) = value else { return "" }
      return " \(RequestID(sequence: number, origin: origin))"
    }
    switch place.part.number {
    case SealedPart.state.number, SealedPart.trouble.number, SealedPart.fingerprint.number:
      return place.part.name + (place.row.last.flatMap(\.string).map { " (\($0))" } ?? "")
    case SealedPart.pause.number:
      guard case .integer(let number) = place.row.first else { return place.part.name }
      return "\(place.part.name) \(number)"
    default: return place.part.name + id(place.row.first)
    }
  }
}

extension SealedPart.Column {
  /// What stands in the column if the part is sealed.
  var besideSealed: PreparedStatement.Value {
    guard isRequired else { return .null }
    return switch kind {
    case .text: .text("")
    case .bytes: .blob([])
    case .integer: .integer(0)
    }
  }

  /// The column's value in a row.
  func value(_ row: borrowing PreparedStatement.Columns, at index: Int32) -> PreparedStatement.Value {
    guard !row.isNull(index) else { return .null }
    return switch kind {
    case .text: .text(row.text(index))
    case .bytes: .blob(row.blob(index))
    case .integer: .integer(row.integer(index))
    }
  }
}

extension PreparedStatement.Value {
  /// The bytes of a blob; none for anything else.
  var bytes: [UInt8] { if case .blob(let bytes) = self { bytes } else { [] } }

  /// The text; nil for anything else.
  var string: String? { if case .text(let text) = self { text } else { nil } }

  /// The number; nil for anything else.
  var number: Int64? { if case .integer(let number) = self { number } else { nil } }
}
