/** What a listener is told. None of these may throw. */
export interface Listener {
  /** Somebody told this, and committed. The same may be heard twice. */
  heard(channel: string, payload: string): void;
  /** From now on messages may be missed: what hangs on them is no longer sure. Called at once. */
  lost(): void;
  /** Listening, for the first time or again: what is told from now on is heard; what was told before may be missed. */
  back(): void;
}

/**
 * Wake-ups between the processes of one installation: hints that something was committed, never the thing itself.
 * A connection that died without a word is found out within seconds, not at once: who must be sure looks by itself
 * every few seconds too.
 */
export interface Wakes {
  /** Nothing is connected before the first listener and after the last one is closed. */
  listen(channels: readonly string[], listener: Listener): Listening;
}

export interface Listening {
  /** Nothing is heard any more; resolves when a connection that nobody else needs is gone. */
  close(): Promise<void>;
}
