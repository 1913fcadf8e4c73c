/// Finds exported symbols through the hash table, exactly as `dlsym` will.
struct ElfSymbolTable: Sendable {
  /// The maximum length of a chain; a real chain has a few symbols.
  private static let chainLimit = 65_536
  /// The maximum number of buckets, words of the Bloom filter, and symbols of a table.
  private static let tableLimit: UInt64 = 1 << 24

  private static let what = "its symbol hash table"

  private let image: ElfImage
  private let dynamic: ElfDynamic
  private let strings: ElfStrings

  init(image: ElfImage, dynamic: ElfDynamic) throws(Rejection) {
    guard dynamic.gnuHash != nil || dynamic.hash != nil else { throw .malformed("it has no symbol hash table") }
    self.image = image
    self.dynamic = dynamic
    strings = ElfStrings(image: image, address: dynamic.strings, size: dynamic.stringsSize)
  }

  func definition(of name: String) throws(Rejection) -> ElfSymbol? {
    // The loader ignores the old hash table if a GNU one exists.
    if let table = dynamic.gnuHash { return try gnuLookup(name, table) }
    if let table = dynamic.hash { return try lookup(name, table) }
    return nil
  }

  private func gnuLookup(_ name: String, _ table: UInt64) throws(Rejection) -> ElfSymbol? {
    let header = try image.read(Self.what, address: table, count: 16)
    let buckets = UInt64(header.number(at: 0, as: UInt32.self))
    let first = UInt64(header.number(at: 4, as: UInt32.self))
    let words = UInt64(header.number(at: 8, as: UInt32.self))
    let shift: UInt32 = header.number(at: 12)
    guard buckets > 0, buckets <= Self.tableLimit, words > 0, words <= Self.tableLimit, words & (words - 1) == 0 else {
      throw .malformed("\(Self.what) has \(buckets) buckets and \(words) filter words")
    }
    let hash = name.utf8.reduce(UInt32(5381)) { $0 &* 33 &+ UInt32($1) }

    let filter = table + 16
    let word: UInt64 = try image.read(Self.what, table: filter, index: UInt64(hash / 64) & (words - 1), size: 8).number(at: 0)
    let mask = (UInt64(1) << UInt64(hash % 64)) | (UInt64(1) << UInt64((hash >> shift) % 64))
    guard word & mask == mask else { return nil }

    let bucketTable = try add(filter, words * 8)
    let chain = try add(bucketTable, buckets * 4)
    var index = try entry(of: bucketTable, at: UInt64(hash) % buckets)
    guard index != 0 else { return nil }
    for _ in 0..<Self.chainLimit {
      guard index >= first, index < Self.tableLimit else { throw .malformed("\(Self.what) leads to symbol \(index)") }
      let stored = try entry(of: chain, at: index - first)
      if stored | 1 == UInt64(hash) | 1, let found = try symbol(index, named: name) { return found }
      if stored & 1 == 1 { return nil }
      index += 1
    }
    throw .malformed("\(Self.what) has a chain of more than \(Self.chainLimit) symbols")
  }

  private func lookup(_ name: String, _ table: UInt64) throws(Rejection) -> ElfSymbol? {
    let header = try image.read(Self.what, address: table, count: 8)
    let buckets = UInt64(header.number(at: 0, as: UInt32.self))
    let symbols = UInt64(header.number(at: 4, as: UInt32.self))
    guard buckets > 0, buckets <= Self.tableLimit, symbols <= Self.tableLimit else {
      throw .malformed("\(Self.what) has \(buckets) buckets and \(symbols) symbols")
    }
    var hash: UInt32 = 0
    for byte in name.utf8 {
      hash = (hash << 4) &+ UInt32(byte)
      let high = hash & 0xf000_0000
      hash = (hash ^ (high >> 24)) & ~high
    }
    let bucketTable = try add(table, 8)
    let chain = try add(bucketTable, buckets * 4)
    var index = try entry(of: bucketTable, at: UInt64(hash) % buckets)
    for _ in 0..<Self.chainLimit {
      guard index != 0 else { return nil }
      guard index < symbols else { throw .malformed("\(Self.what) leads to symbol \(index) of \(symbols)") }
      if let found = try symbol(index, named: name) { return found }
      index = try entry(of: chain, at: index)
    }
    throw .malformed("\(Self.what) has a chain that does not end within \(Self.chainLimit) symbols")
  }

  private func entry(of table: UInt64, at index: UInt64) throws(Rejection) -> UInt64 {
    UInt64(try image.read(Self.what, table: table, index: index, size: 4).number(at: 0, as: UInt32.self))
  }

  private func symbol(_ index: UInt64, named name: String) throws(Rejection) -> ElfSymbol? {
    let bytes = try image.read("its symbol table", table: dynamic.symbols, index: index, size: ElfConstants.symbolSize)
    let symbol = ElfSymbol(bytes)
    guard symbol.isDefined, try strings.matches(name, at: UInt64(symbol.name)) else { return nil }
    return symbol
  }

  private func add(_ address: UInt64, _ distance: UInt64) throws(Rejection) -> UInt64 {
    let (sum, overflow) = address.addingReportingOverflow(distance)
    guard !overflow else { throw .offsetOverflow(Self.what) }
    return sum
  }
}

struct ElfSymbol: Sendable, Equatable {
  let name: UInt32
  let type: UInt8
  let section: UInt16
  let value: UInt64
  let size: UInt64

  init(_ bytes: FileBytes) {
    name = bytes.number(at: 0)
    type = bytes.number(at: 4, as: UInt8.self) & 0xf
    section = bytes.number(at: 6)
    value = bytes.number(at: 8)
    size = bytes.number(at: 16)
  }

  /// Whether `dlsym` would accept the symbol, by the rules of glibc's `check_match`.
  var isDefined: Bool {
    section != ElfConstants.sectionUndefined && ElfConstants.symbolTypesLookedUp.contains(type)
      && (value != 0 || section == ElfConstants.sectionAbsolute || type == ElfConstants.symbolThreadLocal)
  }

  /// Whether the symbol's value is an address in the file's memory.
  var isAddress: Bool { section != ElfConstants.sectionAbsolute && type != ElfConstants.symbolThreadLocal }
}
