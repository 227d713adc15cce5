/** Callbacks of a listener. None of these may throw. */
export interface Listener {
  /** A message of a committed transaction. It may arrive twice. */
  heard(channel: string, payload: string): void;
  /** From now on messages may be missed. Called immediately. */
  lost(): void;
  /** Listening, for the first time or again: later messages are received, earlier ones may have been missed. */
  back(): void;
}

/**
 * Wake-ups between the processes of one installation: hints that something was committed, never the data itself.
 * A silently lost connection is detected within seconds, not immediately: a listener that must be sure also looks
 * every few seconds too.
 */
export interface Wakes {
  /** Connected only while there is a listener. */
  listen(channels: readonly string[], listener: Listener): Listening;
}

export interface Listening {
  /** Stops listening; resolves when a connection without other listeners is closed. */
  close(): Promise<void>;
}
