import Testing

@testable import Cleanup

@Suite("Glob") struct GlobTests {
  @Test(
    "matches",
    arguments: [
      ("*", "a"), ("*", ".hidden"), ("*.log", "x.log"), ("*.log", "deep/er/x.log"), ("**/*.tmp", "x.tmp"), ("**/*.tmp", "a/b/x.tmp"),
      ("a/*", "a/b"), ("a/**", "a/b/c"), ("a/**/z", "a/z"), ("a/**/z", "a/b/c/z"), ("**", "a/b"), ("**/**/x", "x"), ("?", "ä"),
      ("??", "€x"),
      ("[a-c]x", "bx"), ("[!a-c]x", "dx"), ("[!a]x", "äx"), ("[]]", "]"), ("[a-]", "-"), ("\\*", "*"), ("\\{a", "{a"), ("a*b*c", "aXbXbXc"),
      ("*a", "aaa"),
      ("**/cache/**", "x/cache/y/z"), ("core.[0-9]*", "core.123"),
    ])
  func matches(_ glob: String, _ path: String) throws {
    #expect(try Glob(glob).matches(path))
  }

  @Test(
    "does not match",
    arguments: [
      ("*.log", "x.log.gz"), ("a/*", "a/b/c"), ("a/*", "a"), ("a/**", "a"), ("a", "b"), ("?", "ab"), ("[a-c]", "d"),
      ("[!a]", "a"), ("\\*", "x"), ("a*b", "aXc"), ("**/x/y", "x/z/y"), ("a*", "b"), ("*.TMP", "x.tmp"),
    ])
  func mismatches(_ glob: String, _ path: String) throws {
    #expect(try !Glob(glob).matches(path))
  }

  @Test(
    "a pattern that other tools would read differently is refused",
    arguments: [
      ("", "empty"), ("/a", "begins with a slash"), ("a//b", "empty component"), ("a/", "empty component"), ("../x", "\"..\""),
      ("./x", "\".\""),
      ("a**b", "stand alone"), ("*.{a,b}", "brace"), ("[a", "opens no set"), ("a\\", "backslash"), ("[z-a]", "opens no set"),
      ("[ä]", "opens no set"),
    ])
  func refusals(_ glob: String, _ reason: String) {
    let error = #expect(throws: Refusal.self) { try Glob(glob) }
    #expect(error?.description.contains(reason) == true, "\(error?.description ?? "no error")")
  }

  @Test("bytes that are no UTF-8 count one each")
  func invalidBytes() throws {
    let glob = try Glob("a?b*")
    let position = [UInt8(ascii: "a"), 0xFF, UInt8(ascii: "b"), 0xC3].withUnsafeBytes { glob.advance(glob.start, $0) }
    #expect(glob.accepts(position))
  }

  @Test("a pattern made to backtrack ends in time proportional to its length times the name's")
  func noExplosion() throws {
    let glob = try Glob(String(repeating: "*a", count: 60) + "*b")
    #expect(!glob.matches(String(repeating: "a", count: 255)))
  }

  @Test("directories in which nothing can match are known")
  func pruning() throws {
    let glob = try Glob("a/b/*.log")
    let inside = Array("a".utf8).withUnsafeBytes { glob.advance(glob.start, $0) }
    let beside = Array("x".utf8).withUnsafeBytes { glob.advance(glob.start, $0) }
    #expect(glob.canMatchBelow(inside))
    #expect(!glob.canMatchBelow(beside))
  }
}
