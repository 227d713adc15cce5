import type { IncomingMessage } from 'node:http';
import type { Limits } from '#server/platform/limits.ts';

/** How long a slow upload is borne before its pace is measured, and between two measurements; milliseconds. */
const measured = 10_000;

/**
 * Holds the sender of a body to its time: 30 seconds for the whole of it, or for an upload a pace of so many bytes per
 * second. Calls `tooSlow` once where it does not keep to it.
 */
export function keepPace(
  request: IncomingMessage,
  limits: Limits['http'],
  upload: boolean,
  tooSlow: (kind: 'request' | 'upload') => void,
): void {
  const hasBody =
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
  if (!hasBody) return;
  const done = (): void => clearInterval(timer);
  const { socket } = request;
  let seen = socket.bytesRead;
  const period = upload ? Math.min(measured, limits.requestMs) : limits.requestMs;
  const timer = setInterval(() => {
    if (request.complete) return done();
    const received = socket.bytesRead - seen;
    seen = socket.bytesRead;
    // While nobody reads it, the sender cannot go on: that is our pace, not its own.
    const waitsForUs = request.readableLength >= request.readableHighWaterMark;
    if (upload && (waitsForUs || received >= (limits.uploadBytesPerSecond * period) / 1_000)) return;
    done();
    tooSlow(upload ? 'upload' : 'request');
  }, period);
  timer.unref();
  request.once('close', done);
}
