import Foundation
import TestSupport
import Testing

/// Redirects: where they lead, and what goes there.
@Suite("Redirects of transfers", .timeLimit(.minutes(10)))
struct TransferRedirectTests {
  private static func redirect(_ server: RangeServer, _ code: Int, to url: String) -> String {
    let to = url.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    return "\(server.address)/redirect?code=\(code)&to=\(to)"
  }

  private static let secrets = ["Authorization", "Cookie", "X-Key"]

  @Test("headers and token stay at their origin; a part of a download is asked for elsewhere too", arguments: [301, 302, 303, 307, 308])
  func secretsOfDownloads(_ code: Int) async throws {
    let other = try await RangeServer.start()
    try await TransferSurroundings.run { at in
      try at.host.directory.file("files/token", "abc.def")
      let headers = ["--header", "X-Key: 1", "--header", "Cookie: a=b", "--bearer-token-file", at.file("token"), "--header", "Accept: x/y"]
      for (name, server) in [("near", at.server), ("far", other)] {
        let url = Self.redirect(at.server, code, to: "\(server.address)/\(name)?size=5000&cut=1000")
        let result = try await at.host.cli(["transfers", "submit", url, "--to", at.file(name), "--wait"] + headers)
        #expect(result.status == 0, "\(name): \(result)")
        try await at.expectContent(name, of: "/\(name)?size=5000")
      }
      let near = try await at.server.requests("near").filter { $0.headers["Accept"] != nil }
      let far = try await other.requests("far")
      #expect(near.map { $0.headers["Range"] } == [nil, "bytes=1000-"] && far.map { $0.headers["Range"] } == [nil, "bytes=1000-"])
      for secret in Self.secrets {
        #expect(near.allSatisfy { $0.headers[secret] != nil }, "\(secret)")
        #expect(far.allSatisfy { $0.headers[secret] == nil }, "\(secret)")
      }
      #expect(far.allSatisfy { $0.headers["Accept"] == "x/y" })
    }
    await other.stop()
  }

  @Test(
    "an upload is sent again to where 307 and 308, or 301 and 302 for PUT, lead; after 303 the answer is fetched; a POST is not made a GET",
    arguments: ["PUT", "POST"])
  func uploads(_ method: String) async throws {
    let other = try await RangeServer.start()
    try await TransferSurroundings.run { at in
      try at.host.directory.file("files/report", "the report")
      for code in [301, 302, 303, 307, 308] {
        let url = Self.redirect(at.server, code, to: "\(other.address)/\(code)?size=7")
        let result = try await at.transfer("--from", at.file("report"), url, "--method", method, "--header", "X-Key: 1")
        let requests = try await other.requests("\(code)")
        #expect(requests.allSatisfy { $0.headers["X-Key"] == nil })
        if code == 303 {
          #expect(result.status == 0 && requests.map(\.method) == ["GET"], "\(code): \(result)")
        } else if method == "POST", code < 303 {
          #expect(result.status == 1 && result.output.contains("307 or 308") && requests.isEmpty, "\(code): \(result)")
        } else {
          #expect(result.status == 0 && requests.map(\.method) == [method] && requests.first?.body == 10, "\(code): \(result)")
        }
      }
    }
    await other.stop()
  }

  @Test("a redirect that leads nowhere, to itself or away from HTTP fails for good")
  func bad() async throws {
    try await TransferSurroundings.run { at in
      let cases = [
        ("\(at.server.address)/loop", "redirects again and again"),
        (Self.redirect(at.server, 302, to: "file:///etc/passwd"), "redirects"),
        (Self.redirect(at.server, 302, to: "http://user:word@127.0.0.1/"), "redirects"),
        (at.server.answering("nowhere", "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n"), "the server answered 302"),
        (at.server.answering("two", "HTTP/1.1 302 Found\r\nLocation: /a\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n"), "redirects"),
      ]
      for (url, words) in cases {
        let result = try await at.transfer(url, "--to", at.file("a"))
        #expect(result.status == 1 && result.output.contains(words), "\(url): \(result)")
      }
      #expect(try at.names() == [])
    }
  }

  @Test("ten redirects are followed, relative ones too")
  func relative() async throws {
    try await TransferSurroundings.run { at in
      let nested = (0..<10).reduce("/a?size=50") { to, _ in
        "/redirect?to=" + (to.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
      }
      let result = try await at.transfer(at.server.address + nested, "--to", at.file("a"))
      #expect(result.status == 0, "\(result)")
      try await at.expectContent("a", of: "/a?size=50")
    }
  }
}
