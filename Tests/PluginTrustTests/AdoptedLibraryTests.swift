import TestSupport
import Glibc
import Testing

@testable import PluginTrust

/// Libraries that a manifest names.
@Suite("Adopted library") struct AdoptedLibraryTests {
  private static let source = """
    int number = 5;
    __thread int own = 6;
    static int hidden(void) { return 1; }
    int visible(void) { return hidden(); }
    int left(void) { return 2; }
    static int (*choose(void))(void) { return left; }
    int chosen(void) __attribute__((ifunc("choose")));
    """

  private func inspect(_ library: String, _ symbol: String) throws(PluginRefusal) -> AdoptedLibrary {
    try AdoptedLibrary(inspecting: library, symbol: symbol, manifest: "m.task.toml")
  }

  private func code(_ library: String, _ symbol: String) -> PluginRefusal.Code? {
    do {
      _ = try inspect(library, symbol)
      return nil
    } catch { return error.code }
  }

  @Test("the system's libraries are found by name and taken where they are", arguments: ["libc.so.6", "libm.so.6", "libz.so.1"])
  func system(_ name: String) throws {
    let symbol = ["libc.so.6": "strlen", "libm.so.6": "pow", "libz.so.1": "crc32"][name]
    let library = try inspect(name, try #require(symbol))
    #expect(library.isSystem)
    #expect(library.loaded == library.original)
    #expect(library.original.hasPrefix("/usr/lib") || library.original.hasPrefix("/lib"))
  }

  @Test("a library of one's own is taken by its path, and copied")
  func own() throws {
    let directory = try PluginDirectory()
    let path = try directory.compile(Self.source, to: "lib.so")
    let seen = try inspect(path, "visible")
    #expect(!seen.isSystem && seen.loaded == nil)
    #expect(try inspect(path, "chosen").digest == seen.digest)
    let folder = directory.file("copies")
    let copies = try PluginCopies(directory: folder)
    let adopted = try copies.adopt(path, symbol: "visible", manifest: "m.task.toml")
    let copy = try #require(adopted.loaded)
    #expect(copy.hasPrefix(copies.directory + "/"))
    #expect(adopted.digest == seen.digest)
    #expect(try copies.adopt(path, symbol: "visible", manifest: "m.task.toml").loaded == copy)
    #expect(copies.removeAllBut([adopted.digest]) == 0)
    #expect(access(copy, R_OK) == 0)
    unlink(copy)
    rmdir(folder)
  }

  @Test("what is no exported function is refused")
  func symbols() throws {
    let directory = try PluginDirectory()
    let path = try directory.compile(Self.source, to: "lib.so")
    #expect(code(path, "missing") == .noSymbol)
    #expect(code(path, "hidden") == .noSymbol)
    #expect(code(path, "printf") == .noSymbol)
    #expect(code(path, "number") == .symbolNotCode)
    #expect(code(path, "own") == .symbolNotCode)
    #expect(code(path, "") == .noSymbol)
  }

  @Test("what is no library is refused")
  func files() throws {
    let directory = try PluginDirectory()
    #expect(code("/etc/passwd", "f") == .notElf)
    let program = directory.file("program")
    try directory.write(Array("int main(void) { return 0; }".utf8), to: "program.c")
    try #require(Program.status(["cc", "-pie", "-fPIE", "-rdynamic", "-o", program, directory.file("program.c")]) == 0)
    try #require(chmod(program, 0o755) == 0)
    #expect(code(program, "main") == .executable)
    #expect(code("libnothing.so.7", "f") == .libraryMissing)
    #expect(code("../libz.so.1", "f") == .libraryMissing)
    #expect(code("", "f") == .libraryMissing)
    try #require(mkdir(directory.file("folder"), 0o755) == 0)
    #expect(code(directory.file("folder"), "f") == .notRegular)
  }

  @Test("a link outside of the system's directories, and a library that others may write, are refused, naming the library")
  func untrusted() throws {
    let directory = try PluginDirectory()
    let path = try directory.compile(Self.source, to: "lib.so")
    try #require(symlink(path, directory.file("link.so")) == 0)
    #expect(code(directory.file("link.so"), "visible") == .symbolicLink)
    try #require(chmod(path, 0o777) == 0)
    #expect { try inspect(path, "visible") } throws: { error in
      (error as? PluginRefusal)?.code == .writableByOthers
        && "\(error)".hasPrefix("m.task.toml: its library \(path): the file can be written")
    }
  }
}
