public import TaskModel

/// Turns payloads into what typed handlers are called with, and says of those that do not fit why not. Any thread.
public struct TypedPayloads: Sendable {
  private let signatures: [TaskIdentifier: TypedSignature]

  /// - Parameter contracts: All that are registered.
  public init(_ contracts: [HandlerContract]) {
    signatures = Dictionary(
      contracts.compactMap { contract in
        contract.typed.flatMap { try? TypedSignature($0.signature) }.map { (contract.identifier, $0) }
      }
    ) { first, _ in first }
  }

  /// Whether any handler is typed.
  public var isEmpty: Bool { signatures.isEmpty }

  /// What is wrong with a payload for an identifier's handler, naming the argument; nil: nothing.
  public func rejection(to payload: [UInt8], for identifier: TaskIdentifier) -> String? {
    guard let signature = signatures[identifier] else { return nil }
    do throws(TypedPayloadError) {
      _ = try TypedArguments(payload: payload, of: signature)
      return nil
    } catch { return error.description }
  }

  /// An order as the launcher takes it: with arguments, where the handler is typed.
  ///
  /// - Throws: What is wrong with its payload: it was submitted when the handler had another signature, or none.
  public func complete(_ order: RunOrder) throws(TypedPayloadError) -> RunOrder {
    guard let signature = signatures[order.contract.identifier] else { return order }
    var order = order
    order.arguments = try TypedArguments(payload: order.payload, of: signature).packed(for: signature)
    return order
  }
}
