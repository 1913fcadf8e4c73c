/// A large value that its copies share: a copy costs as much as one of a reference, and a change as much as a copy of the whole value.
@propertyWrapper
public struct Shared<Value: Sendable>: Sendable {
  @usableFromInline final class Box: Sendable {
    @usableFromInline let value: Value

    @inlinable init(_ value: Value) { self.value = value }
  }

  @usableFromInline var box: Box

  /// Creates one with a value.
  @inlinable public init(wrappedValue: Value) { box = Box(wrappedValue) }

  /// The value.
  @inlinable public var wrappedValue: Value {
    // Lends it: `get` would copy all of it to read one of its fields.
    _read { yield box.value }
    _modify {
      var value = box.value
      defer { box = Box(value) }
      yield &value
    }
  }
}

extension Shared: Equatable where Value: Equatable {
  /// Whether the values are equal.
  @inlinable public static func == (left: Self, right: Self) -> Bool { left.box === right.box || left.box.value == right.box.value }
}

extension Shared: Hashable where Value: Hashable {
  /// Hashes the value.
  @inlinable public func hash(into hasher: inout Hasher) { box.value.hash(into: &hasher) }
}
