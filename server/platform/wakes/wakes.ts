/** Callbacks of a listener. They must not throw. */
export interface Listener {
  /** A message of a committed transaction. It may arrive twice. */
  heard(channel: string, payload: string): void;
  /** From now on, messages may be missed. Called immediately. */
  lost(): void;
  /**
   * Listening works, for the first time or again: later messages are received, but earlier ones may have been missed.
   */
  back(): void;
}

/**
 * Wake-ups between the processes of one installation: hints that something was committed, never the data itself. A
 * silently lost connection is detected only within seconds, so a listener that must not miss anything also checks every
 * few seconds.
 */
export interface Wakes {
  /** Connected only while there is a listener. */
  listen(channels: readonly string[], listener: Listener): Listening;
}

export interface Listening {
  /** Stops listening. Resolves when the connection is closed, if it has no other listeners. */
  close(): Promise<void>;
}
