import TestSupport
import PluginTrust
import Testing

@Suite("Damaged files") struct DamagedFileTests {
  @Test("a damaged file is refused with its reason, its undamaged twin is taken", arguments: DamagedFile.all)
  func damaged(_ fault: DamagedFile) throws {
    let directory = try PluginDirectory()
    let good = try SamplePlugin.bytes.get()
    var patch = ElfPatch(bytes: good)
    fault.damage(&patch)
    try directory.write(patch.bytes, to: "libBad.so")
    try directory.write(good, to: "libGood.so")

    let scan = try directory.scan()

    #expect(scan.acceptedNames == ["libGood.so"])
    #expect(scan.refusals == ["libBad.so": fault.code], "\(scan.refused)")
  }

  @Test("a refusal names the file, what was seen and what to do")
  func sentence() throws {
    let directory = try PluginDirectory()
    try directory.write([], to: "libEmpty.so")
    let refusal = try #require(try directory.scan().refused.first)
    #expect(refusal.description == "libEmpty.so: is empty. Rebuild the plugin; if it was copied here, copy it again.")
  }

  @Test("a program is refused, position-independent or not, static or not", arguments: ["-pie", "-no-pie", "-static-pie"])
  func program(_ kind: String) throws {
    let directory = try PluginDirectory()
    try directory.write(Array((SamplePlugin.source + "\nint main(void) { return 0; }").utf8), to: "main.c")
    try #require(Program.status(["cc", kind, "-rdynamic", "-o", directory.file("program.so"), directory.file("main.c")]) == 0)
    #expect(try directory.scan().refusals == ["program.so": .executable])
  }
}
