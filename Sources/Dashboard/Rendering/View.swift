import Mustache
import StrictText
import TaskModel

/// The values of a template, by name. Texts come with their control characters escaped; the template escapes what HTML needs, and goes by
/// `Character`.
///
/// A name that a view lacks is absent, and never that of a view around it.
struct View: MustacheParent, ExpressibleByDictionaryLiteral {
  private var values: [String: Any] = [:]

  init(dictionaryLiteral elements: (String, (any ViewValue)?)...) {
    for (name, value) in elements { self[name] = value }
  }

  /// Sets a value; nil, an empty text and an empty list are absent.
  subscript(name: String) -> (any ViewValue)? {
    get { nil }
    set { values[name] = newValue?.templateValue }
  }

  func child(named name: String) -> Any? { values[name] ?? Absence() }

  /// Renders nothing, and counts as false.
  private struct Absence: MustacheCustomRenderable {
    var renderText: String { "" }
    var isNull: Bool { true }
  }
}

/// What a ``View`` can hold.
protocol ViewValue {
  /// nil if there is nothing to show.
  var templateValue: Any? { get }
}

extension String: ViewValue {
  var templateValue: Any? { isEmpty ? nil : escapingControlCharacters.isolating("<>&\"'") }
}

extension Int: ViewValue {
  var templateValue: Any? { self }
}

extension Bool: ViewValue {
  var templateValue: Any? { self }
}

extension View: ViewValue {
  var templateValue: Any? { self }
}

extension Array: ViewValue where Element: ViewValue {
  var templateValue: Any? { isEmpty ? nil : compactMap(\.templateValue) }
}

/// A text of several lines.
struct Lines: ViewValue {
  let text: String

  init(_ text: String) { self.text = text }

  var templateValue: Any? { text.isEmpty ? nil : text.escapingAllButLines }
}

/// HTML that templates have made.
struct Markup: ViewValue {
  let text: String

  var templateValue: Any? { text }
}
