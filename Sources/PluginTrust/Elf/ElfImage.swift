import Glibc

/// The file as the loader will map it. Reads bytes by their address in memory.
///
/// Whatever the loader finds by address, the checks read by address too, and they refuse files with ambiguous addresses. Otherwise the
/// host could check bytes that the loader does not use.
struct ElfImage: Sendable {
  let file: BoundedFile
  /// The loadable segments, by ascending address, without overlaps.
  let loads: [ElfSegment]
  let dynamic: ElfSegment
  let notes: [ElfSegment]

  /// - Parameter isLibrary: Whether the file may name an interpreter. The C library does, to print its version when it is run.
  init(reading file: BoundedFile, isLibrary: Bool = false) throws(Rejection) {
    let header = try ElfHeader(reading: file)
    let size = ElfConstants.programHeaderSize
    let table = try file.read("its program headers", at: header.programHeaderOffset, count: header.programHeaderCount * size)
    let segments = (0..<header.programHeaderCount).map { ElfSegment(table, at: $0 * size) }
    guard isLibrary || !segments.contains(where: { $0.type == ElfConstants.segmentInterpreter }) else { throw .executable }
    let dynamics = segments.filter { $0.type == ElfConstants.segmentDynamic }
    guard let dynamic = dynamics.first, dynamics.count == 1 else {
      throw .malformed("it has \(dynamics.count) dynamic segments instead of one")
    }
    self.file = file
    self.dynamic = dynamic
    loads = segments.filter { $0.type == ElfConstants.segmentLoad }
    notes = segments.filter { $0.type == ElfConstants.segmentNote }
    for segment in loads + notes + [dynamic] { try segment.checkBounds(fileSize: file.size) }
    try checkLoads()
  }

  /// Refuses segments that share a page: the loader maps whole pages, later segments over earlier ones.
  private func checkLoads() throws(Rejection) {
    let page = UInt64(max(sysconf(Int32(_SC_PAGESIZE)), 4096))
    var end: UInt64 = 0
    for load in loads {
      guard load.fileSize <= load.memorySize else { throw .malformed("a segment has more bytes in the file than in memory") }
      guard load.address % page == load.offset % page else { throw .malformed("a segment is not aligned to pages of \(page) bytes") }
      guard load.address / page * page >= end else { throw .malformed("its segments overlap in memory or are out of order") }
      let (rounded, overflow) = (load.address + load.memorySize).addingReportingOverflow(page - 1)
      guard !overflow else { throw .offsetOverflow("a segment") }
      end = rounded / page * page
    }
  }

  func segment(at address: UInt64, count: UInt64) -> ElfSegment? {
    let (end, overflow) = address.addingReportingOverflow(count)
    guard !overflow else { return nil }
    return loads.first { $0.address <= address && end <= $0.address + $0.memorySize }
  }

  /// Whether the symbol is an address in the file part of an executable segment.
  func isCode(_ symbol: ElfSymbol) -> Bool {
    guard symbol.isAddress, let segment = segment(at: symbol.value, count: 1) else { return false }
    return segment.isExecutable && symbol.value - segment.address < segment.fileSize
  }

  /// The bytes at `address` in the mapped file before relocation; bytes past the segment's file part are zero.
  func read(_ what: String, address: UInt64, count: Int) throws(Rejection) -> FileBytes {
    guard let segment = segment(at: address, count: UInt64(count)) else {
      throw .malformed("\(what) is outside the memory the file maps")
    }
    let start = address - segment.address
    let inFile = start < segment.fileSize ? Int(min(UInt64(count), segment.fileSize - start)) : 0
    guard inFile > 0 else { return FileBytes(bytes: [UInt8](repeating: 0, count: count)) }
    let found = try file.read(what, at: segment.offset + start, count: inFile)
    return FileBytes(bytes: found.bytes + [UInt8](repeating: 0, count: count - inFile))
  }

  /// Like ``read(_:address:count:)``, for entry `index` of a table whose entries have `size` bytes.
  func read(_ what: String, table address: UInt64, index: UInt64, size: Int) throws(Rejection) -> FileBytes {
    let (distance, tooFar) = index.multipliedReportingOverflow(by: UInt64(size))
    let (entry, overflow) = address.addingReportingOverflow(distance)
    guard !tooFar, !overflow else { throw .offsetOverflow(what) }
    return try read(what, address: entry, count: size)
  }
}
