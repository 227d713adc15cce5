import type { Source } from './connection.ts';
import type { LiveChange } from './topics.ts';

/** The first event of a stream, as tRPC sends it. */
interface Connected {
  /** A stream that receives nothing for this long is broken, because the portal sends pings. */
  reconnectAfterInactivityMs: number;
}

/** A message of the procedure `live.changes`. */
interface Message {
  json: { everything: boolean; changes: LiveChange[] };
}

/**
 * Opens the portal's stream of changes after the position `lastEventId`. Uses the browser's `EventSource`, but not its
 * retries: after a failure, the caller opens a new stream.
 */
export const openStream: Source['open'] = (lastEventId, on) => {
  const input = encodeURIComponent(JSON.stringify({ json: { lastEventId: lastEventId ?? null } }));
  const stream = new EventSource(`/api/trpc/live.changes?input=${input}`);
  let maxSilence = 0;
  let silence: ReturnType<typeof setTimeout> | undefined;
  const close = () => {
    clearTimeout(silence);
    stream.close();
  };
  const fail = () => {
    close();
    on.failed();
  };
  const heard = () => {
    clearTimeout(silence);
    silence = setTimeout(fail, maxSilence);
  };
  stream.addEventListener('connected', ({ data }: MessageEvent<string>) => {
    maxSilence = (JSON.parse(data) as Connected).reconnectAfterInactivityMs;
    heard();
    on.connected();
  });
  stream.addEventListener('ping', heard);
  stream.addEventListener('message', ({ data, lastEventId: id }) => {
    heard();
    const { json } = JSON.parse(data) as Message;
    on.received({ ...json, id });
  });
  for (const end of ['error', 'serialized-error', 'return']) stream.addEventListener(end, fail);
  return { close };
};
