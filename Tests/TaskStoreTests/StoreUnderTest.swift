import MemoryStore
import StoreTestSupport
import TaskModel
import TaskStore
import Testing

/// An implementation of `RequestStore`. Every one passes the same suites: a new one is a case here.
enum StoreUnderTest: String, CaseIterable, CustomTestStringConvertible {
  /// SQLite in a file.
  case sqlite
  /// SQLite in a file, whose values are sealed.
  case sealed
  /// In memory.
  case memory

  var testDescription: String { rawValue }

  /// A new store in `directory`.
  func open(in directory: TemporaryDirectory) throws -> any RequestStore {
    switch self {
    case .sqlite: try SQLiteRequestStore(path: directory.file("requests.sqlite"))
    case .sealed: try SQLiteRequestStore(path: directory.file("requests.sqlite"), sealing: try Keys(in: directory).sealing())
    case .memory: MemoryRequestStore()
    }
  }

  /// The store as another host finds it; one that does not outlive its host is the same.
  func reopen(_ store: any RequestStore, in directory: TemporaryDirectory) throws -> any RequestStore {
    switch self {
    case .sqlite, .sealed:
      store.close()
      return try open(in: directory)
    case .memory: return store
    }
  }
}

extension RequestStore {
  /// The id of the request with that sequence.
  func id(_ sequence: Int64) -> RequestID { RequestID(sequence: sequence, origin: origin) }

  /// The id of the run with that sequence.
  func runID(_ sequence: Int64) -> RunID { RunID(sequence: sequence, origin: origin) }

  /// Commits requests.
  func add(_ records: RequestRecord...) throws(StoreError) {
    try commit { transaction in for record in records { try transaction.insert(record) } }
  }

  /// A request that is known to be there.
  func known(_ sequence: Int64) throws -> RequestRecord { try #require(try request(id(sequence))) }

  /// The ids' sequences of what is due, best first.
  func due(_ identifier: TaskIdentifier = .sample(), _ gates: RunConstraints = .none, by now: WallTime, limit: Int = 100) throws(StoreError)
    -> [Int64]
  {
    try commit { try $0.due(in: Lane(identifier, gates), by: now, limit: limit).map(\.id.sequence) }
  }
}
