/** Callbacks of a listener. They must not throw. */
export interface Listener {
  /** Receives a message of a committed transaction. The message may arrive twice. */
  heard(channel: string, payload: string): void;
  /** From now on, messages may be missed. Called as soon as the connection is lost. */
  lost(): void;
  /**
   * The connection works, for the first time or again. Later messages are received, but earlier ones may have been
   * missed.
   */
  back(): void;
}

/**
 * Wake-ups between the processes of one installation: hints that something was committed, never the data itself. A
 * silently lost connection is detected only within seconds, so a listener that must not miss anything also checks every
 * few seconds.
 */
export interface Wakes {
  /** Starts to listen. There is a connection only while there is a listener. */
  listen(channels: readonly string[], listener: Listener): Listening;
}

export interface Listening {
  /** Stops listening. If there is no other listener, resolves when the connection is closed. */
  close(): Promise<void>;
}
