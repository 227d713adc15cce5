import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LiveConnection, type Received, type Source } from './connection.ts';
import type { LiveChange } from './topics.ts';

type Handlers = Parameters<Source['open']>[1];

/** Simulates a portal whose connections the test opens and breaks. */
function portal() {
  const opened: { lastEventId: string | undefined; on: Handlers; closed: boolean }[] = [];
  const state = { isSignedOut: false };
  const source: Source = {
    open(lastEventId, on) {
      const connection = { lastEventId, on, closed: false };
      opened.push(connection);
      return {
        close() {
          connection.closed = true;
        },
      };
    },
    isSignedOut: async () => state.isSignedOut,
  };
  const newest = () => opened[opened.length - 1]!;
  return { source, opened, newest, state };
}

const vm = (key: string): LiveChange => ({ topic: 'vm', key });
const hint = (id: string, ...changes: LiveChange[]): Received => ({ id, everything: false, changes });

describe('LiveConnection', () => {
  beforeEach(() => {
    vi.useFakeTimers();
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  function started() {
    const far = portal();
    const invalidated: (readonly LiveChange[] | 'reset')[] = [];
    const connection = new LiveConnection(far.source, (changes) => invalidated.push(changes));
    const stop = connection.start();
    return { ...far, connection, invalidated, stop };
  }

  it('combines a burst of hints into one load within a second', () => {
    const { newest, invalidated, connection } = started();
    newest().on.connected();
    newest().on.received(hint('1', vm('a')));
    newest().on.received(hint('2', vm('b')));
    expect(invalidated).toEqual([]);
    vi.advanceTimersByTime(999);
    expect(invalidated).toEqual([[vm('a'), vm('b')]]);
    expect(connection.getState().phase).toBe('live');
  });

  it('reports when the page became stale and when it next retries, with growing pauses', () => {
    const { newest, connection, opened } = started();
    newest().on.connected();
    const brokeAt = Date.now();
    newest().on.failed();
    expect(connection.getState()).toEqual({ phase: 'lost', since: brokeAt, retryAt: brokeAt + 1000 });
    vi.advanceTimersByTime(1000);
    expect(opened).toHaveLength(2);
    expect(connection.getState()).toEqual({ phase: 'lost', since: brokeAt, retryAt: undefined });
    newest().on.failed();
    expect(connection.getState()).toMatchObject({ since: brokeAt, retryAt: Date.now() + 2000 });
  });

  it('resumes after the last change it saw, and counts what it missed', () => {
    const { newest, connection } = started();
    newest().on.connected();
    newest().on.received(hint('7'));
    newest().on.failed();
    vi.advanceTimersByTime(1000);
    expect(newest().lastEventId).toBe('7');
    newest().on.connected();
    newest().on.received(hint('9', vm('a'), vm('b')));
    vi.advanceTimersByTime(800);
    expect(connection.getState()).toEqual({ phase: 'back', caughtUp: 2 });
    vi.advanceTimersByTime(5000);
    expect(connection.getState().phase).toBe('live');
  });

  it('loads everything again when too much was missed', () => {
    const { newest, connection, invalidated } = started();
    newest().on.connected();
    newest().on.received(hint('1'));
    newest().on.failed();
    vi.advanceTimersByTime(1000);
    newest().on.connected();
    newest().on.received({ id: 'x.0', everything: true, changes: [] });
    vi.advanceTimersByTime(800);
    expect(invalidated).toEqual(['reset']);
    expect(connection.getState()).toEqual({ phase: 'back', caughtUp: undefined });
  });

  it('retries immediately on request, and only while the connection is lost', () => {
    const { connection, newest, opened } = started();
    newest().on.connected();
    connection.retryNow();
    expect(opened).toHaveLength(1);
    newest().on.failed();
    connection.retryNow();
    expect(opened).toHaveLength(2);
    vi.advanceTimersByTime(60_000);
    expect(opened).toHaveLength(2);
  });

  it('stops retrying when the session has ended', async () => {
    const { connection, newest, opened, state } = started();
    newest().on.connected();
    state.isSignedOut = true;
    newest().on.failed();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(connection.getState().phase).toBe('signed-out');
    expect(opened).toHaveLength(1);
  });

  it('ignores a connection that it gave up', () => {
    const { connection, newest, opened } = started();
    newest().on.connected();
    newest().on.failed();
    vi.advanceTimersByTime(1000);
    newest().on.connected();
    opened[0]!.on.failed();
    vi.advanceTimersByTime(800);
    expect(connection.getState().phase).toBe('back');
    expect(opened[0]!.closed).toBe(true);
  });

  it('closes for good', () => {
    const { newest, opened, stop } = started();
    newest().on.failed();
    stop();
    vi.advanceTimersByTime(60_000);
    expect(opened).toHaveLength(1);
  });
});
