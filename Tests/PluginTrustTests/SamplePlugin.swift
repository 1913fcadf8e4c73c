import Glibc
import Testing

/// The smallest plugin that passes, and pieces to build others from.
enum SamplePlugin {
  static let version = "const unsigned taskhost_plugin_abi_version = 1;"
  static let launch = "int taskhost_plugin_launch(const void *api, unsigned long launch) { return api == 0 && launch == 0; }"
  static let source = version + "\n" + launch

  /// Assembler text that puts a note into the object; `descriptor` are assembler directives.
  static func note(_ descriptor: String, owner: String = "taskhost", type: String = "0x54480001", alignment: Int = 4) -> String {
    """
    __asm__(".pushsection .note.taskhost,\\"a\\",@note\\n.balign \(alignment)\\n.long 2f-1f\\n.long 4f-3f\\n.long \(type)\\n"
      "1: .asciz \\"\(owner)\\"\\n2: .balign 4\\n3: \(descriptor)\\n4: .balign 4\\n.popsection");
    """
  }

  /// As ``note(_:owner:type:alignment:)`` with lines of text.
  static func note(lines: [String], owner: String = "taskhost", type: String = "0x54480001", alignment: Int = 4) -> String {
    note(".ascii \\\"" + lines.map { $0 + "\\\\n" }.joined() + "\\\"", owner: owner, type: type, alignment: alignment)
  }

  /// The compiled ``source``: made once, patched by many tests.
  static let bytes: Result<[UInt8], any Error> = Result {
    let directory = try PluginDirectory()
    return try read(directory.compile(source, to: "base.so"))
  }

  static func read(_ path: String) throws -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    var info = stat()
    try #require(fstat(descriptor, &info) == 0)
    var bytes = [UInt8](repeating: 0, count: Int(info.st_size))
    let count = Glibc.read(descriptor, &bytes, bytes.count)
    try #require(count == bytes.count)
    return bytes
  }
}
