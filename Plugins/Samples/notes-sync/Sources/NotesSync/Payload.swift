/// What a request asks for, as JSON:
///
/// - `{}` or nothing: look at every note;
/// - `{"changed": ["shopping.txt"]}`: these have changed, copy them soon;
/// - `{"drain": true}`: copy what has changed; the plugin submits this one to itself.
struct Payload: Codable {
  var changed: [String]?
  var drain: Bool?
}
