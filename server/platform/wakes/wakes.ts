/** Callbacks of a listener. They must not throw. */
export interface Listener {
  /** Called with each message of a committed transaction, possibly twice. */
  heard(channel: string, payload: string): void;
  /** Called when the connection is found to be lost. Until `back` is called, messages are missed. */
  lost(): void;
  /** Called when the connection works, for the first time or again. Earlier messages may have been missed. */
  back(): void;
}

/**
 * Wake-ups between the processes of an installation: hints that something was committed, but not the data itself. A
 * silently lost connection is detected only after some seconds, so a listener that must not miss anything also checks
 * every few seconds.
 */
export interface Wakes {
  /** Starts to listen. The connection exists only while there are listeners. */
  listen(channels: readonly string[], listener: Listener): Listening;
}

export interface Listening {
  /** Stops listening. For the last listener, resolves once the connection is closed. */
  close(): Promise<void>;
}
