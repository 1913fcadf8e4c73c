/* Nothing to import: the note is data for the host. */
