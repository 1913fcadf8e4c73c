// HostControl
