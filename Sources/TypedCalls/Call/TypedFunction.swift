/// The address of a C function of any type.
public typealias TypedFunction = @convention(c) () -> Void
