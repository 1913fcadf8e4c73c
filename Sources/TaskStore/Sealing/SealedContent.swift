import GRDB
import HostThreads
import TaskModel
public import ValueSealing

/// What of a store's content is sealed.
public struct SealedContent: Sendable, Hashable {
  /// The key that seals what is written; nil if values are written plain.
  public let key: KeyID?
  /// The number of values that are sealed and were opened.
  public private(set) var sealed = 0
  /// The number of those that an earlier key has sealed.
  public private(set) var sealedEarlier = 0
  /// The number of values that are plain.
  public private(set) var plain = 0
  /// The number of values that do not open.
  public private(set) var damaged = 0
  /// Whether no unused space of the database and its log can have a plain value: the file was begun, or written anew, when every value was
  /// sealed.
  public let isClean: Bool

  /// Whether it is proved that no plaintext is left in the database and its log.
  public var isProved: Bool { key != nil && plain == 0 && damaged == 0 && isClean }
}

extension SealedContent {
  typealias Finding = StoreInspection.Finding

  /// Opens every sealed value.
  ///
  /// - Returns: Nil for a store that is not to be sealed, and has nothing sealed.
  static func examine(
    _ database: Database, origin: UInt64, _ sealing: StoreSealing?, _ step: StoreStep.Observer
  ) throws -> (SealedContent?, [Finding]) {
    guard let record = try SealingRecord(database), sealing != nil || !record.needed.isEmpty else { return (nil, []) }
    let seals = ValueSeals(origin: origin, sealing)
    var found = SealedContent(key: record.key, isClean: record.isClean)
    var examples: [DamagedValue] = []
    for part in SealedPart.all {
      step(StoreStep(what: "opening values: \(found.sealed)", percent: nil))
      let identity = Int32(part.identity.count)
      let names = part.identity + [part.sealed, part.isPlain]
      try PreparedStatement(database, "SELECT \(names.joined(separator: ", ")) FROM \(part.table)").visit([]) { row in
        guard !row.isNull(identity) else {
          if row.integer(identity + 1) != 0 { found.plain += 1 }
          return true
        }
        let sealed = row.blob(identity)
        do {
          _ = try seals.opened(sealed, as: SealedPlace(part, row: (0..<identity).map { row.identity($0) }))
          found.sealed += 1
          if SealedValue.keyID(of: sealed) != record.key { found.sealedEarlier += 1 }
        } catch let error as DamagedValue {
          found.damaged += 1
          if examples.count < 3 { examples.append(error) }
        }
        return true
      }
    }
    return (found, found.findings(examples, sealing))
  }

  private func findings(_ examples: [DamagedValue], _ sealing: StoreSealing?) -> [Finding] {
    var findings: [Finding] = []
    if !examples.isEmpty {
      let rest = damaged > examples.count ? "; …" : ""
      findings.append(
        Finding(
          kind: .damaged,
          observed: "\(damaged == 1 ? "1 sealed value does" : "\(damaged) sealed values do") not open: "
            + examples.map(\.description).joined(separator: "; ") + rest,
          remedy: "stop the host and restore a backup, or do without: taskhost store restore FILE"))
    }
    guard sealing?.target != nil else { return findings }
    if plain > 0 {
      findings.append(Finding(.plaintext, "\(plain == 1 ? "1 value is" : "\(plain) values are") not sealed; \(sealed) are"))
    } else if !isClean {
      findings.append(
        Finding(
          kind: .plaintext, observed: "every value is sealed, but unused space of the database may have some that were plain before",
          remedy: "stop the host and write the file anew: taskhost store vacuum"))
    }
    return findings
  }

  /// Stores that were replaced and stay beside the present one: nobody seals them.
  static func earlierFiles(beside place: StorePlace) -> [Finding] {
    guard let slash = place.database.lastIndex(of: "/") else { return [] }
    let (folder, name) = (String(place.database[..<slash]), String(place.database[place.database.index(after: slash)...]))
    let names = ((try? DirectoryNames.list(at: folder)) ?? []).filter {
      $0.hasPrefix(name + ".replaced-") || $0.hasPrefix(name) && $0.contains(".lost-")
    }
    return names.map {
      Finding(
        kind: .plaintext, observed: "\(folder)/\($0) is a store that was replaced, and may have plaintext",
        remedy: "delete it once you need it no more")
    }
  }
}
