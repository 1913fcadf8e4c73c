public import HostControl
public import TaskHost

/// The control server asks the host itself: its calls are the port's.
extension Host: ControlledHost {}
