import type { IncomingMessage } from 'node:http';
import type { Limits } from '#server/platform/limits.ts';

/** Milliseconds over which the rate of an upload is measured. */
const measured = 10_000;

/**
 * Limits the time for receiving a body to `requestMs` or, for an upload, requires a minimum rate. Calls `tooSlow` once
 * if the body arrives too slowly.
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
    // While this process does not read the body, the sender cannot continue, so this time does not count.
    const waitsForUs = request.readableLength >= request.readableHighWaterMark;
    if (upload && (waitsForUs || received >= (limits.uploadBytesPerSecond * period) / 1_000)) return;
    done();
    tooSlow(upload ? 'upload' : 'request');
  }, period);
  timer.unref();
  request.once('close', done);
}
