import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Received } from './connection.ts';
import { openStream } from './open-stream.ts';

/** The browser's side of a stream, whose events the test sends. */
class Stream extends EventTarget {
  static newest: Stream;
  closed = false;
  readonly url: URL;

  constructor(address: string) {
    super();
    this.url = new URL(address, 'http://annex.test');
    Stream.newest = this;
  }

  close(): void {
    this.closed = true;
  }

  send(type: string, data = '', lastEventId = ''): void {
    this.dispatchEvent(Object.assign(new Event(type), { data, lastEventId }));
  }
}

function opened(lastEventId?: string) {
  const heard: unknown[] = [];
  const connection = openStream(lastEventId, {
    connected: () => heard.push('connected'),
    received: (message: Received) => heard.push(message),
    failed: () => heard.push('failed'),
  });
  return { heard, connection, stream: Stream.newest };
}

describe('openStream', () => {
  beforeEach(() => {
    vi.useFakeTimers();
    vi.stubGlobal('EventSource', Stream);
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  const connected = JSON.stringify({ reconnectAfterInactivityMs: 12_000 });

  it('requests the changes after a position, and passes each one on with its position', () => {
    const { heard, stream } = opened('7');
    expect(JSON.parse(stream.url.searchParams.get('input') ?? '')).toEqual({ json: { lastEventId: '7' } });
    stream.send('connected', connected);
    const message = { everything: false, changes: [{ topic: 'vm', key: 'a' }] };
    stream.send('message', JSON.stringify({ json: message }), '8');
    expect(heard).toEqual(['connected', { ...message, id: '8' }]);
  });

  it('fails if the portal sends nothing within the interval that it announced', () => {
    const { heard, stream } = opened();
    stream.send('connected', connected);
    vi.advanceTimersByTime(11_000);
    stream.send('ping');
    vi.advanceTimersByTime(11_999);
    expect(heard).toEqual(['connected']);
    vi.advanceTimersByTime(1);
    expect(heard).toEqual(['connected', 'failed']);
    expect(stream.closed).toBe(true);
  });

  it.each(['error', 'serialized-error', 'return'])(
    'fails once after the event %s, and does not retry automatically',
    (type) => {
      const { heard, stream } = opened();
      stream.send('connected', connected);
      stream.send(type);
      vi.advanceTimersByTime(60_000);
      expect(heard).toEqual(['connected', 'failed']);
      expect(stream.closed).toBe(true);
    },
  );

  it('reports nothing after it is closed', () => {
    const { heard, stream, connection } = opened();
    stream.send('connected', connected);
    connection.close();
    vi.advanceTimersByTime(60_000);
    expect(heard).toEqual(['connected']);
    expect(stream.closed).toBe(true);
  });
});
