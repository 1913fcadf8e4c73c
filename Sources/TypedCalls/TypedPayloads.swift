public import TaskModel

/// Turns payloads into the arguments of typed handlers, or says why they do not fit. Usable from any thread.
public struct TypedPayloads: Sendable {
  private let signatures: [TaskIdentifier: TypedSignature]

  /// - Parameter contracts: The contracts of all registered handlers.
  public init(_ contracts: [HandlerContract]) {
    signatures = Dictionary(
      contracts.compactMap { contract in
        contract.typed.flatMap { try? TypedSignature($0.signature) }.map { (contract.identifier, $0) }
      }
    ) { first, _ in first }
  }

  /// Whether any handler is typed.
  public var isEmpty: Bool { signatures.isEmpty }

  /// Why a payload does not fit an identifier's handler, naming the argument; nil if it fits or the handler is not typed.
  public func rejection(to payload: [UInt8], for identifier: TaskIdentifier) -> String? {
    guard let signature = signatures[identifier] else { return nil }
    do throws(TypedPayloadError) {
      _ = try TypedArguments(payload: payload, of: signature)
      return nil
    } catch { return error.description }
  }

  /// An order for the launcher, with packed arguments if the handler is typed.
  ///
  /// - Throws: Why the payload does not fit: it was submitted when the handler had another signature, or none.
  public func complete(_ order: RunOrder) throws(TypedPayloadError) -> RunOrder {
    guard let signature = signatures[order.contract.identifier] else { return order }
    var order = order
    order.arguments = try TypedArguments(payload: order.payload, of: signature).packed(for: signature)
    return order
  }
}
