/// Finds the note in PT_NOTE segments. Sections do not matter: they can be stripped, and the loader ignores them.
extension PluginNote {
  private static let segmentLimit: UInt64 = 1 << 20
  private static let headerSize = 12

  /// nil if the file has no taskhost note.
  init?(reading image: ElfImage) throws(Rejection) {
    var descriptors: [[UInt8]] = []
    for segment in image.notes {
      guard segment.fileSize <= Self.segmentLimit else { throw .malformed("its notes have \(segment.fileSize) bytes") }
      let bytes = try image.file.read("its notes", at: segment.offset, count: Int(segment.fileSize))
      guard segment.alignment == 4 || segment.alignment == 8, segment.offset % 4 == 0 else {
        // Notes of other owners can have any content, but a taskhost note must be readable.
        if Self.containsOwner(bytes.bytes) { throw .badNote("is not aligned to 4 bytes") }
        continue
      }
      descriptors += try Self.descriptors(in: bytes, alignment: Int(segment.alignment))
    }
    guard descriptors.count <= 1 else { throw .badNote("occurs \(descriptors.count) times") }
    guard let descriptor = descriptors.first else { return nil }
    try self.init(descriptor: descriptor)
  }

  private static func descriptors(in bytes: FileBytes, alignment: Int) throws(Rejection) -> [[UInt8]] {
    func aligned(_ offset: Int) -> Int { (offset + alignment - 1) / alignment * alignment }
    var found: [[UInt8]] = []
    var offset = 0
    while bytes.bytes.count - offset >= headerSize {
      let nameSize = Int(bytes.number(at: offset, as: UInt32.self))
      let descriptorSize = Int(bytes.number(at: offset + 4, as: UInt32.self))
      let type: UInt32 = bytes.number(at: offset + 8)
      let name = offset + headerSize
      let descriptor = aligned(name + nameSize)
      let end = descriptor + descriptorSize
      guard end <= bytes.bytes.count else { throw .malformed("its notes are cut off") }
      if bytes.bytes[name..<(name + nameSize)].elementsEqual(PluginABI.noteOwner.utf8.map { $0 } + [0]) {
        guard type == PluginABI.noteType else { throw .badNote("has the unknown type 0x\(String(type, radix: 16))") }
        found.append(Array(bytes.bytes[descriptor..<end]))
      }
      offset = aligned(end)
    }
    return found
  }

  private static func containsOwner(_ bytes: [UInt8]) -> Bool {
    let owner = Array(PluginABI.noteOwner.utf8) + [0]
    guard bytes.count >= owner.count else { return false }
    return (0...(bytes.count - owner.count)).contains { bytes[$0..<($0 + owner.count)].elementsEqual(owner) }
  }
}
