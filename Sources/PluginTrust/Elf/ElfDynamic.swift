import StrictText

struct ElfDynamic: Sendable {
  private enum Tag: UInt64 {
    case needed = 1
    case hash = 4
    case strings = 5
    case symbols = 6
    case stringsSize = 10
    case symbolSize = 11
    case rpath = 15
    case runpath = 29
    case gnuHash = 0x6fff_fef5
    case flags1 = 0x6fff_fffb
    case auxiliary = 0x7fff_fffd
    case filter = 0x7fff_ffff
  }

  let symbols: UInt64
  let strings: UInt64
  let stringsSize: UInt64
  let gnuHash: UInt64?
  let hash: UInt64?

  /// The libraries that the loader loads with this file, including filters.
  let libraries: [String]
  let searchPath: [String]

  init(reading image: ElfImage) throws(Rejection) {
    let entries = try Self.entries(of: image)
    var single: [Tag: UInt64] = [:]
    var libraryNames: [UInt64] = []
    for (number, value) in entries {
      switch Tag(rawValue: number) {
      case .needed, .auxiliary, .filter: libraryNames.append(value)
      case nil: continue
      case .some(let tag):
        // The loader uses the last duplicate, but no linker writes duplicates.
        guard single.updateValue(value, forKey: tag) == nil else { throw .malformed("its dynamic section has the tag \(number) twice") }
      }
    }
    guard single[.flags1, default: 0] & ElfConstants.flags1PositionIndependentExecutable == 0 else { throw .executable }
    guard let symbols = single[.symbols], let strings = single[.strings], let stringsSize = single[.stringsSize] else {
      throw .malformed("its dynamic section names no symbol table or no string table")
    }
    guard single[.symbolSize, default: UInt64(ElfConstants.symbolSize)] == UInt64(ElfConstants.symbolSize) else {
      throw .malformed("its symbols are not \(ElfConstants.symbolSize) bytes each")
    }
    guard image.segment(at: strings, count: stringsSize) != nil else {
      throw .malformed("its string table is outside the memory the file maps")
    }
    self.symbols = symbols
    self.strings = strings
    self.stringsSize = stringsSize
    gnuHash = single[.gnuHash]
    hash = single[.hash]

    let texts = ElfStrings(image: image, address: strings, size: stringsSize)
    var libraries: [String] = []
    for name in libraryNames { libraries.append(try texts.string(at: name, "the name of a library it needs")) }
    var searchPath: [String] = []
    for tag in [Tag.rpath, .runpath] {
      guard let offset = single[tag] else { continue }
      let text = try texts.string(at: offset, "its library search path")
      if !text.isEmpty { searchPath += text.parts(between: ":", omittingEmpty: false) }
    }
    self.libraries = libraries
    self.searchPath = searchPath
  }

  /// The tags and values before the terminating null entry, which the loader requires.
  private static func entries(of image: ElfImage) throws(Rejection) -> [(UInt64, UInt64)] {
    let segment = image.dynamic
    let size = UInt64(ElfConstants.dynamicEntrySize)
    let count = segment.fileSize / size
    guard count <= UInt64(ElfConstants.dynamicEntryLimit) else {
      throw .malformed("its dynamic section has \(count) entries, more than \(ElfConstants.dynamicEntryLimit)")
    }
    guard let load = image.segment(at: segment.address, count: segment.fileSize),
      segment.address - load.address &+ load.offset == segment.offset
    else { throw .malformed("its dynamic section is at one place in the file and at another in memory") }
    let bytes = try image.read("its dynamic section", address: segment.address, count: Int(count * size))
    var entries: [(UInt64, UInt64)] = []
    for index in 0..<Int(count) {
      let tag: UInt64 = bytes.number(at: index * Int(size))
      if tag == 0 { return entries }
      entries.append((tag, bytes.number(at: index * Int(size) + 8)))
    }
    throw .malformed("its dynamic section has no end")
  }

  /// Refuses libraries that the loader would search for outside system and trusted directories.
  ///
  /// `$ORIGIN` is the only allowed variable, because SwiftPM writes it into everything it links. It stands for the plugin's directory,
  /// which passed the same checks or contains only the host's private copies.
  func checkLibraries(_ policy: PluginTrustPolicy) throws(Rejection) {
    for element in searchPath where element != "$ORIGIN" && !policy.trustsLibraryPath(element) { throw .searchPath(element) }
    for name in libraries where name.has("/") && !policy.trustsLibraryPath(name) { throw .libraryNamedByPath(name) }
    for name in libraries where name.has("$") || name.isEmpty { throw .libraryNamedByPath(name) }
  }
}
