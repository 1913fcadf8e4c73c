import Glibc
import PluginTrust
import Testing

@Suite("Exports of a plugin") struct ExportTests {
  @Test(
    "a plugin without the right exports is refused",
    arguments: [
      ("int unrelated(void) { return 0; } " + SamplePlugin.version, PluginRefusal.Code.noEntry),
      ("static " + SamplePlugin.launch + " void *keep = taskhost_plugin_launch; " + SamplePlugin.version, .noEntry),
      ("extern int taskhost_plugin_launch(void); int other(void) { return taskhost_plugin_launch(); } " + SamplePlugin.version, .noEntry),
      ("const int taskhost_plugin_launch = 5; " + SamplePlugin.version, .entryNotCode),
      ("int taskhost_plugin_launch; " + SamplePlugin.version, .entryNotCode),
      ("_Thread_local int taskhost_plugin_launch = 1; " + SamplePlugin.version, .entryNotCode),
      (
        "__asm__(\".data\\n.globl taskhost_plugin_launch\\n.type taskhost_plugin_launch,@function\\ntaskhost_plugin_launch: .quad 0\\n\");"
          + SamplePlugin.version, .entryNotCode
      ),
      (SamplePlugin.launch, .abiVersion),
      (SamplePlugin.launch + " const unsigned taskhost_plugin_abi_version = 0;", .abiVersion),
      (SamplePlugin.launch + " unsigned taskhost_plugin_abi_version;", .abiVersion),
      (SamplePlugin.launch + " const unsigned taskhost_plugin_abi_version = 2;", .abiVersion),
      (SamplePlugin.launch + " const unsigned taskhost_plugin_abi_version = 4294967295u;", .abiVersion),
      (SamplePlugin.launch + " const unsigned long taskhost_plugin_abi_version = 1;", .abiVersion),
      (SamplePlugin.launch + " int taskhost_plugin_abi_version(void) { return 1; }", .abiVersion),
      (SamplePlugin.source + " const unsigned taskhost_plugin_handler_limit = 0;", .handlerLimit),
      (SamplePlugin.source + " const char taskhost_plugin_handler_limit = 1;", .handlerLimit),
      (SamplePlugin.source + " int taskhost_plugin_shutdown = 1;", .shutdownNotCode),
    ])
  func refused(_ source: String, _ code: PluginRefusal.Code) throws {
    let directory = try PluginDirectory()
    try directory.compile(source, to: "libBad.so")
    try directory.compile(SamplePlugin.source, to: "libGood.so")
    let scan = try directory.scan()
    #expect(scan.acceptedNames == ["libGood.so"])
    #expect(scan.refusals == ["libBad.so": code], "\(scan.refused)")
  }

  @Test("the sentence of a wrong version names both versions")
  func versionSentence() throws {
    let directory = try PluginDirectory()
    try directory.compile(SamplePlugin.launch + " const unsigned taskhost_plugin_abi_version = 2;", to: "libfoo.so")
    let refusal = try #require(try directory.scan().refused.first)
    #expect(
      refusal.description
        == "libfoo.so: unsupported ABI: built for version 2, this host speaks 1. Rebuild with the taskhost 1 header, or install a newer taskhost."
    )
  }

  @Test("optional exports are read", arguments: ["gnu", "sysv", "both"])
  func optional(_ hashStyle: String) throws {
    let directory = try PluginDirectory()
    let source = SamplePlugin.source + " const unsigned taskhost_plugin_handler_limit = 7; void taskhost_plugin_shutdown(void) {}"
    try directory.compile(source, to: "libFull.so", flags: ["-Wl,--hash-style=\(hashStyle)"])
    try directory.compile(SamplePlugin.source, to: "libPlain.so", flags: ["-Wl,--hash-style=\(hashStyle)"])
    let scan = try directory.scan()
    #expect(scan.refused.isEmpty)
    #expect(scan.accepted.map(\.elf.handlerLimit) == [7, 1])
    #expect(scan.accepted.map(\.elf.hasShutdown) == [true, false])
    #expect(scan.accepted.map(\.elf.abiVersion) == [1, 1])
    #expect(scan.accepted.allSatisfy { $0.elf.note == nil })
  }

  @Test("a plugin among thousands of exports is found by its hash", arguments: ["gnu", "sysv"])
  func manyExports(_ hashStyle: String) throws {
    let directory = try PluginDirectory()
    let others = (0..<5000).map { "int exported_\($0);" }.joined(separator: "\n")
    try directory.compile(SamplePlugin.source + "\n" + others, to: "libMany.so", flags: ["-Wl,--hash-style=\(hashStyle)"])
    #expect(try directory.scan().acceptedNames == ["libMany.so"])
  }

  @Test("what the checks find, dlsym finds")
  func loads() throws {
    let directory = try PluginDirectory()
    try directory.compile(SamplePlugin.source + " const unsigned taskhost_plugin_handler_limit = 9;", to: "libLoads.so")
    let file = try #require(try directory.scan().accepted.first)
    let handle = try #require(dlopen(file.path, RTLD_NOW | RTLD_LOCAL))
    defer { dlclose(handle) }
    #expect(dlsym(handle, "taskhost_plugin_launch") != nil)
    let limit = try #require(dlsym(handle, "taskhost_plugin_handler_limit"))
    #expect(limit.load(as: UInt32.self) == file.elf.handlerLimit)
  }
}
