/// Where a redirect leads, and what goes there.
///
/// Everything that a request says stays at its origin (scheme, host and port): elsewhere, only harmless headers are sent, as
/// ``TransferRequest/isHarmless(_:)`` says, and the others do not come back after that.
enum Redirect {
  /// Whether an answer is a redirect that is followed: a status that is one, with a place to go to.
  static func isOne(_ head: TransferHead) -> Bool {
    [301, 302, 303, 307, 308].contains(head.status) && !head.values("location").isEmpty
  }

  /// The request that follows.
  ///
  /// - Throws: ``TransferFailure/badRedirect(_:)`` if the place is not a valid address, is less safe, or if following would lose the body.
  static func follow(_ head: TransferHead, of request: TransferRequest) throws(TransferFailure) -> TransferRequest {
    let places = Set(head.values("location"))
    guard places.count == 1, let place = places.first else {
      throw .badRedirect("the server redirects to several addresses")
    }
    guard let old = TransferURL(request.url), let new = old.resolve(place) else {
      throw .badRedirect("the server redirects to an address that is none of HTTP, or has a user")
    }
    guard new.scheme == "https" || old.scheme == "http" else { throw .badRedirect("the server redirects from https to http") }
    var next = request
    next.url = new.text
    if new.origin != old.origin { next.headers.removeAll { !TransferRequest.isHarmless($0.name) } }
    guard request.method != "GET", request.method != "HEAD" else { return next }
    switch head.status {
    case 303:
      // The server has taken the body, and shows elsewhere what has become of it (RFC 9110 §15.4.4).
      next.method = "GET"
      (next.body, next.upload) = (nil, nil)
      next.headers.removeAll { $0.name.lowercased() == "content-type" || $0.name.lowercased().hasPrefix("upload-") }
    case 301 where request.method == "POST", 302 where request.method == "POST":
      // Browsers make it a GET, which would lose the body; other clients do not.
      throw .badRedirect("the server redirects a POST with \(head.status), which does not say what becomes of its body; 307 or 308 would")
    default: break
    }
    return next
  }
}
